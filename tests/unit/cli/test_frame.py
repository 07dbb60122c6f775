"""The frame around the commands: refusals, their wording and exit codes."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from ralph_tui import __version__, cli
from ralph_tui.adapters.records.journal import Journal
from ralph_tui.base import extensions
from ralph_tui.base.errors import UsageError, WorkspaceError
from ralph_tui.cli import COMMANDS, GROUPS, build_parser, main, memory_words
from ralph_tui.cli.exit_codes import OUTCOME_CODES, ExitCode
from ralph_tui.cli.fronts.terminal import default_theme, prepare_textual
from ralph_tui.cli.options import add_settings, load_settings
from ralph_tui.cli.parser import Parser
from ralph_tui.config.sources import FLAGS
from ralph_tui.events.run import Outcome
from ralph_tui.fleet.records import create_fleet
from tests.fleet_events import a_loop, a_plan, started
from tests.paths import ROOT
from tests.processes import Child
from tests.rows import each_row
from tests.world import FakeClock

Capture = pytest.CaptureFixture[str]


def test_outcomes_have_the_documented_exit_codes() -> None:
    assert set(OUTCOME_CODES) == set(get_args(Outcome))
    assert {outcome: int(code) for outcome, code in OUTCOME_CODES.items()} == {
        "completed": 0,
        "failed": 1,
        "limit_reached": 3,
        "aborted": 4,
        "interrupted": 130,
    }
    assert (ExitCode.USAGE, ExitCode.QUESTION_OPEN) == (2, 5)


def test_every_command_is_there_and_says_what_it_does() -> None:
    parser, commands = build_parser(COMMANDS)
    assert tuple(commands) == tuple(COMMANDS)
    text = " ".join(parser.format_help().split())
    for name, sentence in COMMANDS.items():
        assert f" {name} {sentence}" in text
        assert f"usage: ralph-tui {name} [-h]" in commands[name].format_help()


def test_the_help_keeps_to_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command fits on one line."""
    monkeypatch.setenv("COLUMNS", "80")
    lines = build_parser()[0].format_help().splitlines()
    assert max(map(len, lines)) < 80
    assert sorted(line.split(maxsplit=1) for line in lines if line.startswith("    ")) == [
        [name, sentence] for name, sentence in sorted(COMMANDS.items())
    ]


def test_help_lists_the_commands_of_every_day_and_all_of_them_on_request(capsys: Capture) -> None:
    def listed(*words: str) -> list[str]:
        assert main([*words]) == 0
        lines = capsys.readouterr().out.splitlines()
        return [line.split()[0] for line in lines if re.match(r" {4}[a-z]", line)]

    daily = listed("--help")
    assert daily == [name for group in GROUPS.values() for name in group]
    assert len(daily) <= 15
    assert set(listed("--help", "--all")) == set(listed("--all")) == set(COMMANDS)
    assert "worker" not in listed("fleet", "--help")
    assert "worker" in listed("fleet", "--help", "--all")
    assert main(["fleet", "worker", "--help"]) == 0


def test_the_table_names_every_module_of_a_command() -> None:
    folder = ROOT / "ralph_tui" / "cli" / "commands"
    ours = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert ours | set(extensions.COMMANDS) == set(COMMANDS)
    assert not ours & set(extensions.COMMANDS)


def test_help_and_version(capsys: Capture) -> None:
    assert main(["--help"]) == 0
    assert "ralph-tui demo" in capsys.readouterr().out
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"ralph-tui {__version__}\n"


def test_without_arguments_it_helps_and_tells_of_the_newest_run(
    capsys: Capture, git_repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(git_repo)
    assert main([]) == 0
    out = capsys.readouterr().out
    assert "usage: ralph-tui" in out
    assert str(git_repo) in out.partition("newest run here:")[2]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["statsu"], "no command 'statsu', did you mean status?"),
        (["xyzzy"], "no command 'xyzzy'; see ralph-tui --help"),
        (["--bogus"], "ralph-tui has no option --bogus; see ralph-tui --help"),
        (["lab", "--jsn"], "ralph-tui lab has no option --jsn, did you mean --json?"),
        (["lab", "--bogus=1"], "ralph-tui lab has no option --bogus"),
        (["lab", "--progress"], "--progress needs a value; see ralph-tui lab --help"),
        (["decide", "--budget", "x"], "--budget takes a number, not 'x'"),
        (["replay", "--at", "x"], "--at takes a whole number, not 'x'"),
        (["run"], "OBJECTIVE is missing"),
        (["run", "x", "-c", "a", "-c", "b"], '-c is given twice; join them, as in -c "A && B"'),
        (["run", "x", "--criterion", "a", "--criterion", "b"], "--criterion is given twice"),
        (["resume", "-c", "a", "--command", "b"], "--command is given twice"),
        (["lab", "--progress", "1,2", "word"], "unexpected argument 'word'"),
        (["--progress=1", "lab"], "--progress belongs after its command: ralph-tui lab"),
        (["lab", "--prog", "1"], "has no option --prog, did you mean --progress?"),
        (["a" * 5000], "no command 'aaa"),
        (["\x1b]0;title\x07x"], "no command"),
        (["two\nlines"], "no command"),
        (["\udcff"], "no command"),
    ],
)
def test_a_bad_command_line_gets_one_sentence(words: list[str], said: str, capsys: Capture) -> None:
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("ralph-tui: ")
    assert said in captured.err
    assert captured.err.count("\n") == 1
    assert len(captured.err) < 300
    assert "\x1b" not in captured.err


