"""How often the cockpit checks for news, and when it shows them."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from ralph_tui.cli.fronts.cockpit import CockpitRun
from ralph_tui.cli.fronts.stage import Stage
from ralph_tui.events import AgentSpoke
from ralph_tui.tui.cockpit.rhythm import BEHIND, HZ, NOTIFIED_HZ, QUIET_AFTER
from ralph_tui.tui.cockpit.screen import CockpitScreen
from tests.tui.driving import Driver, drive, live, story

if TYPE_CHECKING:
    from ralph_tui.cli.fronts.presentation import Prepare


def said(driver: Driver, text: str) -> None:
    """The agent says one more line."""
    seq, at = driver.cockpit.state.seq + len(driver.inbox) + 1, story("running")[-1].at
    driver.inbox.append(AgentSpoke(seq=seq, at=at, iteration=1, text=text))


async def quiet(driver: Driver) -> None:
    for _ in range(QUIET_AFTER + 1):
        driver.cockpit.tick()
    assert driver.cockpit.rhythm.quiet


def hertz(driver: Driver) -> int:
    """Checks per second at present."""
    rhythm = driver.cockpit.rhythm
    timers = {rhythm._fast: HZ, rhythm._slow: rhythm.quiet_hz}
    return sum(often for timer, often in timers.items() if timer._active.is_set())


def test_a_cockpit_in_which_nothing_happens_looks_seldom() -> None:
    async def look(driver: Driver) -> None:
        driver.cockpit.rhythm.speed_up()
        assert hertz(driver) == HZ
        await quiet(driver)
        assert hertz(driver) == driver.cockpit.rhythm.quiet_hz > NOTIFIED_HZ, "it is never called"

        said(driver, "here I am again")
        await driver.sees("here I am again")
        assert hertz(driver) == HZ

        await quiet(driver)
        await driver.press("2")
        assert hertz(driver) == HZ, "a key's effect is shown at once"

    drive(live(story("running")), look, (140, 45))


def test_an_event_of_a_run_calls_the_cockpit_that_looks_seldom() -> None:
    calls: list[Callable[[], None]] = []
    stage = cast("Stage", SimpleNamespace(call_in_screen=calls.append))

    async def look(driver: Driver) -> None:
        front = CockpitRun(cast("Prepare", None), stage)
        front._deliver(story("running")[0])
        rhythm = front.screen().rhythm
        looks: list[int] = []
        rhythm.begin(driver.cockpit, lambda: looks.append(len(looks)))
        rhythm.polled(0)
        front._deliver(story("running")[1])
        assert not calls, "it looks often, or is not there yet"

        for _ in range(QUIET_AFTER):
            rhythm.polled(0)
        assert rhythm.quiet_hz == NOTIFIED_HZ
        front._deliver(story("running")[2])
        (call,) = calls
        looks.clear()
        call()
        await driver.until(lambda: looks)

    drive(live(story("running")), look, (140, 45))


def test_behind_a_dialog_one_look_of_some_is_shown() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("question_mark")
        cockpit, shown = driver.cockpit, 0
        sync = CockpitScreen._sync

        def counted(screen: CockpitScreen) -> None:
            nonlocal shown
            shown += 1
            sync(screen)

        cockpit._sync = counted.__get__(cockpit)  # type: ignore[method-assign]
        for number in range(4 * BEHIND):
            said(driver, f"line {number}")
            cockpit.tick()
        assert shown == 4
        assert cockpit.state.agent.rows[-1].text == f"line {number}", "it is known, not yet drawn"

        said(driver, "the last line")
        await driver.press("escape")
        await driver.sees("the last line")

    drive(live(story("running")), look, (140, 45))
