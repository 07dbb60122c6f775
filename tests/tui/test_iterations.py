"""The iterations: a cell for each with its gain, wrapped; a table when zoomed; keys and mouse."""

import re
from collections.abc import Sequence
from datetime import timedelta
from itertools import product
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.events import CheckpointCaptured, InterventionMade, IterationStarted
from ralph_tui.runtime.sources.replay import Replay
from ralph_tui.state import RunState
from ralph_tui.state.fleet_work import FleetWork
from ralph_tui.text.terms import CRITICAL, alarm_words
from ralph_tui.tui.draw.spans import Line, cells
from ralph_tui.tui.modals.changes import Changes
from ralph_tui.tui.panes.facts import facts
from ralph_tui.tui.panes.iteration_cells import CellRow, groups_of, marks_of, rows_of
from ralph_tui.tui.panes.iteration_table import note_of
from ralph_tui.tui.panes.iterations import IterationsPane
from ralph_tui.tui.panes.timeline_points import points_of
from tests.tui.driving import Driver, drive, live, story
from tests.tui.fake_files import FakeFiles
from tests.world.decisions import DECISIONS
from tests.world.recorder import Recorder
from tests.world.stories import STORIES


def text_of(rows: Sequence[Line]) -> list[str]:
    return ["".join(text for text, _ in row) for row in rows]


def drawn(state: RunState, selected: int, width: int, most: int) -> list[CellRow]:
    points = points_of(state)
    return rows_of(groups_of(points, state, selected, None, lit=True), selected, width, most)


def built(name: str, width: int, height: int) -> list[str]:
    pane = IterationsPane(Replay(story(name)))
    pane.state = RunState().apply_all(story(name))
    pane.now = pane.state.at
    pane.changed()
    return text_of(pane.build(width, height))


def test_an_iteration_is_its_number_its_gain_and_its_marks() -> None:
    assert built("stuck", 100, 20)[0] == (
        "start 0 %   1 +30   2 +0   3 +1 ★   4 −1   5 +1   6 −1   7 +0   8 +1   9 −1   10 +1"
    )
    assert built("rolled_back", 76, 9)[0] == "start 0 %   1 +70 ★   2 −10   3 −10 ◆ ↶   4 ●"
    assert "6 +26 ★   7 ● ◈ ◈" in " ".join(built("running", 100, 20)[:1])


def test_who_worked_is_told_where_agents_changed() -> None:
    rows = built("taken_over", 76, 12)
    assert rows[0] == "start 0 %   1 +20   2 +20 codex   3 +10   4 +50 ★ claude"
    assert " · $0.26 · 140k tok · claude" in "\n".join(rows)
    state = RunState().apply_all(story("taken_over"))
    notes = ["".join(text for text, _ in note_of(span, state)) for span in state.timeline.spans]
    assert notes == ["", "claude", "claude, then codex", "codex", "claude"]
    assert "claude" not in "\n".join(built("stuck", 100, 20)), "one agent is named by the header"


def test_what_an_iteration_gained_is_told_against_the_files_that_it_began_with() -> None:
    """After a restore of iteration 1 at 70 %, 72 % is 2 more, not 22 more than the 50 before."""
    events = story("rolled_back")
    state = RunState().apply_all(events)
    assert state.timeline.spans[-1].previous == 50
    assert state.timeline.began_with(state.timeline.spans[-1]) == 70


def test_a_wait_leaves_one_state_however_often_it_is_tried_again() -> None:
    run = Recorder(10)
    run.baseline(0)
    run.iterations(30)
    for attempt in range(3):
        run.step(2, 10)
        start = CheckpointCaptured(iteration=2, number=attempt + 1, trigger="start", snapshot=2)
        if not attempt:
            run.add(IterationStarted(iteration=2, max_iterations=10))
        run.add(start)
    state = RunState().apply_all(run.events)
    assert len(state.timeline.spans[-1].checkpoints) == 3
    assert text_of([row.line for row in drawn(state, 0, 80, 1)]) == ["start 0 %   1 +30 ★   2 ●"]
    limited = RunState().apply_all(story("limited"))
    assert text_of([row.line for row in drawn(limited, 0, 80, 1)])[0].endswith("3 ◷")


def test_many_checkpoints_of_one_iteration_take_little_room() -> None:
    state = RunState().apply_all(story("running"))
    known = state.timeline.spans[-1].checkpoints
    for _ in range(20):
        known.append(known[-1])
    assert text_of([row.line for row in drawn(state, 0, 100, 1)])[0].endswith("7 ● ◈22")


LONG = RunState()


def long_run() -> RunState:
    if not LONG.timeline.spans:
        run = Recorder(60)
        run.baseline(0)
        run.iterations(*(40 + k % 7 for k in range(40)))
        LONG.apply_all(run.events)
    return LONG


@given(st.integers(0, 40), st.integers(20, 140), st.integers(1, 6))
def test_the_selected_and_the_newest_stay_in_view(selected: int, width: int, most: int) -> None:
    rows = drawn(long_run(), selected, width, most)
    assert len(rows) <= most
    assert all(cells(row.line) <= width for row in rows)
    shown = [index for row in rows for index, _, _ in row.hits]
    assert selected in shown
    if most > 1:
        assert 40 in shown, "the newest"
    assert sorted(set(shown)) == shown, "nothing stands twice"
    everything = drawn(long_run(), selected, width, 99)
    if len(everything) <= most:
        assert "…" not in "".join(text_of([row.line for row in rows]))


