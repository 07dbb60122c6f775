"""Details of a point of the run, or of the changes between two points.

Pure functions. For a point within an iteration, only facts known at that moment are shown.
"""

from collections.abc import Iterator
from datetime import datetime

from ralph_tui.analysis.context import use_of
from ralph_tui.events import GateFinished, InterventionMade, WorktreeRestored
from ralph_tui.state import CheckpointPoint, ContextUse, IterationSpan, RunState
from ralph_tui.text import terms
from ralph_tui.text.format import (
    clock,
    count,
    duration,
    filled,
    memory_size,
    money,
    percent,
    place,
    points,
    points_gained,
    step,
)
from ralph_tui.tui.draw.cutting import middle, name_of_test
from ralph_tui.tui.draw.spans import Line, cells, clip, flat, flat_name, wrap
from ralph_tui.tui.draw.words import lines_changed, tokens
from ralph_tui.tui.panes.files import STYLES
from ralph_tui.tui.panes.iteration_cells import (
    CUT_OFF,
    agents_words,
    cut_off_words,
    is_open,
    kept_words,
)
from ralph_tui.tui.panes.timeline_points import TimelinePoint, gate_before, to_restore

MAX_ALARMS = 2
"""Maximum number of alarms shown for one iteration."""


def made(span: IterationSpan, state: RunState, width: int) -> list[Line]:
    """Draw the interventions of an iteration, or its alarms if it had no interventions."""
    if span.interventions:
        return [row for one in span.interventions for row in _intervention(one, state, width)]
    rows: list[Line] = []
    for alarm in span.alarms[:MAX_ALARMS]:
        mark = terms.LEVELS[terms.SEVERITIES[alarm.severity]].glyph
        style = terms.LEVEL_TONES[terms.SEVERITIES[alarm.severity]]
        what = f"{mark} {terms.alarm_words(alarm.alarm)} "
        rows.append([(what, f"{style} strong"), ("raised here", "dim")])
    return rows


def point_rows(point: TimelinePoint, state: RunState, width: int) -> list[Line]:
    """Draw the details of a checkpoint or restore."""
    if point.rollback is not None:
        return _rollback(point.rollback, state, width)
    checkpoint = point.checkpoint
    if checkpoint is None:
        return []
    where = f"{checkpoint.name} {kept_words(checkpoint)}"
    rows: list[Line] = [[(where, "accent"), (f"  {clock(checkpoint.at, seconds=True)}", "dim")]]
    if held := _session_note(checkpoint):
        rows.append([(held, "dim")])
    for text, style in ((checkpoint.note, "text"), (checkpoint.error, "warn")):
        if text:
            rows += [[(piece, style)] for piece in wrap(text, width, 3)]
    return rows


def _session_note(checkpoint: CheckpointPoint) -> str:
    """Return ``41m into the session · agent peak 312 MB``, without unknown parts."""
    parts = []
    if checkpoint.session_id and checkpoint.trigger != "start":
        parts.append(f"{duration(checkpoint.duration_s)} into the session")
    if checkpoint.memory_bytes:
        parts.append(f"agent peak {memory_size(checkpoint.memory_bytes)}")
    return " · ".join(parts)


def _intervention(made: InterventionMade, state: RunState, width: int) -> list[Line]:
    known = state.oversight.interventions
    recorded = next((other for other in known if other.seq == made.seq), None)
    head: Line = [
        (f"{terms.CRITICAL.glyph} {made.level}", "bad strong"),
        (f" {terms.subject_words(flat(made.about))}", "text"),
    ]
    if recorded is not None and recorded.decision:
        head += [("  ", ""), (flat(recorded.decision, 60), "owner")]
    if recorded is not None and recorded.effect is not None:
        gained, after = recorded.effect.points, recorded.effect.after
        head.append((f", after {after}: ", "dim"))
        head.append((points_gained(gained), "good" if gained >= 1 else "warn"))
    return [head, *([(row, "dim")] for row in wrap(made.reason, width, 3))]


def _rollback(back: WorktreeRestored, state: RunState, width: int) -> list[Line]:
    taken = state.timeline.snapshots.get(back.snapshot)
    where = f"snapshot {back.snapshot}" + (f", {place(taken.iteration)}" if taken else "")
    head: Line = [(f"{terms.ROLLED_BACK.glyph} restored", "owner strong"), (f" {where}", "text")]
    head.append((f"  {count(back.files, 'file')}, by {flat(back.by, 40)}", "dim"))
    if not back.kept:
        return [head]
    words = f"{count(back.left_alone, 'file')} left alone"
    return [head, *([(row, "dim")] for row in wrap(words, width, 2))]


MINUTE_S = 60.0
MIN_NAME = 16
"""Minimum number of free cells for showing the name of a failing test."""


