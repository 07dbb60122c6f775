"""The context in the cockpit: its pane, the key that rolls it over, the handoff's dialog."""

from itertools import product
from pathlib import Path

import pytest

from ralph_tui import events as ev
from ralph_tui.commands import Answer, Hold, RollOver
from ralph_tui.runtime.sources.replay import Replay
from ralph_tui.state import RunState
from ralph_tui.tui.cockpit.footer import keys_line
from ralph_tui.tui.draw.spans import cells
from ralph_tui.tui.panes.details import DetailsPane
from ralph_tui.tui.panes.facts import facts
from ralph_tui.tui.panes.iteration_cells import glyph_of
from ralph_tui.tui.panes.timeline_points import points_of
from tests.rows import each_row
from tests.tui.driving import Driver, drive, live, replay, story
from tests.tui.test_decisions import area, opened
from tests.world.windows import HANDOFF, WINDOWS, folder


def rows(
    name: str, width: int = 60, *, place: Path | None = None, chosen: int | None = None
) -> list[str]:
    """The pane's rows at the end of a story."""
    events = story(name)
    pane = DetailsPane(Replay(events, place))
    pane.state = RunState().apply_all(events)
    pane.chosen = chosen
    pane.changed()
    built = pane.build(width, 30)
    assert width < 40 or all(cells(row) <= width for row in built)
    lines = ["".join(text for text, _ in row).rstrip() for row in built]
    if width < 20:
        return lines
    past = lines[:1] if chosen is not None else []
    return [*past, *lines[lines.index("context window") + 1 :]]


def test_it_says_how_full_the_window_is_and_when_it_will_be() -> None:
    lines = rows("climbing")
    assert lines[:6] == [
        "71 % of 200k · 58k left · ▲ filling up",
        "▰" * 35 + "┊▱▱▱▱▱▱┊▱▱▱▱┊▱▱",
        "70 warns · 85 hands off · 95 stops",
        "85 % in about 2 tool calls",
        "item     carry the escape flag through nested groups ·",
        "         medium, 20-40 % of a window",
    ]


def test_every_iteration_has_a_bar_with_what_came_of_it() -> None:
    lines = [row for row in rows("forgot") if row[:1].isdigit() and row[2:3] == "▰"]
    assert [row[0] for row in lines] == ["1", "2", "3", "4"]
    assert [row[2:].lstrip("▰▱┊ ") for row in lines] == [
        "45 %",
        "62 %",
        "86 % ⟳",
        "82 % ⇣ compacted",
    ], "the window held more before the compaction"
    assert "⇣ compacted, from 82 % to 22 % of the window" in rows("forgot")


def test_a_window_of_which_nothing_is_known_is_said_to_be_so() -> None:
    text = " ".join(rows("unknown"))
    assert "unknown: this agent does not report its context usage; automatic" in text
    assert "1 unknown" in rows("unknown")


def test_the_newest_handoff_is_read_in_full(tmp_path: Path) -> None:
    lines = rows("forgot", 100, place=folder(tmp_path))
    at = lines.index("⟳ handoff 1 of iteration 3  09:30 at 86 %")
    assert lines[at + 1 : at + 3] == [
        "the window was nearly full · worded by a model, edited by you",
        "results/iter-003/handoff-1.md",
    ]
    assert lines[at + 3 :] == HANDOFF.rstrip().split("\n")


def test_without_its_file_the_record_tells_what_was_in_progress() -> None:
    text = "\n".join(rows("rolled_over", 100))
    for words in (
        "doing    Nested groups ask for the escape flag",
        "file     ralph_parser/groups.py, lines 45-120: the flag is carried, not yet read",
        "next     Read the flag in close_group",
        "you said Leave the public names as they are.",
        "The handoff is not available: this record came without its folder.",
    ):
        assert words in text
    assert "not yet passed to a session" in "\n".join(rows("between_sessions"))
    assert "not yet passed to a session" not in text


