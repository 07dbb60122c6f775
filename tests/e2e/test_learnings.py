"""Learnings of an earlier run, read and changed by key in a real terminal; and the search."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cli import GATE, here, project
from tests.e2e.tmux import Terminal
from tests.waiting import until

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

TAUGHT = "Always count the files before the checks run."
OBJECTIVE = "Fix the failing checks"
REPORT = json.dumps({"ralph": {"completion": 50, "summary": "one more", "learnings": [TAUGHT]}})
ALL_DONE = "cat >/dev/null; touch done-0.txt done-1.txt done-2.txt done-3.txt"
SLOW = "exec sleep 60"
MORE = f"{ALL_DONE}; echo '{REPORT}'"


def arguments(agent: str) -> list[str]:
    return ["run", OBJECTIVE, "-c", GATE, "--agent", "command", "--agent-command", agent]


@pytest.fixture
def root(git_repo: Path) -> Path:
    """A repository in which one run has completed."""
    root = project(git_repo)
    done = here(*arguments(MORE), "--headless", cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr
    for made in root.glob("done-*.txt"):
        made.unlink()
    return root


@pytest.fixture
def screen(root: Path) -> Iterator[Terminal]:
    """The second run, whose agent takes its time."""
    terminal = Terminal([*arguments(SLOW)], root, width=80, height=24)
    terminal.shows("agent")
    until(lambda: [*root.glob(".aiwg/ralph/tasks/task-001/attempts/002/events.jsonl")])
    yield terminal
    terminal.close()


def events(root: Path, kind: str) -> list[dict[str, Any]]:
    """Events of the second attempt."""
    journal = root / ".aiwg/ralph/tasks/task-001/attempts/002/events.jsonl"
    lines = [json.loads(line) for line in journal.read_bytes().splitlines()]
    return [event for event in lines if event["kind"] == kind]


def until_awake(screen: Terminal) -> None:
    """A dialog that has just opened takes no keys: press one that means nothing until it does."""

    def awake() -> bool:
        screen.press("b")
        return "b does nothing here" in screen.screen

    until(awake)


def test_a_learning_is_read_muted_pinned_and_found(root: Path, screen: Terminal) -> None:
    screen.press("5")
    screen.shows(TAUGHT, "unproven", "in the prompt")
    # What speaks of the objective comes first.
    screen.press("Enter")
    screen.shows("learning: convention", "unproven: reported by 1 run", "* pin  m mute")
    until_awake(screen)
    screen.press("m")
    screen.shows("muted: in no prompt from the next iteration on", "m unmute")
    screen.press("*")
    screen.shows("pinned: in every prompt from the next iteration on")
    screen.press("Escape")
    until(lambda: "learning: convention" not in screen.screen)
    screen.shows("◉ pinned")
    changes = [(event["change"], event["by"]) for event in events(root, "learning_changed")]
    assert changes == [("mute", "you"), ("pin", "you")]
    staged = json.loads((root / ".aiwg/knowledge/staging.json").read_text())
    assert TAUGHT in json.dumps(staged)
    screen.press("2")
    screen.shows("pinned by you")

    # A search result opens while the run continues.
    screen.type("/count the files")
    screen.shows("▸ learning", TAUGHT, "task-001/001")
    screen.press("Enter")
    screen.shows("opened from a search: esc goes back")
    screen.press("q")
    screen.shows("iteration 1/10", "agent")
    screen.press("q")
    screen.shows("stop now")
    assert not events(root, "stop_requested")
