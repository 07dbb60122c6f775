"""All settings errors at once: each with its place, line and suggestion."""

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.base.errors import MAX_SENTENCES, SettingsError
from ralph_tui.config.files import lines_of, user_config_file
from ralph_tui.config.sources import examine, load
from tests.e2e.cli import here


@pytest.fixture
def user_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    path = user_config_file()
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def repository(tmp_path: Path, user_file: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    return root


EVERY_SECTION = """\
progres = "tests"
[agent]
modell = "x"
silence_s = "soon"
[permissions]
mode = "all"
allow = 3
[limits]
max_iterations = "ten"
budget_usd = -1
[gate]
timeout = 3
[control]
window_size = 2.5
decay = 3
[intelligence]
enabled = "yes"
[oversight]
redirect_timeout_s = []
[context]
state_file = "../elsewhere"
[checkpoints]
interval_s = 1
[memory]
enabled = 1
[outreach]
tracker = "gitlab"
webhook = "no address"
[ui]
on_hangup = "quit"
[colours]
back = "black"
"""


def test_every_error_of_a_file_is_told_with_its_line(user_file: Path) -> None:
    user_file.write_text(EVERY_SECTION)
    with pytest.raises(SettingsError) as caught:
        load(None, {}, {})
    reported = caught.value.sentences
    wrong = [
        (number, line.partition(" =")[0])
        for number, line in enumerate(EVERY_SECTION.splitlines(), 1)
        if " = " in line and not line.startswith(("back", "allow"))
    ]
    expected = [*wrong, (7, "allow"), (31, "colours")]
    for number, name in expected:
        assert any(f"({user_file}:{number})" in each and name in each for each in reported), name
    assert len(reported) == len(expected)
    assert "'progres' " in "".join(reported)
    assert "did you mean progress?" in "".join(reported)
    assert "did you mean agent.model?" in "".join(reported)
    assert "not 'gitlab'" not in "".join(reported), "outreach settings may contain a secret"


def test_all_sources_are_told_at_once(repository: Path, user_file: Path) -> None:
    user_file.write_text("[limits\nmax_iterations = 1")
    (repository / ".ralph-tui.toml").write_text("\n[gate]\ntimeout_s = 0\n[limit]\nx = 1")
    environ = {"RALPH_TUI_NOPE": "1", "RALPH_TUI_CONTROL_DECAY": "1", "RALPH_TUI_UI__THEME": " "}
    options = ["agent.modle=x", "oops", "limits.max_iterations=0"]
    flags = {"limits.budget_usd": "free"}
    with pytest.raises(SettingsError) as caught:
        load(repository, flags, environ, options)
    text = "\n".join(caught.value.sentences)
    for said in (
        f"{user_file}:1 is not valid TOML",
        f"gate.timeout_s ({repository}/.ralph-tui.toml:3) must be at least 1, not 0",
        f"'limit' ({repository}/.ralph-tui.toml:4) is not a setting: did you mean limits?",
        "RALPH_TUI_NOPE names no setting",
        "did you mean RALPH_TUI_CONTROL__DECAY?",
        "ui.theme (environment RALPH_TUI_UI__THEME) must not be empty",
        "'agent.modle' (--set) is not a setting: did you mean agent.model?",
        "--set 'oops' is not NAME=VALUE",
        "limits.max_iterations (--set) must be at least 1",
        "limits.budget_usd (--budget) must be a number",
    ):
        assert said in text
    assert len(caught.value.sentences) == 10


def test_what_is_right_beside_what_is_wrong_is_known(repository: Path, user_file: Path) -> None:
    user_file.write_text("[limits]\nmax_iterations = 7\nbudget_usd = 'x'\n[gate]\ntimeout_s = 5")
    loaded = examine(repository, {}, {}, ["control.decay=9"])
    assert loaded.settings.limits.max_iterations == 7
    assert loaded.settings.limits.budget_usd is None
    assert loaded.settings.gate.timeout_s == 5
    assert loaded.place_of("gate.timeout_s") == f"{user_file}:5"
    assert loaded.place_of("control.decay") == "default"
    assert len(loaded.problems) == 2


def test_a_mistyped_choice_is_guessed(user_file: Path) -> None:
    user_file.write_text("[permissions]\nmode = 'edit'")
    (said,) = examine(None, {}, {}).problems
    assert said.endswith("must be 'edits', 'ask' or 'skip', not 'edit': did you mean 'edits'?")


def test_a_setting_outside_of_its_section_is_guessed(user_file: Path) -> None:
    user_file.write_text("max_iterations = 3")
    (said,) = examine(None, {}, {}).problems
    assert said.endswith("is not a setting: did you mean limits.max_iterations?")


def test_a_byte_order_mark_and_line_ends_of_windows_are_read(user_file: Path) -> None:
    user_file.write_bytes(b"\xef\xbb\xbf[limits]\r\n# much\r\nmax_iterations = 0\r\n")
    (said,) = examine(None, {}, {}).problems
    assert said.startswith(f"limits.max_iterations ({user_file}:3) must be at least 1")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfel\x00i\x00", "is not UTF-8 text; save it as UTF-8"),
        (bytes(range(256)), "is not UTF-8 text"),
        (b"\x00\x01\x02", ":1 is not valid TOML"),
        (b"x = 1\n" * 2_000_000, "is larger than 100 kB"),
    ],
    ids=["UTF-16", "binary", "control characters", "12 MB"],
)
def test_what_is_no_settings_file_costs_one_sentence(
    content: bytes, said: str, repository: Path, user_file: Path
) -> None:
    user_file.write_bytes(content)
    (repository / ".ralph-tui.toml").mkdir()
    problems = examine(repository, {}, {}, ["limits.max_iterations=0"]).problems
    assert len(problems) == 3
    assert said in problems[0]
    assert str(user_file) in problems[0]
    assert ".ralph-tui.toml cannot be read: it is a folder, not a regular file" in problems[1]


