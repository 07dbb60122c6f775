"""The first frame: the layout before the cockpit exists, and keys typed meanwhile."""

import asyncio
from collections import deque
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation
from textual.dom import DOMNode
from textual.geometry import Region
from textual.pilot import Pilot
from textual.screen import Screen

from ralph_tui.cli.fronts.side_screens import side_screens
from ralph_tui.runtime.sources.live import Live
from ralph_tui.tui.app import RalphApp
from ralph_tui.tui.cockpit import layout, preloading
from ralph_tui.tui.cockpit.opening import OpeningScreen
from ralph_tui.tui.cockpit.screen import CockpitScreen
from ralph_tui.tui.modals.help import Help
from tests.tui.driving import story

SIZES = [(140, 45), (120, 20), (60, 15)]


def places(app: RalphApp) -> dict[str, tuple[Region, str]]:
    """Columns of the visible panes, and their upper edges."""
    seen = [app.screen.query_one(f"#{key}") for key in layout.ORDER]
    return {
        str(pane.id): (pane.region, pane.render_line(0).text.partition(" ─")[0])
        for pane in seen
        if pane.display
    }


def opened(*keys: str, size: tuple[int, int] = (80, 24)) -> list[type[Screen[object]]]:
    """The kinds of screens that stand after `keys` in the first frame; none: it was left."""
    painted = asyncio.Event()
    app = RalphApp(OpeningScreen, ready=painted.set)
    source = Live(deque(story("empty")[:2]), lambda command: None)

    async def until_cockpit(pilot: Pilot[str]) -> None:
        stands = asyncio.Event()
        app.replace_first(
            partial(CockpitScreen, source), ready=stands.set, beside=side_screens(source)
        )
        await stands.wait()
        await pilot.pause()

    async def run() -> list[type[Screen[object]]]:
        async with app.run_test(size=size) as pilot:
            await painted.wait()
            await pilot.press(*keys)
            if app._exit:
                return []
            before = places(app)
            await until_cockpit(pilot)
            if len(app.screen_stack) == 1:
                assert places(app) == before
            return [type(screen) for screen in app.screen_stack]

    return asyncio.run(run())


@pytest.mark.parametrize("size", SIZES)
def test_the_frames_of_the_first_frame_are_those_of_the_cockpit(size: tuple[int, int]) -> None:
    assert opened(size=size) == [CockpitScreen]


def test_the_cockpit_uses_the_styles_that_were_parsed_for_the_first_frame(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dropped: list[Stylesheet] = []
    set_variables = Stylesheet.set_variables

    def counted(sheet: Stylesheet, variables: dict[str, str]) -> None:
        dropped.append(sheet)
        set_variables(sheet, variables)

    monkeypatch.setattr(Stylesheet, "set_variables", counted)
    assert opened() == [CockpitScreen]
    assert len(dropped) == 1


def test_no_screen_is_styled_again_while_it_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    again: list[DOMNode] = []
    update_nodes = Stylesheet.update_nodes

    def noted(sheet: Stylesheet, nodes: Iterable[DOMNode], animate: bool = False) -> None:  # noqa: FBT001 - as Textual calls it
        nodes = [*nodes]
        again.extend(node for node in nodes if isinstance(node, Screen))
        update_nodes(sheet, nodes, animate)

    monkeypatch.setattr(Stylesheet, "update_nodes", noted)
    assert opened() == [CockpitScreen]
    assert again == []


def test_the_styles_of_dialogs_are_parsed_for_the_first_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed: list[str] = []
    parse = Stylesheet._parse_rules

    def noted(sheet: Stylesheet, css: str, read_from: CSSLocation, *more: Any, **named: Any) -> Any:
        parsed.append(Path(read_from[0]).name)
        return parse(sheet, css, read_from, *more, **named)

    monkeypatch.setattr(Stylesheet, "_parse_rules", noted)
    monkeypatch.setattr(preloading, "begin", lambda screen: None)
    assert opened() == [CockpitScreen]
    assert "ralph.tcss" in parsed
    assert "dialogs.tcss" not in parsed
    assert opened("question_mark") == [CockpitScreen, Help]
    assert "dialogs.tcss" in parsed


def test_what_is_typed_in_the_first_frame_reaches_the_cockpit() -> None:
    assert opened("question_mark") == [CockpitScreen, Help]


@pytest.mark.parametrize("key", ["q", "ctrl+c", "ctrl+q"])
def test_keys_that_leave_do_so_at_once(key: str) -> None:
    assert opened(key) == []
