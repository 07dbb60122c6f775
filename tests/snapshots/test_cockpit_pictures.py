"""Pictures of the cockpit. Look at the report before you accept a new one: `make snapshots`."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.archive import OneRun, beside
from tests.tui.driving import Driver, live, replay, story
from tests.tui.held import Held
from tests.tui.test_assessment import MADE
from tests.world.windows import folder

Compare = Callable[..., bool]
SMALL, MEDIUM, LARGE = (80, 24), (100, 30), (140, 45)


def keys(driver: Driver, *pressed: str, sees: str = "") -> Callable[[Pilot[Any]], Awaitable[None]]:
    """Press keys in the app, each late enough to be seen by a dialog, and wait for a text."""

    async def press(pilot: Pilot[Any]) -> None:
        driver.pilot = pilot
        await driver.until(lambda: driver.cockpit.state.run.started)
        await driver.press(*pressed)
        await driver.sees(sees)
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
    "pause": ("pause", ()),
    "editor": ("redirect", ("e", "A")),
}


@pytest.mark.parametrize("name", DIALOGS)
def test_dialog(snap_compare: Compare, name: str) -> None:
    told, pressed = DIALOGS[name]
    driver = live(story(told))
    assert snap_compare(driver.app, terminal_size=SMALL, run_before=keys(driver, *pressed))


@pytest.mark.parametrize(
    ("name", "size"),
    [("redirect", SMALL), ("redirect", MEDIUM), ("rollback", LARGE)],
    ids=["80x24", "100x30", "140x45"],
)
def test_redirect(snap_compare: Compare, name: str, size: tuple[int, int]) -> None:
    driver = live(story(name))
    assert snap_compare(driver.app, terminal_size=size, run_before=keys(driver))


def test_effect(snap_compare: Compare) -> None:
    driver = live(story("decided"))
    assert snap_compare(driver.app, terminal_size=LARGE, run_before=keys(driver, "2"))


@pytest.mark.parametrize("size", [SMALL, MEDIUM, LARGE], ids=["80x24", "100x30", "140x45"])
def test_changes(snap_compare: Compare, size: tuple[int, int]) -> None:
    driver = live(story("decided"), files=Held())
    pressed = keys(driver, "3", "left", "left", "enter", "right", sees="class Lexer")
    assert snap_compare(driver.app, terminal_size=size, run_before=pressed)


def test_changes_without_colours(snap_compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    driver = live(story("decided"), files=Held())
    pressed = keys(driver, "3", "left", "left", "enter", sees="class Lexer")
    assert snap_compare(driver.app, terminal_size=SMALL, run_before=pressed)


def test_two_points(snap_compare: Compare) -> None:
    driver = live(story("decided"), files=Held())
    pressed = keys(driver, "3", "shift+left", "v", "shift+left", "shift+left")
    assert snap_compare(driver.app, terminal_size=SMALL, run_before=pressed)


def test_restore(snap_compare: Compare) -> None:
    driver = live(story("paused"), files=Held())
    pressed = keys(driver, "3", "home", "right", "r", sees="would change 4 files")
    assert snap_compare(driver.app, terminal_size=SMALL, run_before=pressed)


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


SIZES = pytest.mark.parametrize("size", [SMALL, MEDIUM, LARGE], ids=["80x24", "100x30", "140x45"])


@SIZES
def test_learnings(snap_compare: Compare, size: tuple[int, int]) -> None:
    driver = live(story("taught"))
    assert snap_compare(driver.app, terminal_size=size, run_before=keys(driver, "5", "down"))


@SIZES
def test_learnings_alone(snap_compare: Compare, size: tuple[int, int]) -> None:
    driver = live(story("taught"))
    assert snap_compare(driver.app, terminal_size=size, run_before=keys(driver, "5", "z"))


@SIZES
def test_no_learnings(snap_compare: Compare, size: tuple[int, int]) -> None:
    driver = live(story("untaught"))
    assert snap_compare(driver.app, terminal_size=size, run_before=keys(driver, "5"))


@SIZES
def test_assessment(snap_compare: Compare, size: tuple[int, int]) -> None:
    told = story("running")
    last = told[-1]
    made = MADE.model_copy(update={"iteration": 6, "seq": last.seq + 1, "at": last.at})
    driver = live([*told, made])
    assert snap_compare(driver.app, terminal_size=size, run_before=keys(driver, "9"))


@SIZES
def test_learning_card(snap_compare: Compare, size: tuple[int, int]) -> None:
    driver = live(story("marked"))
    assert snap_compare(driver.app, terminal_size=size, run_before=keys(driver, "5", "enter"))


def test_learnings_light(snap_compare: Compare) -> None:
    driver = live(story("marked"), theme="ralph-light")
    assert snap_compare(driver.app, terminal_size=MEDIUM, run_before=keys(driver, "5", "z"))


def test_learnings_without_colours(snap_compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    driver = live(story("marked"))
    assert snap_compare(driver.app, terminal_size=SMALL, run_before=keys(driver, "5", "down"))


@SIZES
def test_search(snap_compare: Compare, size: tuple[int, int]) -> None:
    driver = live(story("running"), beside=beside(OneRun(story("stuck"))))
    pressed = keys(driver, "slash", *"test", sees="4 places")
    assert snap_compare(driver.app, terminal_size=size, run_before=pressed)


def test_search_without_words(snap_compare: Compare) -> None:
    driver = live(story("running"), beside=beside(OneRun(story("stuck"))))
    pressed = keys(driver, "slash", sees="Type what you remember")
    assert snap_compare(driver.app, terminal_size=SMALL, run_before=pressed)


@SIZES
@pytest.mark.parametrize("name", ["climbing", "handing_over", "rolled_over", "forgot", "unknown"])
def test_context(snap_compare: Compare, tmp_path: Path, name: str, size: tuple[int, int]) -> None:
    driver = live(story(name), folder=folder(tmp_path))
    assert snap_compare(driver.app, terminal_size=size, run_before=keys(driver, "0"))


@SIZES
def test_handoff(snap_compare: Compare, size: tuple[int, int]) -> None:
    driver = live(story("handoff_asked"))
    pressed = keys(driver, sees="Handoff of iteration 3")
    assert snap_compare(driver.app, terminal_size=size, run_before=pressed)


def test_context_alone(snap_compare: Compare, tmp_path: Path) -> None:
    driver = live(story("rolled_over"), folder=folder(tmp_path))
    assert snap_compare(driver.app, terminal_size=MEDIUM, run_before=keys(driver, "0", "z"))


def test_context_light(snap_compare: Compare) -> None:
    driver = live(story("forgot"), theme="ralph-light")
    assert snap_compare(driver.app, terminal_size=MEDIUM, run_before=keys(driver, "0"))


def test_context_without_colours(snap_compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    driver = live(story("handing_over"))
    assert snap_compare(driver.app, terminal_size=SMALL, run_before=keys(driver, "0"))


def test_rolling_over_is_asked(snap_compare: Compare) -> None:
    driver = live(story("climbing"))
    assert snap_compare(driver.app, terminal_size=SMALL, run_before=keys(driver, "C"))


def test_rollover_on_the_timeline(snap_compare: Compare) -> None:
    driver = live(story("forgot"))
    pressed = keys(driver, "3", "shift+left")
    assert snap_compare(driver.app, terminal_size=MEDIUM, run_before=pressed)
