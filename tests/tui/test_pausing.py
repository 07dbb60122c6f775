"""A requested pause: leaving warns that the run will wait, and a paused run is not silent."""

from datetime import timedelta
from pathlib import Path

import pytest

from ralph_tui.adapters.records.attempts import AttemptFolder
from ralph_tui.cli.fronts.common import leave_text
from ralph_tui.events import PauseRequested
from ralph_tui.state import RunState
from ralph_tui.tui.panes.header import header_lines
from tests.snapshots.states import and_then
from tests.tui.driving import Driver, drive, live, story


def test_leaving_says_that_it_pauses_and_waits() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("q")
        await driver.sees("it pauses after this iteration and waits")
        await driver.sees("ralph-tui unpause continues it")

    drive(live(and_then("running", PauseRequested())), look)


def test_the_printed_words_say_it_too(tmp_path: Path) -> None:
    state = RunState().apply_all(and_then("running", PauseRequested()))
    words = leave_text(state, AttemptFolder(tmp_path, "task-001", "001", "an objective"))
    assert "it pauses after this iteration" in words
    assert "ralph-tui unpause" in words


@pytest.mark.parametrize("name", ["paused", "limited"])
def test_a_run_that_waits_is_not_shown_as_silent(name: str) -> None:
    events = story(name)
    state = RunState().apply_all(events)
    for width in (80, 100, 140):
        rows = header_lines(state, events[-1].at + timedelta(seconds=3), width)
        head = "".join(text for row in rows for text, _ in row)
        assert "output" not in head
        assert "last " not in head