def test_what_is_named_is_looked_for_before_the_terminal(
    capsys: Capture, git_repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(git_repo)
    assert main(["attach", "nope"]) == 2
    assert "no run 'nope' here" in capsys.readouterr().err


class FakeCommand:
    """Replacement for a command module."""

    def __init__(self, act: Callable[[], int]) -> None:
        self.act = act

    def add_arguments(self, parser: "object") -> None:
        """Add no arguments."""

    def run(self, _: object) -> int:
        return self.act()


def outcome_of(act: Callable[[], int], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(cli, "_import_command", lambda _: FakeCommand(act))
    return main(["lab"])


def raising(error: BaseException) -> Callable[[], int]:
    def act() -> int:
        raise error

    return act


def test_an_expected_failure_is_one_sentence_and_its_exit_code(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = WorkspaceError("git is not here\x1b[2J\nat all: install it")
    assert outcome_of(raising(error), monkeypatch) == 1
    assert capsys.readouterr().err == "ralph-tui: git is not here⏎at all: install it\n"
    assert outcome_of(raising(UsageError("no")), monkeypatch) == 2


def test_a_secret_in_an_error_is_not_shown(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert outcome_of(raising(UsageError("bad: sk-0123456789abcdef0123")), monkeypatch) == 2
    assert "0123456789" not in capsys.readouterr().err


def test_the_code_of_a_command_is_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    assert outcome_of(lambda: ExitCode.LIMIT_REACHED, monkeypatch) == 3


def test_an_interrupt_is_quiet(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    assert outcome_of(raising(KeyboardInterrupt()), monkeypatch) == 130
    assert capsys.readouterr().err == ""


def test_a_bug_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZeroDivisionError):
        outcome_of(raising(ZeroDivisionError()), monkeypatch)


LONG_LAB = ["lab", "--json", "--max-iterations", "1000", "--progress", ",".join(["5"] * 300)]


def test_a_reader_that_leaves_is_no_error() -> None:
    with Child[bytes](
        [sys.executable, "-m", "ralph_tui", *LONG_LAB],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 130


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_one_sentence() -> None:
    with Path("/dev/full").open("wb") as full:
        answer = subprocess.run(
            [sys.executable, "-m", "ralph_tui", *LONG_LAB],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert answer.returncode == 1
    sentence = "ralph-tui: no space left on the device; free some space and try again\n"
    assert answer.stderr == sentence


def test_a_terminal_without_unicode_gets_a_substitute(git_repo: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "ralph_tui", "x\u2713"],
        env=os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT)},
        cwd=git_repo,
        capture_output=True,
        check=False,
    )
    assert answer.returncode == 2
    assert answer.stderr.startswith(b"ralph-tui: no command 'x?'")


def test_the_module_and_the_script_are_the_same() -> None:
    script = subprocess.run(
        [Path(sys.executable).with_name("ralph-tui"), "--version"], capture_output=True, check=True
    )
    module = subprocess.run(
        [sys.executable, "-m", "ralph_tui", "--version"], cwd=ROOT, capture_output=True, check=True
    )
    assert script.stdout == module.stdout == f"ralph-tui {__version__}\n".encode()


class TestSettingsFlags:
    """Flags shared by ``run`` and ``demo``."""

    def test_there_is_one_for_every_setting_that_has_a_flag(self) -> None:
        parser = Parser(prog="x")
        add_settings(parser)
        text = parser.format_help()
        assert all(flag in text for flag in FLAGS.values())

    def test_they_reach_the_settings(self, capsys: Capture) -> None:
        parser = Parser(prog="x")
        add_settings(parser)
        args = parser.parse_args(
            [
                "--agent",
                "command",
                "--max-iterations",
                "3",
                "--timeout",
                "5m",
                "--set",
                "ui.theme=x",
            ]
        )
        loaded = load_settings(args, None)
        assert loaded.settings.agent.name == "command"
        assert loaded.settings.limits.max_iterations == 3
        assert loaded.settings.limits.session_timeout_s == 300
        assert loaded.settings.ui.theme == "x"
        assert loaded.origins["limits.max_iterations"] == "--max-iterations"
        assert capsys.readouterr().err == ""

    def test_a_bad_one_is_refused_by_its_name(self) -> None:
        parser = Parser(prog="x")
        add_settings(parser, agent=False)
        with pytest.raises(UsageError, match="--budget"):
            load_settings(parser.parse_args(["--budget", "-2"]), None)

    def test_what_a_repository_may_not_set_is_told(self, git_repo: Path, capsys: Capture) -> None:
        (git_repo / ".ralph-tui.toml").write_text("[permissions]\nmode = 'skip'")
        parser = Parser(prog="x")
        add_settings(parser)
        assert load_settings(parser.parse_args([]), git_repo).settings.permissions.mode == "edits"
        assert "may not set permissions" in capsys.readouterr().err

    def test_a_repository_cannot_have_a_model_judge_in_your_place(
        self, git_repo: Path, capsys: Capture
    ) -> None:
        lines = "[intelligence]\nmodel_judge = true\nmodel_prompts = true"
        (git_repo / ".ralph-tui.toml").write_text(lines)
        parser = Parser(prog="x")
        add_settings(parser)
        settings = load_settings(parser.parse_args([]), git_repo).settings.intelligence
        assert (settings.model_judge, settings.model_prompts) == (False, True)
        assert "may not set intelligence.model_judge" in capsys.readouterr().err


class TestPrepareTextual:
    """Environment variables for Textual."""

    def test_nothing_moves(self) -> None:
        environ: dict[str, str] = {}
        prepare_textual(environ)
        assert environ == {"TEXTUAL_ANIMATIONS": "none"}

    def test_no_color_means_the_terminals_own(self) -> None:
        environ = {"NO_COLOR": "1"}
        prepare_textual(environ, "ralph-light")
        assert environ["TEXTUAL_THEME"] == "ansi-dark"
        assert environ["NO_COLOR"] == "1"

    def test_an_empty_no_color_means_colours(self) -> None:
        environ = {"NO_COLOR": ""}
        prepare_textual(environ, "ralph-light")
        assert environ == {"TEXTUAL_ANIMATIONS": "none", "TEXTUAL_THEME": "ralph-light"}

    def test_a_user_may_want_animations(self) -> None:
        environ = {"TEXTUAL_ANIMATIONS": "full"}
        prepare_textual(environ)
        assert environ == {"TEXTUAL_ANIMATIONS": "full"}


def test_ctrl_c_is_quiet_in_a_real_process() -> None:
    """The signal as a terminal sends it, while a command waits."""
    program = (
        "import sys, time, ralph_tui.cli as cli\n"
        "class Slow:\n"
        "    def add_arguments(self, parser): pass\n"
        "    def run(self, args):\n"
        "        print('on', flush=True)\n"
        "        while True: time.sleep(0.05)\n"
        "cli._import_command = lambda name: Slow()\n"
        "sys.exit(cli.main(['lab']))\n"
    )
    with Child[bytes](
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == b"on\n"
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == b""
    assert process.returncode == 130


@each_row(
    ("term", "colours", "theme"),
    [
        ("xterm-256color", "", None),
        ("xterm-kitty", "", None),
        ("xterm", "truecolor", None),
        ("xterm-16color", "", "terminal"),
        ("linux", "", "terminal"),
        ("dumb", "", "terminal"),
        ("", "", "terminal"),
    ],
)
def test_of_sixteen_colours_the_terminals_own_are_used(
    term: str, colours: str, theme: str | None
) -> None:
    assert default_theme({"TERM": term, "COLORTERM": colours}) == theme


@each_row(
    "name", ["decide", "guide", "status", "pause", "unpause", "abort", "checkpoint", "report"]
)
def test_the_help_of_a_command_begins_with_what_it_does(name: str) -> None:
    assert build_parser((name,))[1][name].description


def test_a_resume_keeps_what_the_run_has() -> None:
    text = " ".join(build_parser(("resume",))[1]["resume"].format_help().split())
    assert text.count("(as in the run)") == 5
    assert "default" not in text
    assert "(10)" not in text


def test_without_arguments_after_fleets_alone_it_shows_the_fleet(
    capsys: Capture, git_repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = started(a_plan(a_loop("1"))).model_copy(update={"root": str(git_repo)})
    journal = Journal(create_fleet(git_repo).journal, FakeClock())
    journal.append(start)
    journal.close()
    monkeypatch.chdir(git_repo)
    assert main([]) == 0
    out = capsys.readouterr().out
    assert "fleet-001" in out
    assert "no run recorded" not in out


def test_fields_of_a_learning_are_shown_in_words() -> None:
    assert memory_words._plain_name("estimatedIterations") == "estimated iterations"
