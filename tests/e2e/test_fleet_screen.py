"""The fleet's screen in a real terminal, over real loops: the way into one, and back."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.cli import CLI, ONE_MORE
from tests.e2e.test_fleet import nothing_is_left, plan, root, runs, state_of
from tests.e2e.tmux import Terminal
from tests.waiting import until

__all__ = ["root"]


@pytest.fixture
def go(root: Path) -> Path:
    """What the agents wait for."""
    return root.parent / "go"


@pytest.fixture
def terminal(root: Path, go: Path) -> Iterator[Terminal]:
    """A fleet of two loops, as its user starts it."""
    waits = f"until [ -e {go} ]; do sleep 0.1; done; {ONE_MORE}"
    file = plan(root, "First of all", "Second of all", agent=waits)
    one = Terminal([*CLI, "fleet", "run", str(file)], root, width=80, height=24)
    yield one
    one.close()


def test_a_live_loop_is_opened_paused_and_left_again(
    root: Path, go: Path, terminal: Terminal
) -> None:
    terminal.shows("First of all", "Second of all", "2 run")
    until(lambda: runs(root, "1", "2"), 20)

    terminal.press("Enter")
    terminal.shows("c checkpoint", "following")
    terminal.press("p")
    terminal.shows("pausing: this iteration ends first")
    go.touch()
    until(lambda: state_of(root).loops["1"].phase == "paused", 20)
    terminal.shows("paused")

    terminal.press("Escape")
    terminal.shows("paused", "Second of all", "open")
    terminal.press("p")
    terminal.shows("2 of 2 objectives completed")
    terminal.press("q")

    assert terminal.exit_code() == 0
    assert "ralph/fleet-001/1, ralph/fleet-001/2" in terminal.screen
    assert nothing_is_left(root)
