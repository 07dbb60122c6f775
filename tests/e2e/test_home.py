"""Home in a real terminal: open a run and return; signals and errors end it."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph_tui.adapters.records.folders import ralph_folder
from tests.e2e.cli import GATE, here, processes_of, project, start
from tests.e2e.test_attach import ended, journal
from tests.e2e.tmux import Terminal
from tests.fixtures.journals.make import FOLDER
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


def recorded(root: Path, name: str = "v1-stuck") -> Path:
    """A repository with one past run, whose prompts are there."""
    (root / ".git").mkdir()
    folder = ralph_folder(root) / "tasks" / "task-001" / "attempts" / "001"
    folder.mkdir(parents=True)
    shutil.copy(FOLDER / f"{name}.jsonl", folder / "events.jsonl")
    for iteration in range(1, 8):
        results = folder / "results" / f"iter-{iteration:03}"
        results.mkdir(parents=True)
        (results / "prompt.md").write_text(f"This is what iteration {iteration} was told.\n")
    return root


class At:
    """Home in a terminal, and its process."""

    def __init__(self, root: Path) -> None:
        self.terminal = Terminal([], root, width=80, height=24)
        self.pid = self.terminal.pid


@pytest.fixture
def opened() -> Iterator[list[At]]:
    homes: list[At] = []
    yield homes
    for home in homes:
        home.terminal.close()


def at_home(opened: list[At], root: Path) -> At:
    opened.append(At(root))
    return opened[-1]


def test_from_home_to_the_prompt_of_an_alarm_and_back_in_under_ten_keys(
    tmp_path: Path, opened: list[At]
) -> None:
    screen = at_home(opened, recorded(tmp_path)).terminal
    screen.shows("enter ralph-tui replay task-001/001", "✓ completed")
    screen.press("Enter")
    screen.shows("REPLAY", "space pause")  # from the beginning, playing
    screen.press("m")
    screen.shows("iteration 5/", "play")
    screen.press("P")
    screen.shows("This is what iteration 5 was told.")
    screen.press("q")
    screen.shows("enter ralph-tui replay task-001/001", "1 run")
    screen.press("q")
    assert screen.exit_code() == 0


@pytest.mark.parametrize(
    ("number", "where"), [(signal.SIGHUP, "at home"), (signal.SIGINT, "in a replay")]
)
def test_a_signal_ends_home_also_while_something_is_open(
    tmp_path: Path, opened: list[At], number: signal.Signals, where: str
) -> None:
    home = at_home(opened, recorded(tmp_path))
    home.terminal.shows("enter ralph-tui replay")
    if where == "in a replay":
        home.terminal.press("Enter")
        home.terminal.shows("space pause")
    os.kill(home.pid, number)
    assert home.terminal.exit_code() == (130 if number is signal.SIGINT else 0)


def test_what_a_command_fails_with_is_told_at_home(tmp_path: Path, opened: list[At]) -> None:
    root = recorded(tmp_path, "v1-steady")  # without an end
    screen = at_home(opened, root).terminal
    screen.shows("◇ died", "u resume")
    screen.press("u")  # there is no commit to continue from
    said = screen.shows("▲", "u resume")
    assert "git" in said
    shutil.rmtree(ralph_folder(root) / "tasks" / "task-001")
    screen.shows("No run is recorded")


def test_a_live_run_is_attached_and_left_alone(git_repo: Path, opened: list[At]) -> None:
    root = project(git_repo)
    waits = "echo hello; while [ ! -e go ]; do sleep 0.05; done"
    agent = f"{waits}; for n in 0 1 2 3; do touch done-$n.txt; done"
    words = ("--agent", "command", "--agent-command", agent)
    with start("run", "Make it pass", "-c", GATE, *words, cwd=root) as process:
        home = at_home(opened, root).terminal
        home.shows("● live", "enter ralph-tui attach task-001/001")
        home.press("Enter")
        home.shows("hello", "guide")
        home.press("q")
        home.shows("● live", "1 live")
        (root / "go").touch()
        home.shows("✓ completed", "enter ralph-tui replay task-001/001")
        assert process.wait(PATIENCE_S) == 0
    ended(root, "completed")


def test_term_ends_a_run_that_was_resumed_from_home_and_home_with_it(
    git_repo: Path, opened: list[At]
) -> None:
    root = project(git_repo)
    agent = ("--agent", "command", "--agent-command", "echo hello; sleep 300")
    here("run", "Make it pass", "-c", GATE, *agent, "--timeout", "1s", "--max-iterations", "1",
         "--headless", cwd=root)  # fmt: skip
    home = at_home(opened, root)
    home.terminal.shows("u resume")
    home.terminal.press("u")
    home.terminal.shows("hello", "guide")
    os.kill(home.pid, signal.SIGTERM)
    home.terminal.exit_code()
    events = journal(root)
    assert events[-1]["kind"] == "run_finished"
    assert "SIGTERM" in events[-1]["reason"]
    assert processes_of(events[0]["run_id"]) == []


@pytest.mark.parametrize("words", [["attach", "nonsense"], ["replay", "nonsense"]])
def test_the_arguments_are_looked_at_before_the_terminal(tmp_path: Path, words: list[str]) -> None:
    done = here(*words, cwd=recorded(tmp_path))
    assert done.returncode == 2
    assert "no run 'nonsense' here; known runs: task-001/001" in done.stderr


def test_without_a_terminal_it_prints_what_there_is_to_type(tmp_path: Path) -> None:
    done = here(cwd=recorded(tmp_path))
    assert done.returncode == 0
    assert "usage: ralph-tui" in done.stdout
    assert "newest run here:" in done.stdout