def facts(
    point: TimelinePoint,
    state: RunState,
    now: datetime,
    width: int,
    way_back: str = "",
    until: str = "now",
) -> list[Line]:
    """Return everything known about a point.

    `way_back` describes how to restore its files from here. `until` is shown as the end of an open
    iteration: `CUT_OFF` if its process is gone, or empty to show the time instead.
    """
    span = point.span
    if until == CUT_OFF and point.whole and span.number and is_open(span, state):
        head, rest = _when(span, state, now, until), _files(span, width)
        return [head, [(f"{cut_off_words(span)}; it has no snapshot of its own", "warn")], *rest]
    calm: list[Line] = []
    if point.is_partial:
        rows = [_name(point), *_before(span, state), *_tests(_gate_at(point, state), None, width)]
    else:
        use = use_of(state, span)
        happened, calm = _context(use) if use is not None else ([], [])
        rows = [
            _when(span, state, now, until),
            *_gain(span, state),
            *happened,
            *_files(span, width),
        ]
        rows += [*_tests(span.gate, gate_before(span, state), width), *made(span, state, width)]
    return [*rows, *point_rows(point, state, width), *_saved(point, state, way_back, width), *calm]


def difference(
    first: TimelinePoint, second: TimelinePoint, state: RunState, now: datetime, width: int
) -> list[Line]:
    """Draw the difference between two points, the earlier one first."""
    began, ended = first.at or now, second.at or now
    head: Line = [(first.name, "strong"), (f" {clock(began)}", "dim"), (" → ", "focus")]
    head += [(second.name, "strong"), (f" {clock(ended)}", "dim")]
    took = max(0.0, (ended - began).total_seconds())
    return [
        head,
        _change_row(first, second, state, duration(took)),
        *_tests(_gate_at(second, state), _gate_at(first, state), width),
    ]


def _gate_at(point: TimelinePoint, state: RunState) -> GateFinished | None:
    """Return a point's measurement; within an iteration, that of the files it started with."""
    return gate_before(point.span, state) if point.is_partial else point.span.gate


def _change_row(first: TimelinePoint, second: TimelinePoint, state: RunState, took: str) -> Line:
    before, after = _completion(first), _completion(second)
    row: Line = []
    if before is not None and after is not None:
        row += [_change(before, after), (f"  {_course(before, after)} · ", "text")]
    row.append((f"{took} apart", "dim"))
    spans = list(_spans_between(first, second, state))
    done = [s.finished for s in spans if s.finished is not None]
    costs = [end.cost_usd for end in done if end.cost_usd is not None]
    if done and len(done) == len(spans) and not (first.is_partial or second.is_partial):
        used = sum(end.tokens for end in done)
        parts = [f"${sum(costs):.2f}"] if len(costs) == len(done) else []
        partial = any(span.tokens_partial for span in spans)
        parts += [f"{tokens(used, partial=partial)} tok"] if used else []
        row += [(f" · {' · '.join(parts)}", "dim")] if parts else []
    return row


def _spans_between(
    first: TimelinePoint, second: TimelinePoint, state: RunState
) -> Iterator[IterationSpan]:
    """Yield the iterations that lie completely between two points."""
    for span in state.timeline.spans:
        begins = first.span.start_seq < span.start_seq or (span is first.span and first.is_partial)
        ends = span.start_seq < second.span.start_seq or (
            span is second.span and not second.is_partial
        )
        if begins and ends:
            yield span


def _completion(point: TimelinePoint) -> float | None:
    return point.span.previous if point.is_partial else point.span.completion


def _name(point: TimelinePoint) -> Line:
    when = "" if point.at is None else f"  {clock(point.at)}"
    return [(_title(point.span), "strong"), (when, "dim")]


def _title(span: IterationSpan) -> str:
    return f"iteration {span.number}" if span.number else "before iteration 1"


def _before(span: IterationSpan, state: RunState) -> list[Line]:
    began = state.timeline.began_with(span)
    if began is None:
        return [[("not measured", "dim")]]
    return [[(percent(began), "text"), (" before it", "dim")]]


def _when(span: IterationSpan, state: RunState, now: datetime, open_end: str) -> Line:
    end = span.ended_at or (None if state.run.live else state.run.ended_at)
    seconds = ((end or now) - span.started_at).total_seconds()
    # For less than a minute, hours and minutes alone would show no difference.
    short = seconds < MINUTE_S
    until = clock(end or now, seconds=short) if end or not open_end else open_end
    times = f"{clock(span.started_at, seconds=short)}–{until} · {duration(seconds)}"
    head: Line = [(_title(span), "strong"), (f"  {times}", "dim")]
    if span.finished is not None:
        cost = span.finished.cost_usd
        spent = "" if cost is None else f" · {money(cost, estimated=span.cost_estimated)}"
        used = tokens(span.finished.tokens, partial=span.tokens_partial)
        used = f" · {used} tok" if span.finished.tokens else ""
        head.append((f"{spent}{used}", "dim"))
    agents = agents_words(span, state)
    return [*head, *([(" · ", "dim"), (agents, "text")] if agents else [])]


