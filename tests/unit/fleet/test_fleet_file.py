"""The fleet file: its meaning, and all its errors at once."""

from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.base.errors import SettingsError, UsageError
from ralph_tui.fleet.config import read_fleet_file
from ralph_tui.fleet.plan import Plan
from tests.rows import each_row

NIGHT = """\
[fleet]
name = "night"
agents = 4
budget_usd = 40.0
base = "main"
setup = "uv sync"
copy = [".env", "config/local.json"]
ports = 10
start_every = "15s"
lease = "10m"
command = "pytest -q"
model = "sonnet"

[account.work]
agents = 3

[[objective]]
text = "Fix the failing tests"
best_of = 3
choice = "all"
budget_usd = 6
account = "work"

[[objective]]
issue = 42
agent = "claude"
max_iterations = 12
timeout = "2h"
after = [1]

[[objective]]
name = "docs"
text = '''
Write the guide,
and its pictures'''
criterion = "the guide is complete"
agent_command = "my-agent --fast"
permissions = "skip"
after = ["docs-first", 2]

[[objective]]
name = "docs-first"
text = "Collect what is missing"
best_of = 2
"""


def plan(tmp_path: Path, text: str) -> Plan:
    path = tmp_path / "night.toml"
    path.write_text(dedent(text))
    return read_fleet_file(path)


