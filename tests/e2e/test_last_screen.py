"""A finished run whose end summary is open: its worktree is free, and ``r`` works."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.records.lock import holder
from tests.e2e.cli import GATE, events_of, here, project, start
from tests.e2e.test_timeline import press_until
from tests.e2e.tmux import Terminal
from tests.waiting import until

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

AGENT = "cat >/dev/null; if [ -e done-0.txt ]; then exec sleep 500; fi; touch done-0.txt"
"""Does something in its first session, and nothing in its second."""
ORDER = ("run", "Make it pass", "-c", GATE, "--agent", "command", "--agent-command", AGENT)


def journal(root: Path) -> Path:
    return next(root.glob(".aiwg/ralph/tasks/*/attempts/*/events.jsonl"))


def events(root: Path, kind: str) -> list[dict[str, Any]]:
    if not [*root.glob(".aiwg/ralph/tasks/*/attempts/*/events.jsonl")]:
        return []
    whole = journal(root).read_text().rpartition("\n")[0]
    return [event for event in events_of(whole) if event["kind"] == kind]


@pytest.fixture
def repo(git_repo: Path) -> Path:
    return project(git_repo)


@pytest.fixture
def screen(repo: Path) -> Iterator[Terminal]:
    """The last screen of a run that was aborted in its second iteration."""
    terminal = Terminal([*ORDER], repo, width=120, height=40)
    try:
        until(lambda: len(events(repo, "session_started")) == 2)
        assert here("abort", "--yes", cwd=repo).returncode == 0
        terminal.shows("aborted")
        yield terminal
    finally:
        terminal.close()


def agree(screen: Terminal) -> None:
    """Say yes; a key that comes too early after the opening of a dialog is not taken."""
    screen.shows("y  restore")
    # In the cockpit that key is another's, which would take the answer's place.
    press_until(screen, "y", lambda: "y  restore" not in screen.screen)


def test_it_brings_files_back_and_its_worktree_is_free_for_other_terminals(
    repo: Path, screen: Terminal
) -> None:
    screen.press("3", "Home", "r")
    screen.shows("Restore snapshot 1", "1 file")
    agree(screen)
    screen.shows("restored snapshot 1", "r on ↶ undoes it")
    assert not (repo / "done-0.txt").exists()
    screen.press("r")
    screen.shows("Undo", "1 file")
    agree(screen)
    until((repo / "done-0.txt").exists)
    until(lambda: len(events(repo, "worktree_restored")) == 2)
    assert {event["by"] for event in events(repo, "worktree_restored")} == {"you"}
    until(lambda: holder(repo / ".aiwg/ralph/lock") is None)

    for words in (("restore", "1", "--yes"), ("restore", "iter-1", "--yes"), ("rebuild",)):
        done = here(*words, cwd=repo)
        assert (done.returncode, done.stderr) == (0, ""), words
    assert (repo / "done-0.txt").exists()
    with start("resume", "--headless", cwd=repo) as resumed:
        try:
            until(lambda: len(events(repo, "session_started")) == 3)
            # Its socket is its own: the one of the first process is gone.
            assert here("guide", "go on", cwd=repo).returncode == 0
            screen.press("3", "Home", "r")
            screen.shows("Restore snapshot 1")
            screen.shows("1 file")
            agree(screen)
            screen.shows("owns this worktree")
            assert (repo / "done-0.txt").exists()
            assert here("abort", "--yes", cwd=repo).returncode == 0
        finally:
            resumed.kill()
            resumed.communicate()
    until(lambda: holder(repo / ".aiwg/ralph/lock") is None)
    screen.press("3", "Home", "r")
    screen.shows("Restore snapshot 1")
    screen.shows("1 file")
    agree(screen)
    screen.shows("was continued elsewhere")
    assert (repo / "done-0.txt").exists()
    screen.press("q")
    assert screen.exit_code() == 4
