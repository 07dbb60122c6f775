"""The form's content as a command line that the command accepts as typed."""

import shlex
from collections.abc import Mapping
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.cli import build_parser
from ralph_tui.cli.options import load_settings
from ralph_tui.config.sources import problem_of
from ralph_tui.ports.new_runs import Draft, Surroundings
from ralph_tui.tui.home.form_line import arguments, form_errors, shell_line
from tests.rows import each_row
from tests.tui.new_runs import GOOD

DONE = Draft("Fix it", command="pytest -q")
NOBODY = replace(GOOD, chosen="")
ABSENT = replace(GOOD, agents=(replace(GOOD.agents[0], ready=False), GOOD.agents[1]))


def said(draft: Draft, place: Surroundings = GOOD) -> Mapping[str, str]:
    return form_errors(draft, place, problem_of)


@each_row(
    ("draft", "words"),
    [
        (DONE, ["run", "Fix it", "-c", "pytest -q"]),
        (replace(DONE, objective="Fix\nit\n"), ["run", "Fix\nit", "-c", "pytest -q"]),
        (replace(DONE, by="criterion", criterion="reads well"),
         ["run", "Fix it", "--criterion", "reads well"]),
        (replace(DONE, objective="--fix", command="-x"), ["run", "--command=-x", "--", "--fix"]),
        (replace(DONE, settings={"limits.budget_usd": "", "limits.max_iterations": "3"}),
         ["run", "Fix it", "-c", "pytest -q", "--max-iterations", "3", "--budget", ""]),
        (replace(DONE, settings={"agent.command": "x"}), ["run", "Fix it", "-c", "pytest -q"]),
        (replace(DONE, settings={"agent.name": "acp", "agent.command": "x --acp"}),
         ["run", "Fix it", "-c", "pytest -q", "--agent", "acp", "--agent-command", "x --acp"]),
        (replace(DONE, settings={"agent.name": "command", "agent.command": "x -y"}),
         ["run", "Fix it", "-c", "pytest -q", "--agent-command", "x -y"]),
        (replace(DONE, settings={"agent.name": "demo"}), ["demo"]),
        (Draft(), ["run", "", "-c", ""]),
    ],
)  # fmt: skip
def test_what_starting_types(draft: Draft, words: list[str]) -> None:
    assert arguments(draft, GOOD) == words
    assert shlex.split(shell_line(words)) == ["ralph-tui", *words]


words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40).filter(
    lambda text: text.strip()
)


@given(words, words, words, st.sampled_from(["command", "criterion"]))
def test_the_command_line_says_what_the_form_says(
    objective: str, done: str, program: str, by: str
) -> None:
    draft = Draft(
        objective,
        "criterion" if by == "criterion" else "command",
        done,
        done,
        {"agent.name": "command", "agent.command": program, "limits.max_iterations": "7"},
    )
    parser, _ = build_parser(("run",))
    args, extras = parser.parse_known_args(shlex.split(shell_line(arguments(draft, GOOD)))[1:])
    assert not extras
    assert args.objective == objective.strip()
    assert (args.command if by == "command" else args.criterion) == done.strip()
    settings = load_settings(args, None).settings
    assert settings.agent.command == program.strip()
    assert settings.limits.max_iterations == 7


def test_all_that_is_wrong_is_said_at_once() -> None:
    draft = Draft(
        settings={
            "agent.name": "command",
            "limits.max_iterations": "0",
            "limits.budget_usd": "much",
            "limits.session_timeout_s": "1 week",
        }
    )
    wrong = said(draft)
    assert set(wrong) == {
        "objective", "command", "agent.command", "limits.max_iterations", "limits.budget_usd",
        "limits.session_timeout_s",
    }  # fmt: skip
    assert "must be at least 1" in wrong["limits.max_iterations"]
    assert "must be a number" in wrong["limits.budget_usd"]
    assert "90s, 30m or 8h" in wrong["limits.session_timeout_s"]
    assert all("\n" not in sentence for sentence in wrong.values())


def test_only_what_counts_has_to_be_right() -> None:
    assert not said(DONE)
    assert set(said(replace(DONE, by="criterion"))) == {"criterion"}
    assert not said(replace(DONE, by="criterion", command="", criterion="reads well"))
    assert not said(Draft(settings={"agent.name": "demo", "limits.max_iterations": "0"}))
    assert set(said(DONE, NOBODY)) == {"agent.name"}
    assert set(said(DONE, ABSENT)) == {"agent.name"}
    command = {"agent.name": "command", "agent.command": "x"}
    assert not said(replace(DONE, settings=command), ABSENT)