def test_a_handoff_outside_its_folder_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("root:x", "utf-8")
    attempt = tmp_path / "attempt"
    attempt.mkdir()
    events = story("rolled_over")
    at = next(i for i, event in enumerate(events) if isinstance(event, ev.HandoffWritten))
    events = [*events[:at], events[at].model_copy(update={"path": "../secret"}), *events[at + 1 :]]
    pane = DetailsPane(Replay(events, attempt))
    pane.state = RunState().apply_all(events)
    pane.changed()
    shown = "".join(text for row in pane.build(100, 30) for text, _ in row)
    assert "root:x" not in shown
    assert "The record names a handoff outside its own folder" in shown


@each_row(("name", "width"), product(WINDOWS, (1, 12, 31)))
def test_it_fits_any_width(name: str, width: int) -> None:
    assert rows(name, width)


def test_earlier_handoffs_are_read_by_looking_back(tmp_path: Path) -> None:
    place = folder(tmp_path)
    assert any("handoff 1 of iteration 3" in row for row in rows("forgot", place=place, chosen=3))
    without = rows("forgot", place=place, chosen=2)
    assert without[0].startswith("iteration 2  < > other iterations")
    assert without[-1] == "no handoff in this iteration"

    async def look(driver: Driver) -> None:
        await driver.press("9", "z")
        await driver.sees("31 % of 200k")
        await driver.press("less_than_sign")
        await driver.sees("iteration 3: tests, prompt, details; esc: latest")
        await driver.sees("iteration 3  < > other iterations")
        await driver.sees("2 sessions in iteration 3 · 1 handoff")
        await driver.sees("# Handoff 1 of iteration 3")

    drive(live(story("forgot"), folder=place), look, (80, 24))


@pytest.mark.parametrize("size", [(80, 24), (140, 45)])
def test_a_replay_shows_it_on_the_same_screen(size: tuple[int, int]) -> None:
    async def look(driver: Driver) -> None:
        await driver.press("end", "9", "z")
        await driver.sees("9 details")
        await driver.sees("24 % of 200k · 152k left")

    drive(replay(story("rolled_over")), look, size)


def test_it_is_drawn_anew_only_when_something_of_it_changes() -> None:
    state = RunState().apply_all(story("rolled_over"))
    pane = DetailsPane(Replay(story("rolled_over")))
    before = pane.stamp(state, state.at)
    tool = next(event for event in story("rolled_over") if event.kind == "tool_finished")
    state.apply(tool.model_copy(update={"seq": state.seq + 1, "tool_id": "next"}))
    assert pane.stamp(state, state.at) == before
    used = next(event for event in story("rolled_over") if event.kind == "usage_reported")
    state.apply(used.model_copy(update={"seq": state.seq + 1, "context_tokens": 99_000}))
    assert pane.stamp(state, state.at) != before


# the timeline -------------------------------------------------------------------------------------


def test_the_timeline_marks_the_rollover_and_tells_what_the_window_came_to() -> None:
    state = RunState().apply_all(story("forgot"))
    points = points_of(state)
    third = [point for point in points if point.span.number == 3]
    rolled = next(point for point in third if point.checkpoint is not None)
    assert glyph_of(rolled)[0] == "⟳"
    lines = ["".join(text for text, _ in row) for row in facts(rolled, state, state.at, 80)]
    assert any(row.startswith("snapshot 7 at a handoff") for row in lines)
    lines = ["".join(text for text, _ in row) for row in facts(third[0], state, state.at, 80)]
    assert "context peak 86 % · ⟳ 1 handoff" in lines
    last = next(point for point in points if point.span.number == 4)
    lines = ["".join(text for text, _ in row) for row in facts(last, state, state.at, 80)]
    assert "context peak 82 % · ⇣ compacted 1 time" in lines


# the key ------------------------------------------------------------------------------------------


