"""The fleet's screen in a real terminal, over real loops: the way into one, and back."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.cli import here
from tests.e2e.test_asked_run import ASKS, stub
from tests.e2e.test_fleet import nothing_is_left, plan, root, runs, state_of
from tests.e2e.test_timeline import press_until
from tests.e2e.tmux import Terminal
from tests.waiting import until

__all__ = ["root"]

TWICE = (
    "cat >/dev/null; [ ! -e one ] || touch done-0.txt done-1.txt done-2.txt done-3.txt; touch one"
)
"""An agent that needs two sessions."""


@pytest.fixture
def go(root: Path) -> Path:
    """The file for which the agents wait."""
    return root.parent / "go"


@contextmanager
def opened(root: Path, *words: str) -> Iterator[Terminal]:
    """Another terminal in the repository."""
    one = Terminal([*words], root, width=80, height=24)
    try:
        yield one
    finally:
        one.close()


@pytest.fixture
def terminal(root: Path, go: Path) -> Iterator[Terminal]:
    """A fleet of one loop, as its user starts it."""
    waits = f"until [ -e {go} ]; do sleep 0.1; done; {TWICE}"
    file = plan(root, "First of all", agent=waits)
    with opened(root, "fleet", "run", str(file)) as one:
        yield one


def test_a_live_loop_is_opened_paused_and_left_again(
    root: Path, go: Path, terminal: Terminal
) -> None:
    terminal.shows("First of all", "the loop is running")
    until(lambda: runs(root, "1"))

    terminal.press("Enter")
    terminal.shows("c checkpoint", "following")
    terminal.press("p")
    terminal.shows("pausing: this iteration ends first")
    go.touch()
    until(lambda: state_of(root).loops["1"].phase == "paused")
    terminal.shows("paused")

    terminal.press("Escape")
    terminal.shows("paused", "First of all", "open")
    terminal.press("p")
    terminal.shows("1 of 1 objective completed")
    terminal.press("q")

    assert terminal.exit_code() == 0
    assert "ralph/fleet-001/1" in terminal.screen
    assert nothing_is_left(root)


def test_what_an_agent_asks_is_answered_by_people_through_the_fleet(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in stub(tmp_path, *ASKS[:3]).items():
        monkeypatch.setenv(name, value)
    order = ("-c", "git rev-parse -q --verify done", "--agent", "claude", "--permissions", "ask")
    with opened(root, "fleet", "run", "Ask", *order) as screen:
        screen.shows("loop 1 is waiting for your answer", "d answer")
        screen.press("d")
        screen.shows("claude asks for Bash: git tag one", "Bash(git tag *)")
        press_until(screen, "y", lambda: "asks for Bash: git tag one" not in screen.screen)
        screen.shows("claude asks for Bash: git branch done")

        until(lambda: "git branch" in here("fleet", "decide", "1", cwd=root).stdout)
        shown = here("fleet", "decide", "1", cwd=root).stdout
        assert "\nanswer: ralph-tui fleet decide 1 ANSWER" in shown
        (which,) = re.findall(r"--question (\w+)\n", shown)
        by_script = here("fleet", "decide", "1", "session", "--question", which, cwd=root)
        assert "only a person at a terminal can widen an agent's permissions" in by_script.stderr
        with opened(root, "fleet", "decide", "1", "session") as other:
            other.shows("git branch done", "[y/N]")
            other.type("y")
            other.press("Enter")
            assert other.exit_code() == 0, other.screen
        screen.shows("claude asks for Bash: git push origin main")
        until(lambda: "git push" in here("fleet", "decide", "1", cwd=root).stdout)
        refused = here("fleet", "decide", "1", "refuse", "open a pull request", cwd=root)
        assert 'loop 1: answered refuse: "open a pull request"' in refused.stdout, refused.stderr
        screen.shows("the end", "no files differ", "fleet attach fleet-001/1")
        # A dialog that closes by itself swallows keys for a second.
        press_until(screen, "Escape", lambda: "enter open" in screen.screen)
        screen.shows("1 of 1 objective completed")
        screen.press("q")
        assert screen.exit_code() == 0
