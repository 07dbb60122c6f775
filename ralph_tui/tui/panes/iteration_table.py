"""A run as a table with one row per iteration, checkpoint and restore.

Pure functions. If not all columns fit, the least informative ones are omitted.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ralph_tui.state import IterationSpan, RunState
from ralph_tui.text.format import clock, duration, money, percent, place
from ralph_tui.text.terms import alarm_words, subject_words
from ralph_tui.tui.draw.spans import Line, cells, clip, clip_line, flat, spread
from ralph_tui.tui.draw.words import lines_changed
from ralph_tui.tui.panes.iteration_cells import (
    agents_words,
    gain_or_state,
    glyph_of,
    is_open,
    kept_words,
    marks_of,
)
from ralph_tui.tui.panes.timeline_points import TimelinePoint

MIN_NOTE = 16
"""Minimum width of the note in cells; columns are dropped to make room for it."""
GAP = 2


class _Column(NamedTuple):
    heading: str
    width: int
    spare: int
    """Columns with higher values are dropped first; 0 means never."""
    of: Callable[[IterationSpan, RunState], Line]


def _number(span: IterationSpan, state: RunState) -> Line:
    spans: Line = [(str(span.number) if span.number else "start", "text")]
    for mark in marks_of(span, state):
        spans += [(" ", ""), mark]
    return spans


def _reading(span: IterationSpan, _: RunState) -> Line:
    return [] if span.completion is None else [(percent(span.completion), "text")]


def _gain(span: IterationSpan, state: RunState) -> Line:
    if span.completion is not None and not span.kept and state.timeline.gain(span) is None:
        return []
    return [gain_or_state(span, state)]


def _tests(span: IterationSpan, _: RunState) -> Line:
    gate = span.gate
    if gate is None:
        return []
    if gate.passed is None:
        return [("passed" if gate.ok else "failed", "good" if gate.ok else "bad")]
    if gate.broken:
        return [("no build", "bad")]
    return [(f"{gate.passed}/{gate.total}", "text")]


def _files(span: IterationSpan, _: RunState) -> Line:
    done = span.finished
    if done is None or not done.files:
        return []
    return [(f"{done.files} ", "text"), *lines_changed(done.added, done.removed)]


def _cost(span: IterationSpan, _: RunState) -> Line:
    cost = span.finished.cost_usd if span.finished is not None else None
    return [] if cost is None else [(money(cost, estimated=span.cost_estimated), "dim")]


def _time(span: IterationSpan, _: RunState) -> Line:
    end = span.ended_at
    return [] if end is None else [(duration((end - span.started_at).total_seconds()), "dim")]


COLUMNS = (
    _Column("iteration", 9, 0, _number),
    _Column("result", 6, 0, _reading),
    _Column("gain", 5, 0, _gain),
    _Column("tests", 9, 1, _tests),
    _Column("files", 14, 2, _files),
    _Column("cost", 7, 3, _cost),
    _Column("time", 7, 4, _time),
)


def note_of(span: IterationSpan, state: RunState) -> Line:
    """Return further information about an iteration.

    It shows the agents, if several worked in the run, and the interventions or alarms.
    """
    agents, said = agents_words(span, state), _events_note(span, state)
    if not agents:
        return said
    return [(agents, "text"), *([("; ", "dim"), *said] if said else [])]


def _events_note(span: IterationSpan, state: RunState) -> Line:
    if span.interventions:
        made = span.interventions[-1]
        known = state.oversight.interventions
        latest = next((other for other in known if other.seq == made.seq), None)
        decided = f": {flat(latest.decision, 60)}" if latest is not None and latest.decision else ""
        return [(f"{subject_words(flat(made.about), flat(made.reason))}{decided}", "text")]
    if span.alarms:
        return [
            (", ".join(dict.fromkeys(alarm_words(alarm.alarm) for alarm in span.alarms)), "dim")
        ]
    if span.kept or (span.completion is None and not is_open(span, state)):
        return [("not measured", "dim")]
    return []


def point_words(point: TimelinePoint, state: RunState) -> str:
    """Describe a checkpoint or a restore."""
    if point.rollback is not None:
        found = state.timeline.iteration_of(point.rollback.snapshot)
        where = f"snapshot {point.rollback.snapshot}" if found is None else place(found)
        return f"restored {where}, by {flat(point.rollback.by, 40)}"
    assert point.checkpoint is not None
    note = f": {flat(point.checkpoint.note)}" if point.checkpoint.note else ""
    return f"{point.checkpoint.name} {kept_words(point.checkpoint)}{note}"


def table(
    points: Sequence[TimelinePoint],
    state: RunState,
    selected: int,
    mark: int | None,
    width: int,
    height: int,
    *,
    lit: bool,
) -> tuple[list[Line], range]:
    """Return the table in at most `height` rows, and the indices of the drawn points.

    The selected point is always visible.
    """
    columns = _columns(width - 2)
    room = max(1, height - 1)
    first = min(max(0, selected - room // 2), max(0, len(points) - room))
    drawn = range(first, min(len(points), first + room))
    head: Line = [("  ", ""), *_join_fields([[(c.heading, "dim")] for c in columns], columns)]
    head.append(("note", "dim"))
    more: Line = []
    if len(drawn) < len(points):
        more = [(f"{drawn.start + 1}-{drawn.stop} of {len(points)}", "dim")]
    rows: list[Line] = [spread(head, more, width)]
    for index in drawn:
        row = _row(points[index], state, columns, width)
        row = [("›" if index == mark else " ", "focus"), (" ", ""), *row]
        if index == selected:
            style = "cursor" if lit else "strong"
            row = [(text, f"{tone} {style}".strip()) for text, tone in clip_line(row, width)]
            row.append((" " * max(0, width - cells(row)), style))
        rows.append(row)
    return rows, drawn


def _columns(width: int) -> list[_Column]:
    kept = list(COLUMNS)
    while sum(c.width + GAP for c in kept) + MIN_NOTE > width and kept[-1].spare:
        kept.remove(max(kept, key=lambda column: column.spare))
    return kept


def _row(point: TimelinePoint, state: RunState, columns: Sequence[_Column], width: int) -> Line:
    if not point.whole:
        glyph, style = glyph_of(point)
        head: Line = [("  ", ""), (f"{glyph} ", style)]
        when = f"{clock(point.at)}  " if point.at is not None else ""
        words = clip(f"{when}{point_words(point, state)}", max(1, width - 4 - GAP))
        return [*head, (words, "dim" if point.checkpoint is not None else "owner")]
    fields = [column.of(point.span, state) for column in columns]
    return [*_join_fields(fields, columns), *note_of(point.span, state)]


def _join_fields(fields: Sequence[Line], columns: Sequence[_Column]) -> Line:
    line: Line = []
    for field, column in zip(fields, columns, strict=True):
        drawn = clip_line(field, column.width)
        line += [*drawn, (" " * (column.width - cells(drawn) + GAP), "")]
    return line
