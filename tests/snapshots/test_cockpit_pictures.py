"""Pictures of the cockpit. Look at the report before you accept a new one: `make snapshots`."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.driving import Driver, live, replay, story

Compare = Callable[..., bool]
SMALL, MEDIUM, LARGE = (80, 24), (100, 30), (140, 45)


def keys(driver: Driver, *pressed: str) -> Callable[[Pilot[Any]], Awaitable[None]]:
    """Press keys in the app, each late enough to be seen by a dialog."""

    async def press(pilot: Pilot[Any]) -> None:
        driver.pilot = pilot
        await driver.until(lambda: driver.cockpit.state.run.started)
        await driver.press(*pressed)
        await pilot.pause()

    return press


@pytest.mark.parametrize("size", [SMALL, MEDIUM, LARGE], ids=["80x24", "100x30", "140x45"])
def test_running(snap_compare: Compare, size: tuple[int, int]) -> None:
    driver = live(story("running"))
    assert snap_compare(driver.app, terminal_size=size, run_before=keys(driver))


def test_light(snap_compare: Compare) -> None:
    driver = live(story("oscillating"), theme="ralph-light")
    assert snap_compare(driver.app, terminal_size=MEDIUM, run_before=keys(driver))


def test_no_colour(snap_compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    driver = live(story("regressing"))
    assert snap_compare(driver.app, terminal_size=SMALL, run_before=keys(driver, "2"))


DIALOGS = {
    "abort": ("running", ("a",)),
    "guide": ("running", ("g", "h", "i")),
    "leave": ("running", ("q",)),
    "help": ("running", ("question_mark",)),
    "detail": ("oscillating", ("2", "enter")),
    "zoom": ("running", ("1", "z")),
    "paused": ("paused", ("3",)),
    "notice": ("steady", ("p",)),
    "question": ("asked", ()),
    "commands": ("limited", ("colon",)),
}


@pytest.mark.parametrize("name", DIALOGS)
def test_dialog(snap_compare: Compare, name: str) -> None:
    told, pressed = DIALOGS[name]
    driver = live(story(told))
    assert snap_compare(driver.app, terminal_size=SMALL, run_before=keys(driver, *pressed))


def test_replay(snap_compare: Compare) -> None:
    driver = replay(story("stuck"), note="the journal ends at line 312")
    assert snap_compare(driver.app, terminal_size=MEDIUM, run_before=keys(driver, "M"))


def test_finished(snap_compare: Compare) -> None:
    driver = live(story("steady"))
    assert snap_compare(driver.app, terminal_size=LARGE, run_before=keys(driver))


def test_scant(snap_compare: Compare) -> None:
    driver = live(story("running"))
    assert snap_compare(driver.app, terminal_size=(50, 10), run_before=keys(driver))


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80x24", "140x45"])
def test_waiting(snap_compare: Compare, size: tuple[int, int]) -> None:
    driver = live(story("limited"))
    assert snap_compare(driver.app, terminal_size=size, run_before=keys(driver))


def test_everything_permitted(snap_compare: Compare) -> None:
    driver = live(story("regressing"))
    assert snap_compare(driver.app, terminal_size=SMALL, run_before=keys(driver))
