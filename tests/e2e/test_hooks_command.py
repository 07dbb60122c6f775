"""``ralph-tui hooks``: install, inspect and remove; and a real session with hooks."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.records.runs import resolve_run
from ralph_tui.events import ContextLevelReached
from ralph_tui.hooks.settings import find_hooks
from ralph_tui.state import RunState
from tests.doubles.api import Api
from tests.doubles.launch import real_binary, real_environment
from tests.doubles.scenario import Scenario
from tests.e2e.cli import here, run
from tests.e2e.test_hooks_real import DONE, at
from tests.e2e.tmux import Terminal

THEIRS = """\
{
\t"model": "sonnet",
\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "touch theirs-ran"}]}]}
}
"""
SETTINGS = ".claude/settings.json"
STATE = ".claude/ralph-state.json"
BINARY = real_binary()


@pytest.fixture
def root(git_repo: Path) -> Path:
    (git_repo / SETTINGS).parent.mkdir()
    (git_repo / SETTINGS).write_text(THEIRS)
    return git_repo


def files(root: Path) -> dict[str, bytes]:
    found = (path for path in (root / ".claude").rglob("*") if path.is_file())
    return {str(path.relative_to(root)): path.read_bytes() for path in found}


def test_without_a_terminal_it_shows_the_change_and_needs_a_yes(root: Path) -> None:
    before = files(root)
    for action in ("install", "remove"):
        done = run("hooks", action, cwd=root)
        if action == "install":
            assert done.returncode == 2
            assert '+\t"hooks": {"Stop": [{' in done.stdout
            assert '"command": "python3 -I -S' in done.stdout
            assert done.stderr == (
                "ralph-tui: not a terminal; use --yes to confirm: ralph-tui hooks install --yes\n"
            )
        else:
            assert "no ralph-tui hooks are installed" in done.stdout
    assert files(root) == before


def test_installed_shown_installed_again_and_removed(root: Path) -> None:
    before = files(root)
    done = here("hooks", "install", "--yes", cwd=root)
    assert done.returncode == 0, done.stderr
    assert "previous version saved: .claude/settings.json.2" in done.stdout
    assert "the hooks do nothing yet: they need .claude/ralph-state.json" in (done.stdout)
    assert set(find_hooks((root / SETTINGS).read_text())) == {"PostToolUse", "Stop"}
    after = files(root)
    again = here("hooks", "install", "--yes", cwd=root)
    assert "the hooks are already installed in " in again.stdout
    assert " and up to date" in again.stdout
    assert files(root) == after
    shown = here("hooks", "show", cwd=root)
    assert "PostToolUse, Stop in .claude/settings.json; 1 other hook" in shown.stdout
    assert "up to date" in shown.stdout
    removed = here("hooks", "remove", "--yes", cwd=root)
    assert removed.returncode == 0, removed.stderr
    assert files(root) == before


def test_a_loop_is_begun_on_request_and_never_under_one_that_runs(root: Path) -> None:
    words = ["--objective", "Mend the parser", "--promise", "ALL DONE", "--max-iterations", "7"]
    done = here("hooks", "install", "--yes", *words, cwd=root)
    assert "iteration 1 of 7, Mend the parser" in done.stdout
    state = json.loads((root / STATE).read_text())
    assert (state["objective"], state["completion_promise"], state["max_iterations"]) == (
        "Mend the parser",
        "ALL DONE",
        7,
    )
    running = here("hooks", "install", "--yes", "--objective", "Another", cwd=root)
    assert running.returncode == 1
    assert ".claude/ralph-state.json already runs a loop; nothing was changed" in running.stderr
    (root / STATE).write_text(json.dumps(state | {"status": "completed"}))
    assert "has ended (completed)" in here("hooks", "show", cwd=root).stdout
    another = here("hooks", "install", "--yes", "--objective", "Another", cwd=root)
    assert "previous version saved: .claude/ralph-state.json.2" in another.stdout
    assert json.loads((root / STATE).read_text())["objective"] == "Another"
    removed = here("hooks", "remove", "--yes", cwd=root)
    assert f"{STATE} stays" in removed.stdout
    assert (root / STATE).exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--promise", "X"],
            "--promise and --max-iterations apply to a loop; pass --objective TEXT",
        ),
        (["--objective", " "], "the text is empty"),
        (["--objective", "x", "--promise", " "], "--promise is empty"),
        (["--objective", "x", "--max-iterations", "0"], "--max-iterations must be 1 or more"),
        (["--folder", "missing"], "there is no folder missing: name the project with --folder"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(root: Path, words: list[str], sentence: str) -> None:
    before = files(root)
    done = here("hooks", "install", "--yes", *words, cwd=root)
    assert done.returncode == 2
    assert done.stderr.startswith(f"ralph-tui: {sentence}")
    assert done.stderr.count("\n") == 1
    assert files(root) == before


@pytest.mark.parametrize("content", ["garbage", "[]", '{"hooks": []}', '{"hooks": {"Stop": 1}}'])
def test_settings_of_another_form_are_left_as_they_are(root: Path, content: str) -> None:
    (root / SETTINGS).write_text(content)
    before = files(root)
    for action in ("install", "remove"):
        done = here("hooks", action, "--yes", cwd=root)
        assert done.returncode == 1
        assert done.stderr.startswith(f"ralph-tui: {SETTINGS} cannot be used: it")
    assert here("hooks", "show", cwd=root).returncode == 1
    assert files(root) == before


def test_a_program_that_cannot_be_copied_changes_no_settings(root: Path) -> None:
    (root / ".claude/hooks").write_text("in the way")
    before = files(root)
    done = here("hooks", "install", "--yes", cwd=root)
    assert done.returncode == 1
    assert ".claude/hooks/ralph-tui: " in done.stderr
    assert files(root) == before


def test_the_home_of_its_user_is_never_written(tmp_path: Path) -> None:
    done = here(
        "hooks", "install", "--yes", "--folder", str(tmp_path), cwd=tmp_path, HOME=str(tmp_path)
    )
    assert done.returncode == 2
    assert "this is your home" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", ["garbage", "[]"])
def test_a_state_file_of_no_use_is_told_and_stays(root: Path, content: str) -> None:
    (root / STATE).write_text(content)
    done = here("hooks", "install", "--yes", "--objective", "x", cwd=root)
    assert done.returncode == 1
    assert ".claude/ralph-state.json exists but holds no loop; nothing was changed" in done.stderr
    assert (root / STATE).read_text() == content
    assert "is not a state file" in here("hooks", "show", cwd=root).stdout


@pytest.fixture
def screen(root: Path) -> Iterator[Terminal]:
    terminal = Terminal(["hooks", "install"], root, width=120, height=60)
    yield terminal
    terminal.close()


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
class TestInATerminal:
    def test_a_no_changes_nothing(self, screen: Terminal, root: Path) -> None:
        before = files(root)
        screen.shows('"matcher": "*"', "Install the hooks in this project? [y/N]")
        screen.type("n")
        screen.press("Enter")
        screen.shows("ralph-tui: nothing was changed")
        assert screen.exit_code() == 1
        assert files(root) == before

    def test_an_edit_while_it_asks_is_not_lost(self, screen: Terminal, root: Path) -> None:
        screen.shows("Install the hooks in this project? [y/N]")
        (root / SETTINGS).write_text('{"model": "opus"}')
        before = files(root)
        screen.type("y")
        screen.press("Enter")
        screen.shows("changed in the meantime; nothing was written; run the command again")
        assert screen.exit_code() == 1
        assert files(root) == before


@pytest.mark.real_agent
@pytest.mark.skipif(BINARY is None, reason="Claude Code is not installed")
def test_a_session_of_claude_code_has_them(root: Path, tmp_path: Path) -> None:
    """The settings are accepted, its user's hook runs beside ours, the record can be replayed."""
    words = ["--objective", "Mend the parser"]
    assert here("hooks", "install", "--yes", *words, cwd=root).returncode == 0
    scenario = Scenario("here", "made here", [(at(100_000), at(144_000), DONE)])
    with Api(scenario) as api:
        subprocess.run(
            [BINARY or "", "-p", "--model", scenario.model, "--dangerously-skip-permissions", "Go"],
            cwd=root,
            env=real_environment(api.url, tmp_path / "home", scenario)
            | {"PATH": os.environ["PATH"], "RALPH_CONTEXT_WINDOW": "200000"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
    assert (root / "theirs-ran").exists()
    assert json.loads((root / STATE).read_text())["status"] == "completed"
    events = read_journal(resolve_run(root, "hooks", hooked=True).journal).events
    assert [e.level for e in events if isinstance(e, ContextLevelReached)] == ["L1"]
    state = RunState().apply_all(events)
    assert state.run.started is not None
    assert state.run.started.watched
    assert state.run.finished is not None
    lines = here("replay", "hooks", "--headless", cwd=root).stdout
    assert "Mend the parser" in lines
    assert "completed" in here("status", cwd=root).stdout


def test_commits_of_checkpoints_are_installed_with_a_loop(root: Path) -> None:
    done = run("hooks", "install", "--commit-wip", "--yes", cwd=root)
    assert (done.returncode, "pass --objective TEXT" in done.stderr) == (2, True)
    (root / "mine.txt").write_text("x")
    given = ("--objective", "Mend it", "--commit-wip")
    done = run("hooks", "install", *given, "--yes", cwd=root)
    assert done.returncode == 0, done.stderr
    assert "to your branch, except 1 file with earlier changes: mine.txt" in done.stdout
    assert json.loads((root / STATE).read_text())["commit_wip"] == {"left_out": ["mine.txt"]}
    (root / "session.txt").write_text("x")
    again = run("hooks", "install", "--commit-wip", "--yes", cwd=root)
    assert "up to date" in again.stdout, "what the session has changed since is committed"
    assert json.loads((root / STATE).read_text())["commit_wip"] == {"left_out": ["mine.txt"]}
