"""The dialog shown when the user returns: when it opens, and which keys it takes."""

from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from ralph_tui.runtime.sources.run_record import RunRecord
from ralph_tui.state import RunState
from ralph_tui.state.last_seen import seen_of
from ralph_tui.tui.app import RalphApp
from ralph_tui.tui.cockpit.away_summary import AwayCockpit, AwaySummary
from ralph_tui.tui.modals.guide import Guide
from ralph_tui.tui.modals.question import Question
from tests.tui.driving import Driver, drive, live, story
from tests.unit.adapters.search.journals import attempt, write


def returned(name: str) -> Driver:
    """A screen attached to a run that is already under way."""
    driver = live(story(name))
    screen = partial(AwayCockpit, driver.source)
    driver.app = RalphApp(screen, monotonic=driver.watch)
    return driver


@pytest.mark.parametrize("key", ["enter", "escape", "space"])
def test_it_opens_once_and_is_closed(key: str) -> None:
    async def look(driver: Driver) -> None:
        await driver.sees("while you were away")
        await driver.sees("REDIRECT approved by you")
        await driver.press(key)
        await driver.until(lambda: driver.app.screen is driver.cockpit)
        driver.cockpit.tick()
        await driver.pilot.pause()
        assert driver.app.screen is driver.cockpit

    drive(returned("decided"), look, (100, 30))


def test_a_key_that_means_something_below_is_handed_on() -> None:
    async def look(driver: Driver) -> None:
        await driver.until(lambda: isinstance(driver.app.screen, AwaySummary))
        await driver.press("g")
        await driver.until(lambda: isinstance(driver.app.screen, Guide))

    drive(returned("running"), look)


def test_keys_that_come_together_close_it_once() -> None:
    async def look(driver: Driver) -> None:
        await driver.until(lambda: isinstance(driver.app.screen, AwaySummary))
        driver.watch.now += 3.0  # longer than keys are ignored
        for key in "gx":
            driver.app.simulate_key(key)
        await driver.until(lambda: isinstance(driver.app.screen, Guide))
        assert driver.app.screen_stack[0] is driver.cockpit

    drive(returned("running"), look)


def test_the_open_question_follows_it() -> None:
    async def look(driver: Driver) -> None:
        await driver.until(lambda: isinstance(driver.app.screen, AwaySummary))
        await driver.sees("! needs you, since")
        await driver.press("enter")
        await driver.until(lambda: isinstance(driver.app.screen, Question))

    drive(returned("redirect"), look)


def test_it_comes_before_the_question_also_where_the_record_is_there_later() -> None:
    driver = returned("redirect")
    poll, polls = driver.source.poll, iter([True])

    def later(state: RunState, now: float) -> RunState:
        return state if next(polls, False) else poll(state, now)

    driver.source.poll = later  # type: ignore[method-assign]

    async def look(driver: Driver) -> None:
        await driver.until(lambda: driver.app.screen is not driver.cockpit)
        assert isinstance(driver.app.screen, AwaySummary)
        await driver.press("enter")
        await driver.until(lambda: isinstance(driver.app.screen, Question))

    drive(driver, look)


@pytest.mark.parametrize(("ago", "shown"), [(30, False), (90, True)])
def test_who_pressed_a_key_within_the_last_minute_was_not_away(
    tmp_path: Path, ago: int, *, shown: bool
) -> None:
    driver = returned("decided")
    events = story("decided")
    record = driver.source.record = RunRecord(write(attempt(tmp_path), events))
    then = RunState().apply_all(events[: len(events) // 2])
    record.save_seen(seen_of(then, driver.source.clock(then) - timedelta(seconds=ago), lost=False))

    async def look(driver: Driver) -> None:
        screen = driver.cockpit
        assert isinstance(screen, AwayCockpit)
        await driver.until(lambda: screen._is_shown)
        assert isinstance(driver.app.screen, AwaySummary) is shown

    drive(driver, look, (100, 30))


def test_a_run_that_has_just_begun_opens_as_it_is() -> None:
    async def look(driver: Driver) -> None:
        driver.cockpit.tick()
        await driver.pilot.pause()
        assert driver.app.screen is driver.cockpit

    drive(returned("empty"), look)