def _context(use: ContextUse) -> tuple[list[Line], list[Line]]:
    """Return rows to show early and rows to show late; handoffs and compactions go early."""
    if use.peak_percent is None and not (use.rollovers or use.compactions):
        return [], []
    parts = ["peak " + ("unknown" if use.peak_percent is None else filled(use.peak_percent))]
    if use.rollovers:
        parts.append(f"{terms.ROLLOVER.glyph} {count(use.rollovers, 'handoff')}")
    if use.compactions:
        parts.append(f"{terms.COMPACTED.label} {count(use.compactions, 'time')}")
    rows: list[Line] = [[("context ", "dim"), (" · ".join(parts), "text")]]
    return (rows, []) if len(parts) > 1 else ([], rows)


def _gain(span: IterationSpan, state: RunState) -> list[Line]:
    if span.completion is None:
        return [[("not measured" if span.ended_at else "not measured yet", "dim")]]
    if span.kept:
        return [[(f"not measured; still {percent(span.completion)}", "warn")]]
    began = state.timeline.began_with(span)
    if began is None:
        where = " (these files were not measured before)" if span.number else " at the start"
        return [[(percent(span.completion), "text"), (where, "dim")]]
    row: Line = [_change(began, span.completion)]
    row.append((f"  {_course(began, span.completion)}", "text"))
    if span.number == state.run.best_iteration and state.run.completions:
        row.append((f"  {terms.BEST.label} so far", "good"))
    return [row]


def _change(before: float, after: float) -> tuple[str, str]:
    """Return the gain between two measurements in words, and its style."""
    style = "good" if after > before else "bad" if after < before else "dim"
    return points_gained(step(before, after)), style


def _course(before: float, after: float) -> str:
    """Return ``64 → 72 %``."""
    return f"{points(before, after)} → {percent(after, before)}"


def _files(span: IterationSpan, width: int) -> list[Line]:
    """Draw the number of changed files, and as many of the first names as fit."""
    if span.files is None or not span.files.changes:
        return []
    if span.finished is not None and span.files.seq > span.finished.seq:
        return []  # later changes, by hand or by a restore, are not its work
    totals = span.files.totals
    number = sum(total.files for total in totals) or len(span.files.changes)
    row: Line = [(count(number, "file"), "text")]
    sizes = lines_changed(sum(t.added for t in totals), sum(t.removed for t in totals))
    row += [(" ", ""), *sizes] if sizes else []
    row.append((": ", "dim"))
    for index, change in enumerate(span.files.changes):
        name = middle(flat_name(change.path).rsplit("/", 1)[-1], 28)
        more = number - index
        rest = f" and {more} more" if more else ""
        if cells(row) + len(name) + 2 + len(rest) > width and index:
            return [[*row, (rest, "dim")]]
        row += [("  ", "") if index else ("", ""), (name, STYLES.get(change.category, "text"))]
    more = number - len(span.files.changes)
    return [[*row, (f" and {more} more", "dim")] if more > 0 else row]


def _tests(gate: GateFinished | None, before: GateFinished | None, width: int) -> list[Line]:
    """Draw ``tests 47 → 41 of 66``, or whether the completion command passed."""
    if gate is None:
        return []
    term, style = (terms.PASSED, "good") if gate.ok else (terms.FAILED, "bad")
    if gate.passed is None:
        row: Line = [("completion command ", "dim"), (f"{term.glyph} ", style)]
        return [[*row, (gate.ended, "text")]]
    if gate.broken:
        broken: Line = [("tests ", "dim"), (f"{terms.FAILED.glyph} build broken: ", "warn")]
        return [[*broken, (clip(flat(gate.broken, 1000), max(1, width - cells(broken))), "text")]]
    row = [("tests ", "dim"), (f"{term.glyph} ", style)]
    came = before is not None and before.passed is not None and before is not gate
    if came and before is not None and before.passed != gate.passed:
        whole = f" of {before.total}" if before.total != gate.total else ""
        row.append((f"{before.passed}{whole} → ", "dim"))
    row.append((f"{gate.passed} of {gate.total} pass", "text"))
    if gate.failing:
        room = width - cells(row) - len(" ·  fails")
        if room >= MIN_NAME:
            row.append((f" · {name_of_test(flat(gate.failing[0], 1000), room)} fails", "dim"))
    return [row]


def _saved(point: TimelinePoint, state: RunState, way_back: str, width: int) -> list[Line]:
    """Draw the snapshot that has the point's files and, if it fits, how to restore it."""
    taken = to_restore(point, state)
    if taken is None or (is_open(point.span, state) and point.whole):
        return []
    row: Line = [(f"saved as snapshot {taken.number}", "text")]
    if point.rollback is not None:
        row = [(f"previous files: snapshot {taken.number}", "text")]
    way: Line = [(f" · {way_back.replace('{}', str(taken.number))}", "dim")] if way_back else []
    return [[*row, *way] if cells(row) + cells(way) <= width else row]
