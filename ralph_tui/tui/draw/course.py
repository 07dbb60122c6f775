"""The data behind the progress chart, as plain numbers. Pure; drawn by `chart`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from ralph_tui.analysis.verdict import iterations_left, leads
from ralph_tui.events import ReadingTaken, WorktreeRestored
from ralph_tui.layers.control.advice import iterations_needed
from ralph_tui.layers.control.alarms import PROGRESS_ALARMS
from ralph_tui.state import ChartMark, RunState, SignalPoint
from ralph_tui.text.terms import BEST, CRITICAL, ROLLED_BACK, WARNING
from ralph_tui.tui.draw.scale import within
from ralph_tui.tui.draw.spans import Span

ROOM_AHEAD = 12
"""Minimum number of iterations on the axis of a live run, if its limit allows that many."""

Point = tuple[int, float]
"""Iteration and value."""


class Projection(NamedTuple):
    """Projection of a run at its current pace, to the goal or to the end of its budget."""

    since: Point
    """Start of the line: the last measurement, moved past iterations without one."""
    iteration: float
    """End of the line; fractional if it meets the goal between two iterations."""
    points: float
    at: int
    """The iteration after which the projected value is reached."""


@dataclass
class Course:
    """Completion and control output by iteration; completion in points 0-100, terms 0-1."""

    segments: list[list[Point]] = field(default_factory=list)
    """Completion; a restore or a new source of measurements starts a new segment."""
    best: Point | None = None
    ahead: Projection | None = None
    end: int = 1
    """The last iteration on the axis."""
    signals: Sequence[SignalPoint] = ()
    marks: dict[int, list[Span]] = field(default_factory=dict)
    """Glyphs for the events of an iteration."""

    @property
    def now(self) -> Point | None:
        """The latest measurement."""
        return next((part[-1] for part in reversed(self.segments) if part), None)


def course_of(state: RunState) -> Course:
    """Collect the chart's numbers from the state."""
    readings = state.gate.readings
    if not readings:
        return Course()
    run, limit = state.run, state.run.max_iterations
    best = state.best_span if run.completions else None
    found = None if best is None or best.completion is None else (best.number, best.completion)
    leads = ahead_of(state)
    done = max(readings[-1].iteration, leads.since[0] if leads else 0)
    return Course(
        segments=segments(readings, restores(state)),
        best=None if found is None else (found[0], within(found[1])),
        ahead=leads,
        end=horizon(done, limit, live=run.live, projected_end=leads.at if leads else 0),
        signals=state.control.points,
        marks=glyphs(marks_of(state), run.best_iteration if found else None),
    )


def horizon(done: int, limit: int, *, live: bool, projected_end: int = 0) -> int:
    """Return the last iteration on the axis: those done, plus those still possible in a live run.

    On a long axis, completed iterations fill at least half, or a third if a forecast ends there.
    """
    if not live:
        return max(1, done)
    needed = projected_end if projected_end <= 3 * done else 0
    return max(1, done, min(limit, max(ROOM_AHEAD, 2 * done, needed)))


def ahead_of(state: RunState) -> Projection | None:
    """Return the forecast from the latest measurement and the verdict's numbers; None if unknown.

    A run judged stuck, oscillating or regressing has no forecast.
    """
    run, signal = state.run, state.control.latest
    if state.oversight.episode is not None or any(
        name in state.control.alarms for name in PROGRESS_ALARMS
    ):
        return None
    if signal is None or not leads(state):
        return None
    if not run.live or state.oversight.stale or run.completion is None:
        return None
    left = iterations_left(state, signal.iteration)
    return ahead((run.max_iterations - left, run.completion), signal.forecast, left)


def ahead(since: Point, forecast: float | None, left: int) -> Projection | None:
    """Project the current pace over at most `left` iterations; it needs `forecast` to the goal."""
    iteration, points = since[0], within(since[1])
    if forecast is None or points >= 100 or left <= 0:
        return None
    need = iterations_needed(forecast)
    if need <= left:
        return Projection((iteration, points), iteration + forecast, 100.0, iteration + need)
    reached = min(100.0, points + (100 - points) / forecast * left)
    return Projection((iteration, points), iteration + left, reached, iteration + left)


def restores(state: RunState) -> list[tuple[WorktreeRestored, Point | None]]:
    """Return each restore with its snapshot's measurement, at the iteration of the restore."""
    found = []
    for span in state.timeline.spans:
        for back in span.rollbacks:
            then = state.timeline.measured(back)
            known = None if then is None or then.completion is None else then.completion
            found.append((back, None if known is None else (span.number, known)))
    return found


def segments(
    readings: Sequence[ReadingTaken], restored: Sequence[tuple[WorktreeRestored, Point | None]] = ()
) -> list[list[Point]]:
    """Return measurements in segments, each drawn as one line.

    A restore or a new source of measurements starts a segment, because neither is progress.
    """
    parts: list[list[Point]] = [[]]
    waiting = list(restored)
    for before, reading in pairwise([None, *readings]):
        assert reading is not None
        passed = [one for one in waiting if before and one[0].seq < reading.seq]
        waiting = waiting[len(passed) :]
        if passed and before is not None:
            parts.append([] if passed[-1][1] is None else [_start_of(before, passed[-1][1])])
        elif reading.restarted:
            parts.append([])
        parts[-1].append((reading.iteration, within(reading.completion)))
    return [part for part in parts if part]


def _start_of(before: ReadingTaken, restored: Point) -> Point:
    return before.iteration, within(restored[1])


def marks_of(state: RunState) -> list[ChartMark]:
    """Return alarms, interventions and restores with their iterations."""
    marks = list(state.control.marks)
    for span in state.timeline.spans:
        marks += [
            ChartMark(span.number, CRITICAL.glyph, made.level, "critical")
            for made in span.interventions
        ]
        marks += [
            ChartMark(span.number, ROLLED_BACK.glyph, "ROLLBACK", "warning") for _ in span.rollbacks
        ]
    return marks


def glyphs(marks: Sequence[ChartMark], best: int | None) -> dict[int, list[Span]]:
    """Return each iteration's glyphs without duplicates, with the best one's star first."""
    found: dict[int, list[Span]] = {} if best is None else {best: [(BEST.glyph, "good")]}
    styles = {WARNING.glyph: "warn", ROLLED_BACK.glyph: "owner"}
    for mark in marks:
        spans = found.setdefault(mark.iteration, [])
        span = (mark.glyph, styles.get(mark.glyph, "bad"))
        if span not in spans:
            spans.append(span)
    return found