def test_a_row_that_is_too_long_goes_on_below_where_rows_are_free() -> None:
    rows = built("stuck", 40, 20)
    assert rows[0] == "start 0 %   1 +30   2 +0   3 +1 ★   4 −1"[:40].rstrip()
    assert rows[1].startswith("5 +1")


def test_the_selected_iteration_tells_what_came_of_it_and_the_way_back() -> None:
    events = story("steady")
    state = RunState().apply_all(events)
    point = next(p for p in points_of(state) if p.span.number == 3)
    text = text_of(facts(point, state, events[-1].at, 76, "r restores it"))
    assert text[0].startswith("iteration 3  09:")
    assert "$0.26" in text[0]
    assert text[1] == "+17 points  35 → 52 %"
    assert text[2].startswith("4 files +92 −11: ")
    assert text[3].startswith("tests ✗ 23 → 34 of 66 pass · test_nested_groups (")
    assert text[4] == "saved as snapshot 7 · r restores it"


def test_an_iteration_that_is_replayed_has_one_kind_of_clock_at_both_ends() -> None:
    events = story("steady")
    start = next(i for i, e in enumerate(events) if isinstance(e, IterationStarted))
    state = RunState().apply_all(events[: start + 1])
    later = events[start].at + timedelta(seconds=7)
    head = text_of(facts(points_of(state)[-1], state, later, 76, until=""))[0]
    assert re.fullmatch(r"iteration 1  (\d\d:\d\d:\d\d)–(\d\d:\d\d:\d\d) · 7s", head)


def test_alarms_and_what_was_asked_about_are_told_in_words() -> None:
    for name in STORIES | DECISIONS:
        if name == "hostile":
            continue
        state = RunState().apply_all(story(name))
        for span in state.timeline.spans:
            note = "".join(text for text, _ in note_of(span, state))
            assert not re.search("[A-Z]{4}|_", note), note
    assert alarm_words("BUDGET_EXCEEDED") == "limit nearly reached"
    assert alarm_words("STUCK") == "stuck"


def test_an_iteration_that_ended_in_an_abort_has_the_sign_of_the_legend() -> None:
    state = RunState().apply_all(story("steady"))
    span = state.timeline.spans[-1]
    assert CRITICAL.glyph not in text_of([marks_of(span, state)])[0]
    span.interventions.append(
        InterventionMade(iteration=span.number, level="ABORT", about="agent_error", reason="")
    )
    assert CRITICAL.glyph in text_of([marks_of(span, state)])[0]


def test_zoomed_it_is_a_table_that_keeps_the_selected_row_in_view() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("3", "z", "home")
        screen = driver.text()
        head = next(row for row in screen if "iteration  result" in row)
        assert "iteration  result  gain   tests" in head
        assert "start" in screen[screen.index(head) + 1]
        await driver.press("down", "down")
        assert driver.cockpit.body.timeline.points[2].key == driver.cockpit.body.timeline.chosen
        await driver.sees("+0     20/66      4 +92 −11")
        await driver.press("end")
        await driver.sees("saved as snapshot 21")

    drive(live(story("stuck")), look)


def test_a_click_selects_an_iteration_and_a_second_one_opens_its_changes() -> None:
    async def look(driver: Driver) -> None:
        pane = driver.cockpit.body.timeline
        for keys in (("3",), ("z",)):
            await driver.press(*keys)
            text = driver.text()
            row = next(
                i for i, line in enumerate(text) if "2 +17" in line or "2          35" in line
            )
            cell = text[row].index("2 +17") if "2 +17" in text[row] else 10
            await driver.pilot.click(pane, offset=(cell, row - pane.region.y))
            await driver.sees("+17 points  18 → 35 %")
            assert pane.points[pane.current].span.number == 2
            await driver.pilot.click(pane, offset=(cell, row - pane.region.y))
            await driver.until(lambda: isinstance(driver.app.screen, Changes))
            await driver.press("escape")
            pane.choose(None)

    drive(live(story("steady"), files=FakeFiles()), look)


@pytest.mark.parametrize("record", [".aiwg/fleets/fleet-001/1", "", None])
def test_a_snapshot_is_restored_by_its_runs_own_name(record: str | None) -> None:
    """Without a name the newest run is restored. None: the run is not a loop of a fleet."""
    work = None if record is None else FleetWork("fleet-001/1", "1649807", record=record)
    record = "task-001/001" if record is None else record
    source = Replay(story("steady"))
    source.record = SimpleNamespace(fleet=work)
    pane = IterationsPane(source, refused=lambda _: "it is over")
    pane.state = RunState().apply_all(story("steady"))
    pane.now = pane.state.at
    pane.changed()
    text = "\n".join(text_of(pane.build(100, 20)))
    assert "saved as snapshot" in text
    assert (f"--run {record}" in text) if record else ("ralph-tui restore" not in text)


@pytest.mark.parametrize("name", ["hostile", "rolled_back", "empty"])
def test_it_fits_any_place(name: str) -> None:
    pane = IterationsPane(Replay(story(name)))
    pane.state = RunState().apply_all(story(name))
    pane.now = pane.state.at
    pane.changed()
    for width, height, zoomed in product((10, 30, 136), (1, 6, 20), (False, True)):
        pane.zoomed = zoomed
        for row in pane.build(width, height):
            assert all("\n" not in text and "\x1b" not in text for text, _ in row)
