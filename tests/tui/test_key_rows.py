"""Rows of keys in a narrow space: verbs are dropped first, then whole keys; none is cut."""

import pytest

from ralph_tui.state import RunState
from ralph_tui.tui.cockpit.footer import keys_line
from ralph_tui.tui.draw.spans import Line, cells
from ralph_tui.tui.home.bars import KeysRow as HomeKeys
from ralph_tui.tui.home.table import Listing
from ralph_tui.tui.modals.modal import KeysRow
from ralph_tui.tui.panes.header import OneLine
from tests.rows import each_row
from tests.tui.driving import live, replay, story
from tests.tui.homes import DIED
from tests.world.stories import STORIES

PAIRS = (
    ("↑", ""), ("↓", "scroll"), ("m", "mute it"), ("esc", "close"), ("?", "help"), ("q", "leave"),
)  # fmt: skip


def _text(line: Line) -> str:
    return "".join(text for text, _ in line)


def _state(name: str) -> RunState:
    return RunState().apply_all(STORIES[name]())


@each_row("width", range(5, 50))
def test_a_dialog_keeps_the_way_back_to_the_last(width: int) -> None:
    row = KeysRow()
    row.pairs = PAIRS
    shown = row.line(0, width)
    assert cells(shown) <= width
    words = _text(shown).split()
    assert "esc" in words
    known = {word for key, verb in PAIRS for word in (key, *verb.split())}
    assert set(words) <= known, "nothing is cut"
    assert ("↑" in words) == ("↓" in words), "they do one thing together"


@each_row("width", range(10, 70, 3))
def test_home_and_cockpit_keep_help_and_leave(width: int) -> None:
    row = HomeKeys(lambda: 0.0)
    listing = Listing(loaded=True)
    listing.put([DIED.name])
    listing.rows[DIED.name] = DIED
    row.follow(listing)
    driver = live(story("asked"))
    shown = keys_line(driver.source.poll(_state("asked"), 0), driver.source, width)
    for line in (row.line(0, width), shown):
        words = _text(line).split()
        assert cells(line) <= width
        assert {"?", "q"} <= set(words)
        assert "…" not in _text(line)


@pytest.mark.parametrize(("name", "key"), [
    ("asked", "d answer"), ("paused", "p unpause"), ("limited", "w retry now"),
    ("stuck", "u resume"), ("steady", "o report"), ("running", ""),
])  # fmt: skip
@pytest.mark.parametrize("width", [40, 50, 59])
def test_one_line_names_the_key_that_matters(name: str, key: str, width: int) -> None:
    head = OneLine()
    head.state = _state(name)
    head.now = head.state.at
    line = head.line(0, width)
    assert cells(line) <= width
    assert _text(line).endswith(key)
    if not key:
        assert "  " not in _text(line).strip()


def test_one_line_keeps_its_figures_where_the_key_has_no_room() -> None:
    head = OneLine()
    head.state = _state("steady")
    head.now = head.state.at
    for width in range(18, 40):
        assert "6/10 100 %" in _text(head.line(0, width)), width


def test_one_line_of_a_lost_run_names_the_key_that_goes_on() -> None:
    head = OneLine(recorded=True)
    head.state = _state("running")
    head.now, head.lost = head.state.at, True
    assert _text(head.line(0, 50)).endswith("  u resume")


@pytest.mark.parametrize("name", STORIES)
@pytest.mark.parametrize("recorded", [False, True])
def test_at_80_columns_every_key_of_the_footer_keeps_its_word(name: str, *, recorded: bool) -> None:
    driver = replay(STORIES[name]()) if recorded else live(STORIES[name]())
    state = driver.source.poll(RunState(), 0)
    shown = "".join(text for text, _ in keys_line(state, driver.source, 80))
    assert len(shown) <= 80
    assert shown.endswith("? help  q leave")