def test_a_fifo_and_a_locked_file_are_not_waited_for(user_file: Path) -> None:
    os.mkfifo(user_file)
    (said,) = examine(None, {}, {}).problems
    assert "it is a FIFO, not a regular file" in said


def test_very_many_errors_are_told_in_part(user_file: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        load(None, {}, {f"RALPH_TUI_X{n}": "1" for n in range(1000)})
    assert len(caught.value.sentences) == MAX_SENTENCES + 1
    assert caught.value.sentences[-1] == "980 more settings are not valid; correct these first"


def test_on_the_terminal_each_is_a_line_of_its_own(user_file: Path) -> None:
    user_file.write_text('[limits]\nmax_iterations = 0\nbudget_usd = -1\n"a\\u001bb" = 1')
    done = here("run", "x", "-c", "true", cwd=user_file.parent)
    lines = done.stderr.splitlines()
    assert done.returncode == 2
    assert len(lines) == 3
    assert all(line.startswith("ralph-tui: ") and f"{user_file}:" in line for line in lines)
    assert "\x1b" not in done.stderr


class TestLines:
    """The line of a setting in a file."""

    def test_of_every_way_to_write_one(self) -> None:
        text = """\
# a comment
top = 1

[one]
"quoted key" = "# [no] = 'comment'"
long = [
    1, # a comment
    2,
]
text = \"\"\"
[two]
x = 1
\"\"\"
inline = { a = 1, b = { c = 2 } }
dotted . name = 3
  [ "two" . three ]
x = 4
[[many]]
y = 1
[[many]]
y = 2
"""
        tomllib.loads(text)
        assert lines_of(text) == {
            "top": 2,
            "one": 4,
            "one.quoted key": 5,
            "one.long": 6,
            "one.text": 10,
            "one.inline": 14,
            "one.inline.a": 14,
            "one.inline.b": 14,
            "one.inline.b.c": 14,
            "one.dotted": 15,
            "one.dotted.name": 15,
            "two": 16,
            "two.three": 16,
            "two.three.x": 17,
            "many": 18,
            "many.0": 18,
            "many.0.y": 19,
            "many.1": 20,
            "many.1.y": 21,
        }

    @given(st.lists(st.sampled_from(["[a]", "x = 1", "#", "", "y = [", "1,", "]", "z = 2"])))
    def test_of_anything_without_an_error(self, lines: list[str]) -> None:
        found = lines_of("\n".join(lines))
        assert all(1 <= number <= len(lines) for number in found.values())

    def test_within_a_bounded_time(self) -> None:
        """For a very long list, either the right line or none."""
        found = lines_of("a = 1\nb = [\n" + "1,\n" * 10_000 + "]\nc = 1")
        assert found["a"] == 1