def wrong(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(SettingsError) as error:
        plan(tmp_path, text)
    assert error.value.exit_code == 2
    assert not any("\0" in each for each in error.value.sentences)
    return [each.replace(f"{tmp_path}/", "") for each in error.value.sentences]


def test_a_file_is_a_plan(tmp_path: Path) -> None:
    night = plan(tmp_path, NIGHT)
    assert (night.name, night.agents, night.budget_usd, night.base) == ("night", 4, 40.0, "main")
    assert (night.setup, night.copied) == ("uv sync", (".env", "config/local.json"))
    assert (night.ports, night.start_every_s, night.lease_s) == (10, 15.0, 600.0)
    assert (night.isolation, night.accounts) == ("clone", {"work": 3})
    ids = ["1a", "1b", "1c", "2", "docs", "docs-first-a", "docs-first-b"]
    assert [loop.id for loop in night.loops] == ids
    first, issue, docs = night.loops[0], night.loops[3], night.loops[4]
    assert (first.tries_at, first.choice, first.account, first.command) == (
        "1", "all", "work", "pytest -q",
    )  # fmt: skip
    assert first.settings == {"agent.model": "sonnet", "limits.budget_usd": "6"}
    assert first.budget_usd == 6.0
    assert (issue.issue, issue.objective, issue.after, issue.tries_at) == (42, "", ("1",), "")
    assert issue.settings == {
        "agent.name": "claude", "agent.model": "sonnet", "limits.max_iterations": "12",
        "limits.session_timeout_s": "2h",
    }  # fmt: skip
    assert (docs.command, docs.criterion) == (None, "the guide is complete")
    assert docs.after == ("docs-first", "2")
    assert docs.settings["agent.name"] == "command"
    assert docs.objective == "Write the guide,\nand its pictures"


def test_what_is_not_said_is_as_it_always_is(tmp_path: Path) -> None:
    result = plan(tmp_path, '[[objective]]\ntext = "a"\ncommand = "true"\n')
    assert result == Plan(loops=result.loops)
    assert [loop.id for loop in result.loops] == ["1"]


def test_what_runs_are_told_is_what_a_run_takes(tmp_path: Path) -> None:
    """The layer that reads a command line also accepts each setting of a loop."""
    from ralph_tui.config.sources import problem_of

    for loop in plan(tmp_path, NIGHT).loops:
        for name, text in loop.settings.items():
            assert problem_of(name, text) == ""


def test_all_that_is_wrong_is_told_at_once_in_the_order_of_the_lines(tmp_path: Path) -> None:
    said = wrong(
        tmp_path,
        """\
        colour = "red"
        [fleet]
        agents = -1
        lease = "soon"
        isolation = "copy"
        copy = ["../secrets"]
        budget = 3
        [account.work]
        agents = "two"
        [[objective]]
        text = "a"
        command = "true"
        criterion = "too"
        max_iterations = 5000
        account = "wrok"
        [[objective]]
        comand = "true"
        best_of = 99
        after = [7, "docs"]
        [[objective]]
        name = "7up"
        text = "c"
        command = 3
        after = [4]
        [[objective]]
        text = "d"
        permissions = "all"
        command = "true"
        after = [3]
        """,
    )
    assert said == [
        "'colour' (night.toml:1) is not known in a fleet's file: choose from fleet, account, "
        "objective",
        "fleet.agents (night.toml:3) must be at least 0, not -1",
        "fleet.lease (night.toml:4) must be seconds or a duration such as 90s, 30m or 8h, "
        "not 'soon'",
        "fleet.isolation (night.toml:5) must be 'clone' or 'worktree', not 'copy'",
        "fleet.copy (night.toml:6) must name paths within the repository, not '../secrets'",
        "'budget' (night.toml:7) is not known in [fleet]: did you mean budget_usd?",
        "account.work.agents (night.toml:9) must be a whole number, not 'two'",
        "objective.max_iterations (night.toml:14) must be at most 1000, not 5000",
        "account 'wrok' (night.toml:15) is not in the file: did you mean work?",
        "the objective (night.toml:16) is empty: add text or an issue",
        "the objective (night.toml:16) has no completion command; add a command, or "
        "a criterion in words",
        "'comand' (night.toml:17) is not known in [[objective]]: did you mean command?",
        "objective.best_of (night.toml:18) must be at most 26, not 99",
        "after (night.toml:19) names 7, not an objective: choose from 1, 2, 4",
        "after (night.toml:19) names 'docs', not an objective: choose from 1, 2, 4",
        "objective.name (night.toml:21) must be a letter and then up to 39 letters, digits, "
        "- and _, not '7up'",
        "objective.command (night.toml:23) must be text, not 3",
        "objective 3 waits for itself (after, night.toml:24): leave that out",
        "objective.permissions (night.toml:27) must be 'edits', 'ask' or 'skip', not 'all'",
        "objective 4 waits for itself (after, night.toml:29): leave that out",
    ]


def test_what_is_wrong_for_all_is_not_said_of_each(tmp_path: Path) -> None:
    said = wrong(
        tmp_path,
        """\
        [fleet]
        command = ""
        [[objective]]
        text = "a"
        [[objective]]
        text = "b"
        """,
    )
    (only,) = said
    assert only.startswith("fleet.command (night.toml:2) ")


@each_row(
    ("text", "says"),
    [
        ("", "night.toml has no [[objective]]: add one with a text and a command"),
        ('[objective]\ntext = "a"\n', "objective (night.toml:1) must be written as [[objective]], "
         "once per objective"),
        ("objective = 3\n", "objective (night.toml:1) must be a table: write [[objective]]"),
        ('fleet = "night"\n[[objective]]\ntext="a"\ncommand="b"\n',
         "fleet (night.toml:1) must be a table: write [fleet]"),
        ('[account]\nwork = 3\n[[objective]]\ntext="a"\ncommand="b"\n',
         "account.work (night.toml:2) must be a table: write [account.NAME] with agents = 1"),
        ('account = 1\n[[objective]]\ntext="a"\ncommand="b"\n',
         "account (night.toml:1) must be a table: write [account.NAME]"),
        ('[[objective]]\ntext="a"\ncommand="b"\n"{}\\u0001" = 1\n',
         "'{}\\x01' (night.toml:4) is not known in [[objective]]: choose from"),
        ('[[objective]]\nname="a"\ntext="a"\ncommand="b"\n[[objective]]\nname="a"\ntext="a"\n'
         'command="b"\n', "two objectives have the name 'a' (night.toml:6): rename one"),
        ('[[objective]]\nname="x"\ntext="a"\ncommand="b"\nbest_of=2\n[[objective]]\nname="X-a"\n'
         'text="a"\ncommand="b"\n', "two loops would be called 'X-a' (night.toml:7): give one "
         "objective another name"),
        ('[[objective]]\ntext="a"\nissue=4\ncommand="b"\n',
         "the objective (night.toml:1) has both text and an issue: leave one out"),
        ('[[objective]]\ntext="  "\ncommand="b"\n',
         "objective.text (night.toml:2) must not be empty, not '  '"),
        ('[fleet]\naccount="x"\n[[objective]]\ntext="a"\ncommand="b"\n',
         "account 'x' (night.toml:2) is not in the file: add [account.x] with agents = 1"),
    ],
)  # fmt: skip
def test_one_thing_that_is_wrong_is_one_sentence(tmp_path: Path, text: str, says: str) -> None:
    said = wrong(tmp_path, text)
    assert len(said) == 1, said
    assert said[0].startswith(says)


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no file .*night.toml: create it"):
        read_fleet_file(tmp_path / "night.toml")
    with pytest.raises(UsageError, match=r"night.toml:2 is not valid TOML"):
        plan(tmp_path, '[fleet]\nname = "night\n')
    with pytest.raises(UsageError, match="cannot be read"):
        read_fleet_file(tmp_path)


def test_an_account_takes_one_loop_at_once_where_it_does_not_say(tmp_path: Path) -> None:
    result = plan(
        tmp_path, '[account.work]\n[[objective]]\ntext="a"\ncommand="b"\naccount="work"\n'
    )
    assert result.accounts == {"work": 1}


written = st.text(st.characters(codec="utf-8"), max_size=8)
values = st.one_of(
    st.integers(-3, 2000), st.booleans(), st.floats(allow_nan=False), written,
    st.lists(st.integers(0, 5), max_size=3), st.lists(written, max_size=2),
)  # fmt: skip
keys = st.sampled_from(
    ("text", "command", "issue", "best_of", "after", "name", "account", "copy", "agents", "lease",
     "budget_usd", "timeout", "max_iterations", "permissions", "model", "nonsense", "choice")
)  # fmt: skip


def toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return (
            '"' + "".join(f"\\U{ord(c):08X}" for c in value if not 0xD800 <= ord(c) < 0xE000) + '"'
        )
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    return repr(value)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(("[fleet]", "[account.work]", "[[objective]]")),
            st.dictionaries(keys, values, max_size=4),
        ),
        max_size=5,
    )
)
def test_any_file_is_a_plan_or_sentences(
    tmp_path_factory: pytest.TempPathFactory, tables: list[tuple[str, dict[str, object]]]
) -> None:
    path = tmp_path_factory.mktemp("file") / "night.toml"
    lines = []
    for header, table in tables:
        lines += [header, *(f"{key} = {toml(value)}" for key, value in table.items())]
    path.write_text("\n".join(lines))
    said: list[str] = []
    result = Plan()
    try:
        result = read_fleet_file(path)
    except UsageError as error:
        said = list(error.sentences) or [str(error)]
    if said and said[-1].endswith("more settings are not valid; correct these first"):
        said.pop()
    assert all(str(path) in each and "\n" not in each and "\0" not in each for each in said)
    assert len({loop.id for loop in result.loops}) == len(result.loops)
    assert said or result.loops
    assert all(loop.objective or loop.issue for loop in result.loops)
    assert all(loop.command or loop.criterion for loop in result.loops)


