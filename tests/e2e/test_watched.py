"""A loop of sessions that ralph-tui did not start: watched while it grows, in a real terminal."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.cli import here
from tests.e2e.tmux import Terminal
from tests.hooked import HookedLoop
from tests.waiting import until

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

WHY = "ralph-tui did not start its sessions; you can only watch it"


@pytest.fixture
def loop(git_repo: Path) -> HookedLoop:
    found = HookedLoop(git_repo)
    found.begin()
    found.tool("t1", "src/oauth.ts", 42)
    return found


@pytest.fixture
def screen(loop: HookedLoop, git_repo: Path) -> Iterator[Terminal]:
    terminal = Terminal(["attach", "hooks"], git_repo, width=120, height=40)
    yield terminal
    terminal.close()


def test_it_grows_on_the_screen_and_takes_no_command(loop: HookedLoop, screen: Terminal) -> None:
    screen.shows("Move to the new service", "src/oauth.ts", "42 %", "watched")
    loop.tool("t2", "src/token.ts", 71)
    screen.shows("src/token.ts", "71 %")
    for key in ("p", "g", "a", "c", "i", "r"):
        screen.press(key)
        screen.shows(WHY)
        screen.press("Escape")
        until(lambda: WHY not in screen.screen)
    loop.end()
    screen.shows("completed", "the session said COMPLETE")
    screen.press("q")
    assert screen.exit_code() == 0


def test_what_is_said_fits_a_loop_that_is_not_ours(
    loop: HookedLoop, screen: Terminal, git_repo: Path
) -> None:
    """Nothing is measured before it or saved at a handoff; its promise decides nothing here."""
    screen.shows("src/oauth.ts")
    loop.say("promise_made", iteration=1)
    screen.shows("this ends its loop")
    loop.say("rollover_began", iteration=1, number=1, cause="L2", percent=87.0, reason="full")
    screen.press("3")
    screen.shows("1 ● ⟳")
    screen.press("1")
    screen.shows("nothing measured yet: each iteration ends")
    report = here("report", "hooks", "--full", cwd=git_repo).stdout
    assert report.startswith(f"# Report on hooks/{loop.folder.name}\n")
    assert f"Run `{loop.folder.name}`, by ralph-tui 0.2.0." in report
    screen.press("C-c")
    screen.shows("the run hooks/", "continues", "ralph-tui attach hooks")
    assert screen.exit_code() == 0


def test_one_of_which_nothing_is_heard_is_shown_as_that_until_it_goes_on(git_repo: Path) -> None:
    loop = HookedLoop(git_repo, "20260101T000000Z-0")
    loop.begin()
    quiet = loop.journal.read_text().replace('"at": "2026', '"at": "2025')
    loop.journal.write_text(quiet.replace('"at": "2027', '"at": "2025'))
    screen = Terminal(["attach", "hooks"], git_repo, width=120, height=40)
    try:
        screen.shows("unknown", "no events from its sessions for")
        loop.tool("t1", "src/oauth.ts", 42)
        screen.shows("src/oauth.ts", "42 %", "watched")
    finally:
        screen.close()


def test_it_is_listed_and_replayed_as_a_film(loop: HookedLoop, git_repo: Path) -> None:
    """From its beginning; its end names it as commands do."""
    loop.end()
    listed = here("history", cwd=git_repo).stdout
    assert "task-001  completed" in listed, "as a task, and only once"
    assert listed.count("Move to the new service") == 1
    screen = Terminal(["replay", "hooks"], git_repo, width=120, height=40)
    try:
        screen.shows("REPLAY", "Move to the new service")
        screen.press("End")
        screen.shows("completed", "1 iteration in", f"ralph-tui report hooks/{loop.folder.name}")
        screen.press("Home")
        screen.shows("watched: progress is not measured")
        screen.press("q")
        assert screen.exit_code() == 0
    finally:
        screen.close()
