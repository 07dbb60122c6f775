"""The backdrop of a dialog: blended as by Textual, and live updates behind it."""

import gc
from typing import Any

import pytest
from textual.dom import DOMNode
from textual.geometry import Region
from textual.renderables.background_screen import BackgroundScreen
from textual.screen import Screen
from textual.strip import Strip

from ralph_tui.tui.modals.modal import Modal
from tests.tui.driving import Driver, drive, live, story


@pytest.mark.parametrize("theme", ["dark", "terminal"])
def test_it_looks_as_textual_would_mix_it(theme: str) -> None:
    async def scenario(driver: Driver) -> None:
        await driver.press("a")
        dialog, colour = driver.app.screen, driver.app.screen.styles.background
        assert dialog is not driver.cockpit
        for y, strip in enumerate(driver.cockpit._compositor.render_strips()):
            expected = [tuple(part) for part in BackgroundScreen.process_segments(strip, colour)]
            assert [tuple(part) for part in dialog.render_line(y)] == expected

    drive(live(story("running"), theme=theme), scenario, (100, 30))


def test_its_styles_are_worked_out_once() -> None:
    async def scenario(driver: Driver) -> None:
        again: list[DOMNode] = []
        driver.app.stylesheet.update_nodes = (  # type: ignore[method-assign]
            lambda nodes, animate=False: again.extend(nodes)
        )
        await driver.press("a")
        assert len(driver.app.screen_stack) == 2
        assert [node for node in again if node.screen is driver.cockpit] == []

    drive(live(story("running")), scenario, (100, 30))


@pytest.mark.parametrize("keys", ["a", "a?"])
def test_what_happens_behind_it_is_seen(keys: str) -> None:
    events = story("running")

    async def scenario(driver: Driver) -> None:
        for key in keys:
            await driver.press(key)
        behind = driver.text()
        driver.inbox.extend(events[-5:])
        await driver.until(lambda: driver.text() != behind)
        assert len(driver.app.screen_stack) == 1 + len(keys)

    drive(live(events[:-5]), scenario, (100, 30))


def test_only_rows_that_changed_behind_it_are_taken_anew() -> None:
    async def scenario(driver: Driver) -> None:
        await driver.press("a")
        dialog, rows = driver.app.screen, range(30)
        before = [dialog.render_line(y) for y in rows]
        dialog.refresh(Region(0, 3, 10, 2))
        assert [y for y in rows if dialog.render_line(y) is not before[y]] == [3, 4]

    drive(live(story("running")), scenario, (100, 30))


def test_panes_are_drawn_on_the_ground_of_the_theme_that_is_set() -> None:
    async def scenario(driver: Driver) -> None:
        pane = driver.cockpit.body.panes["agent"]
        dark = pane.rich_style.bgcolor
        assert {part.style.bgcolor for part in pane.render_line(1) if part.style} == {dark}
        driver.app.theme = "ralph-light"
        await driver.until(lambda: pane.rich_style.bgcolor != dark)
        light = pane.rich_style.bgcolor
        assert {part.style.bgcolor for part in pane.render_line(1) if part.style} == {light}

    drive(live(story("running"), theme="dark"), scenario, (100, 30))


def test_nothing_that_was_drawn_outlives_its_dialog() -> None:
    async def scenario(driver: Driver) -> None:
        held = []
        for _ in range(3):
            await driver.press("a")
            await driver.press("escape")
            await driver.until(lambda: driver.app.screen is driver.cockpit)
            gc.collect()
            held.append(sum(type(thing) is Strip for thing in gc.get_objects()))
        assert held[2] - held[1] < 30, held  # a dialog is drawn from more rows than that

    drive(live(story("running")), scenario, (100, 30))


def test_a_dialog_is_painted_only_when_it_has_its_words() -> None:
    def words(rows: list[str]) -> set[str]:
        return set(" ".join(rows).split())

    async def look(driver: Driver) -> None:
        painted: list[set[str]] = []
        display, before = driver.app._display, words(driver.text())

        def seen(screen: Screen[Any], renderable: Any) -> None:
            if isinstance(screen, Modal):
                painted.append(words([strip.text for strip in screen._compositor.render_strips()]))
            display(screen, renderable)

        driver.app._display = seen  # type: ignore[method-assign]
        for key in ("question_mark", "g", "a", "q", "colon"):
            painted.clear()
            await driver.press(key)
            await driver.until(lambda: painted)
            assert words(driver.text()) - before - painted[0] == set(), key
            await driver.press("escape")

    drive(live(story("running")), look, (100, 30))