def test_the_key_asks_what_it_will_do_and_sends_it() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("C")
        await driver.sees("Hand off to a fresh session in iteration 3?")
        await driver.sees("Its context is 71 % full; the running tool has 1m to finish.")
        await driver.press("n")
        assert driver.sent == []
        await driver.press("C", "y")
        await driver.sees("C hand off: sent; a running tool may end first")

    assert drive(live(story("climbing")), look).sent == [RollOver()]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("limited", "no session is running"),
        ("steady", "the run has ended"),
        ("paused", "no session is running"),
    ],
)
def test_the_key_says_why_not(name: str, why: str) -> None:
    async def look(driver: Driver) -> None:
        await driver.press("C")
        await driver.sees(f"C hand off: {why}")

    assert drive(live(story(name)), look).sent == []


def test_a_session_that_ends_while_it_is_asked_is_not_handed_over() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("C")
        await driver.sees("Hand off to a fresh session")
        state = driver.cockpit.state
        end = ev.SessionFinished(iteration=3, outcome="success", seq=state.seq + 1, at=state.at)
        driver.inbox.append(end)
        await driver.sees("C hand off: no session is running")
        assert driver.cockpit.is_current, "a question may have been waiting behind it"

    assert drive(live(story("climbing")), look).sent == []


def test_the_session_after_the_one_it_was_asked_about_works_on() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("C")
        await driver.sees("Hand off to a fresh session")
        state = driver.cockpit.state
        ended, at = state.seq + 1, state.at
        driver.inbox.append(ev.SessionFinished(iteration=3, outcome="success", seq=ended, at=at))
        driver.inbox.append(
            ev.SessionStarted(iteration=3, session_id="s", agent="a", seq=ended + 1, at=at)
        )
        await driver.sees("C hand off: that session has already ended")

    assert drive(live(story("climbing")), look).sent == []


def test_what_was_asked_for_already_is_refused() -> None:
    async def look(driver: Driver) -> None:
        state = driver.cockpit.state
        driver.inbox.append(ev.RolloverRequested(seq=state.seq + 1, at=state.at))
        await driver.until(lambda: driver.cockpit.state.context.requested_by)
        await driver.press("C")
        await driver.sees("C hand off: a context handoff is already in progress")

    assert drive(live(story("climbing")), look).sent == []


def test_the_footer_names_it_where_there_is_room() -> None:
    driver = live(story("climbing"))
    state = RunState().apply_all(story("climbing"))
    for width in (80, 100, 140):
        keys = "".join(text for text, _ in keys_line(state, driver.source, width))
        assert ("C hand off" in keys) == (width > 80)
        assert keys.rstrip().endswith("q leave"), "nothing else gives way for it"


# the handoff before it is sent --------------------------------------------------------------------


def test_a_handoff_is_read_in_full_and_sent_as_it_is() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        shown = "\n".join(driver.text())
        assert "Handoff in iteration 3" in shown
        assert "the handoff" in shown
        assert "in every prompt" not in shown
        await driver.sees("sends in 5")
        await driver.press("end")
        await driver.sees("Read the flag in close_group")
        await driver.press("y")

    assert drive(live(story("handoff_asked")), look).sent == [
        Answer(question_id="q1", answer="send")
    ]


def test_a_handoff_is_edited_and_sent_with_what_was_written() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        await driver.press("e", "A")
        assert area(driver).text == f"{HANDOFF}A"
        assert str(area(driver).border_title).strip() == "the handoff"
        await driver.press("enter")
        await driver.sees("the handoff, edited by you")
        await driver.press("y")

    assert drive(live(story("handoff_asked")), look).sent == [
        Hold(question_id="q1"),
        Answer(question_id="q1", answer="send", text=f"{HANDOFF}A".strip()),
    ]


def test_the_run_may_end_while_it_is_asked() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        state = driver.cockpit.state
        end: ev.Event = ev.RunFinished(
            outcome="aborted", reason="by you", iterations=3, completion=30
        )
        driver.inbox.append(end.model_copy(update={"seq": state.seq + 1, "at": state.at}))
        await driver.until(lambda: driver.app.screen is driver.cockpit)

    assert drive(live(story("handoff_asked")), look).sent == []
