"""A picture of every state. Look at each before you accept it: `make snapshots`."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.snapshots.states import Size, State, pictures
from tests.tui.driving import Driver


def played(driver: Driver, state: State) -> Callable[[Pilot[Any]], Awaitable[None]]:
    """Press its keys, late enough for a dialog to accept them, and wait for the result."""

    async def press(pilot: Pilot[Any]) -> None:
        driver.pilot = pilot
        await driver.opened()
        await driver.press(*state.keys)
        await driver.sees(state.sees)
        gone = state.gone
        await driver.until(lambda: not gone or gone not in "\n".join(driver.text()))
        await pilot.pause()

    return press


@pytest.mark.parametrize(
    ("state", "size"), [pytest.param(state, size, id=name) for name, state, size in pictures()]
)
def test_picture(
    snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch, state: State, size: Size
) -> None:
    if not state.colours:
        monkeypatch.setenv("NO_COLOR", "1")
    driver = state.driver()
    assert snap_compare(driver.app, terminal_size=size, run_before=played(driver, state))
