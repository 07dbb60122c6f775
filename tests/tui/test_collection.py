"""Garbage is not collected while a key is being answered, and is afterwards."""

import gc
from collections.abc import Iterator

import pytest

from ralph_tui.tui import app
from tests.tui.driving import Driver, drive, live, story


@pytest.fixture(autouse=True)
def _enabled() -> Iterator[None]:
    """A command line that another test has carried out here leaves it off."""
    gc.enable()
    yield
    gc.enable()


def test_it_is_put_off_until_the_key_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(driver: Driver) -> None:
        calls: list[bool] = []
        monkeypatch.setattr(driver.cockpit, "before_key", lambda: calls.append(gc.isenabled()))
        await driver.until(gc.isenabled)
        await driver.pilot.press("question_mark")
        assert calls == [False]
        await driver.until(gc.isenabled)

    drive(live(story("running")), scenario)


def test_where_it_was_off_it_stays_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "PAINTED_S", 0.001)

    async def scenario(driver: Driver) -> None:
        await driver.until(gc.isenabled)
        gc.disable()
        await driver.press("question_mark", "escape", "2")
        assert driver.app._gc_pause._timer is None
        assert not gc.isenabled()

    drive(live(story("running")), scenario)
    assert not gc.isenabled()


def test_keys_that_never_pause_do_not_put_it_off_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "PAINTED_S", 3600.0)

    async def scenario(driver: Driver) -> None:
        await driver.until(gc.isenabled)
        await driver.pilot.press("question_mark")
        putting_off = driver.app._gc_pause._timer
        assert putting_off is not None
        await driver.pilot.press("down")
        assert putting_off._reset, "each key starts a new wait"
        putting_off._reset = False
        monkeypatch.setattr(app, "MOST", 0)
        await driver.pilot.press("down")
        assert not putting_off._reset

    drive(live(story("running")), scenario)


def test_a_screen_that_is_left_gives_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "PAINTED_S", 3600.0)

    async def scenario(driver: Driver) -> None:
        await driver.until(gc.isenabled)
        await driver.press("question_mark")
        assert not gc.isenabled()

    drive(live(story("running")), scenario)
    assert gc.isenabled()