AGENTS = {"claude": False, "codex": False, "acp": True, "command": True}


def test_agent_and_agent_command_fit_each_other(tmp_path: Path) -> None:
    def agents(text: str) -> list[tuple[str | None, str | None]]:
        path = tmp_path / "night.toml"
        path.write_text(text)
        loops = read_fleet_file(path, AGENTS).loops
        return [(one.settings.get("agent.name"), one.settings.get("agent.command"))
                for one in loops]  # fmt: skip

    rest = 'text = "a"\ncommand = "true"\n'
    own = f'[[objective]]\nagent_command = "mine"\n{rest}'
    named = f'[[objective]]\nagent = "codex"\n{rest}'
    neither = f"[[objective]]\n{rest}"
    assert agents(f'[fleet]\nagent = "claude"\n{own}{named}{neither}') == [
        ("command", "mine"), ("codex", None), ("claude", None),
    ]  # fmt: skip
    assert agents(f'[fleet]\nagent = "acp"\nagent_command = "all"\n{own}{named}{neither}') == [
        ("acp", "mine"), ("codex", None), ("acp", "all"),
    ]  # fmt: skip
    with pytest.raises(SettingsError) as error:
        agents(f'[[objective]]\nagent = "claude"\nagent_command = "mine"\n{rest}')
    (said,) = error.value.sentences
    assert "night.toml:3) is only for the agents acp and command, but agent is claude" in said


def test_an_agent_and_a_base_that_are_none_are_told_with_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "night.toml"
    path.write_text(
        '[fleet]\nbase = "nosuchref"\nagent = "claude"\n[[objective]]\ntext = "a"\n'
        'agent = "claud"\n'
    )
    with pytest.raises(SettingsError) as error:
        read_fleet_file(path, AGENTS, lambda base: base == "main")
    assert [each.replace(f"{tmp_path}/", "") for each in error.value.sentences] == [
        "fleet.base (night.toml:2) is 'nosuchref', which is not a commit here: use a branch or a "
        "commit",
        "the objective (night.toml:4) has no completion command; add a command, or "
        "a criterion in words",
        "agent 'claud' (night.toml:6) is not known: did you mean claude?",
    ]


def test_what_is_wrong_is_told_of_all_objectives(tmp_path: Path) -> None:
    path = tmp_path / "night.toml"
    path.write_text('[fleet]\ncommand = "true"\n' + '[[objective]]\ntext = "x"\ncolour = 1\n' * 60)
    with pytest.raises(SettingsError) as caught:
        read_fleet_file(path)
    lines = [
        int(reported.split(f"{path}:")[1].split(")")[0]) for reported in caught.value.sentences
    ]
    assert lines == [*range(5, 185, 3)]


def test_no_objective_has_the_name_of_all_loops(tmp_path: Path) -> None:
    path = tmp_path / "night.toml"
    path.write_text('[[objective]]\nname = "all"\ntext = "x"\ncommand = "true"\n')
    with pytest.raises(
        SettingsError, match=r"night.toml:2\) cannot be 'all': in commands it means all"
    ):
        read_fleet_file(path)


@each_row(
    ("line", "choice"),
    [
        ("", "all"),
        ('choice = "best"', "all"),
        ('choice = "all"', "all"),
        ('choice = "first"', "first"),
    ],
)
def test_best_of_takes_the_best_unless_the_file_says_first(
    tmp_path: Path, line: str, choice: str
) -> None:
    file = tmp_path / "night.toml"
    file.write_text(f'[[objective]]\ntext = "a"\ncommand = "b"\nbest_of = 2\n{line}\n')
    assert {loop.choice for loop in read_fleet_file(file).loops} == {choice}
