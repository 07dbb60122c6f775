"""Placement of panes: names as tabs, clicks on them, and how space is shared."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from ralph_tui.tui.cockpit import layout
from ralph_tui.tui.draw.spans import CLICK, cells
from ralph_tui.tui.panes.tabs import Tab, placed, title
from tests.tui.driving import Driver, drive, live, story
from tests.tui.test_cockpit import frames

NAMES = st.text("abcxyz日本é", min_size=1, max_size=14)


def text_of(tabs: tuple[Tab, ...], width: int) -> str:
    return "".join(text for text, _ in title(tabs, width, lit=True))


@given(st.lists(NAMES, min_size=1, max_size=10), st.integers(1, 120))
def test_a_click_hits_the_tab_that_is_drawn_there(names: list[str], width: int) -> None:
    tabs = tuple(
        Tab(digit % 10, name, shown=not digit, brief=name[:5]) for digit, name in enumerate(names)
    )
    line = title(tabs, width, lit=False)
    assert cells(line) <= width
    for text, style in line:
        if CLICK in style:
            assert text[0] in (style.partition(CLICK)[2], "…")
    if placed(tabs, width)[-1][2] < width - 1:
        assert sum(CLICK in style for _, style in line) == len(tabs) - 1


def names_of(driver: Driver, pane: str, width: int) -> str:
    return text_of(driver.cockpit.body.panes[pane].tabs, width)


def test_the_names_of_all_panes_are_words_or_digits_alone() -> None:
    async def look(driver: Driver) -> None:
        assert names_of(driver, "agent", 70) == (
            "6 agent 2 log 3 iter. 4 files 5 learned 7 tests 8 prompt 9 details"
        )
        row = next(row for row in driver.text() if "6 agent" in row)
        assert "9 details" in row
        await driver.resize((60, 15))
        row = next(row for row in driver.text() if "6 agent" in row)
        assert "6 agent 1 chart 2 log 3 iter. 4 files 5 learned 7 8 9 " in row

    drive(live(story("running")), look)


@pytest.mark.parametrize("size", [(60, 15), (110, 20), (140, 45)])
def test_every_pane_that_is_no_tab_in_front_is_reached_by_a_click(size: tuple[int, int]) -> None:
    async def look(driver: Driver) -> None:
        body = driver.cockpit.body
        for digit, key in enumerate(layout.ORDER, start=1):
            front, start = next(
                (pane, at)
                for pane in body.panes.values()
                if pane.display
                for tab, _, at in placed(pane.tabs, pane.size.width - 5)
                if tab.digit == digit % 10
            )
            await driver.pilot.click(front, offset=(3 + start, 0))
            await driver.until(partial(getattr, body.panes[key], "has_focus"))
            assert body.panes[key].display

    drive(live(story("running")), look, size)


def test_a_click_selects_a_row_and_one_on_the_selected_opens_it() -> None:
    async def look(driver: Driver) -> None:
        pane = driver.cockpit.body.panes["agent"]
        row = next(i for i, text in enumerate(driver.text()) if "2 failed, 17 passed" in text)
        await driver.pilot.click(pane, offset=(20, row - pane.region.y))
        await driver.sees("▾ Bash")

    drive(live(story("running")), look)


@pytest.mark.parametrize(
    ("size", "guest", "host"),
    [
        ((140, 45), "learnings", "files"),
        ((140, 45), "log", "progress"),
        ((100, 30), "log", "progress"),
        ((120, 20), "log", "progress"),
    ],
)
def test_a_pane_that_has_had_nothing_to_say_gives_its_room_away_once(
    size: tuple[int, int], guest: str, host: str
) -> None:
    speak = {"learnings": "taught", "log": "running"}[guest]

    async def look(driver: Driver) -> None:
        panes = driver.cockpit.body.panes
        assert guest not in {key for key, pane in panes.items() if pane.display}
        wide = panes[host].size.width
        assert any(tab.heading == guest or tab.digit == 2 for tab in panes[host].tabs)
        driver.inbox.extend(
            event.model_copy(update={"seq": 1000 + event.seq}) for event in story(speak)[1:]
        )
        await driver.until(lambda: panes[guest].display)
        await driver.until(lambda: panes[host].size.width < wide)
        assert len(panes[host].tabs) == 1

    drive(live(story("empty")), look, size)


@pytest.mark.parametrize("back", ["P", "escape"])
def test_the_prompts_key_leads_back_to_where_one_was(back: str) -> None:
    async def look(driver: Driver) -> None:
        body = driver.cockpit.body
        await driver.press("3", "P")
        assert (body.zoomed, body.panes["prompt"].has_focus) == ("prompt", True)
        await driver.press(back)
        assert (body.zoomed, body.panes["iterations"].has_focus) == (None, True)
        assert body.panes["iterations"].display
        await driver.press("4", "z", "P", back)
        assert (body.zoomed, body.panes["files"].has_focus) == ("files", True)

    drive(live(story("running")), look)


SIZES = [*((width, 24) for width in (20, 60, 80, 200)), *((80, 5), (100, 12), (100, 16), (140, 60))]


def test_nothing_overprints_at_any_size() -> None:
    async def look(driver: Driver) -> None:
        for size in SIZES:
            await driver.resize(size)
            rows = driver.text()
            assert len(rows) == size[1]
            assert all(cell_len(row) == size[0] for row in rows), size
            frames(rows)
            shown = [pane.region for pane in driver.cockpit.body.panes.values() if pane.display]
            for index, one in enumerate(shown):
                assert not any(one.overlaps(other) for other in shown[index + 1 :]), size

    drive(live(story("hostile")), look, SIZES[-1])
