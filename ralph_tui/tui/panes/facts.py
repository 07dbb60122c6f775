"""What is known of a point of the run, and of the way from one to another.

Rule: pure; and of a point inside an iteration only that is told which was known at that moment.
"""

from collections.abc import Iterator
from datetime import datetime

from ralph_tui.analysis.context import use_of
from ralph_tui.events import GateFinished, InterventionMade, WorktreeRestored
from ralph_tui.state import CheckpointPoint, ContextUse, IterationSpan, RunState
from ralph_tui.state.wording import gate_words
from ralph_tui.text.format import (
    clock,
    count,
    duration,
    filled,
    memory_size,
    percent,
    points,
    points_gained,
    step,
)
from ralph_tui.text.terms import (
    BEST,
    CHECKPOINTS,
    CRITICAL,
    FAILED,
    FORGOT,
    PASSED,
    ROLLED_BACK,
    ROLLOVER,
)
from ralph_tui.tui.draw.spans import Line, cells, clip, flat, wrap
from ralph_tui.tui.draw.words import tokens
from ralph_tui.tui.panes.files import tail
from ralph_tui.tui.panes.timeline_points import TimelinePoint


def facts(point: TimelinePoint, state: RunState, now: datetime, width: int) -> list[Line]:
    """All that is known of one point."""
    span = point.span
    if point.early:
        rows = [_name(point), *_before(span), *_gate(_gate_at(point, state), width)]
    else:
        use = use_of(state, span)
        happened, calm = _context(use) if use is not None else ([], [])
        rows = [_when(span, state, now), *_gain(span), *happened, *_files(span)]
        rows += [*_gate(span.gate, width), *calm]
    return [*rows, *_point(point, state, width)]


def between(
    first: TimelinePoint, second: TimelinePoint, state: RunState, now: datetime, width: int
) -> list[Line]:
    """What lies between two points, the earlier one first."""
    began, ended = first.at or now, second.at or now
    head: Line = [(first.name, "strong"), (f" {clock(began)}", "dim"), (" → ", "focus")]
    head += [(second.name, "strong"), (f" {clock(ended)}", "dim")]
    took = max(0.0, (ended - began).total_seconds())
    return [
        head,
        _way(first, second, state, duration(took)),
        *_gate(_gate_at(second, state), width),
    ]


def _gate_at(point: TimelinePoint, state: RunState) -> GateFinished | None:
    """The last gate that had run; the open iteration's own counts from its end on."""
    if not point.early:
        return point.span.gate
    spans = (s for s in reversed(state.timeline.spans) if s.start_seq < point.span.start_seq)
    return next((span.gate for span in spans if span.gate is not None), None)


def _way(first: TimelinePoint, second: TimelinePoint, state: RunState, took: str) -> Line:
    before, after = _completion(first), _completion(second)
    row: Line = []
    if before is not None and after is not None:
        row += [_change(before, after), (f"  {_course(before, after)} · ", "text")]
    row.append((f"{took} apart", "dim"))
    spans = list(_whole(first, second, state))
    done = [s.finished for s in spans if s.finished is not None]
    costs = [end.cost_usd for end in done if end.cost_usd is not None]
    if done and len(done) == len(spans) and not (first.midway or second.midway):
        used = sum(end.tokens for end in done)
        parts = [f"${sum(costs):.2f}"] if len(costs) == len(done) else []
        parts += [f"{tokens(used)} tok"] if used else []
        row += [(f" · {' · '.join(parts)}", "dim")] if parts else []
    return row


def _whole(first: TimelinePoint, second: TimelinePoint, state: RunState) -> Iterator[IterationSpan]:
    """The iterations that lie between two points from their beginning to their end."""
    for span in state.timeline.spans:
        begins = first.span.start_seq < span.start_seq or (span is first.span and first.early)
        ends = span.start_seq < second.span.start_seq or (span is second.span and not second.early)
        if begins and ends:
            yield span


def _completion(point: TimelinePoint) -> float | None:
    return point.span.previous if point.early else point.span.completion


def _name(point: TimelinePoint) -> Line:
    when = "" if point.at is None else f"  {clock(point.at)}"
    return [(_title(point.span), "strong"), (when, "dim")]


def _title(span: IterationSpan) -> str:
    return f"iteration {span.number}" if span.number else "baseline"


def _before(span: IterationSpan) -> list[Line]:
    if span.previous is None:
        return [[("not measured yet", "dim")]]
    return [[(percent(span.previous), "text"), (" before it", "dim")]]


def _when(span: IterationSpan, state: RunState, now: datetime) -> Line:
    end = span.ended_at or (None if state.run.live else state.run.ended_at)
    until = clock(end) if end else "now"
    seconds = ((end or now) - span.started_at).total_seconds()
    head: Line = [(_title(span), "strong"), (f"  {clock(span.started_at)}–{until}", "dim")]
    head.append((f" · {duration(seconds)}", "dim"))
    if span.finished is not None:
        cost = span.finished.cost_usd
        money = "" if cost is None else f" · ${cost:.2f}"
        used = f" · {tokens(span.finished.tokens)} tok" if span.finished.tokens else ""
        head.append((f"{money}{used}", "dim"))
    return head


def _context(use: ContextUse) -> tuple[list[Line], list[Line]]:
    """How full the window got in an iteration: told early where something came of it, else late."""
    if use.peak_percent is None and not (use.rollovers or use.compactions):
        return [], []
    parts = ["fullest " + ("unknown" if use.peak_percent is None else filled(use.peak_percent))]
    if use.rollovers:
        parts.append(f"{ROLLOVER.glyph} {count(use.rollovers, 'rollover')}")
    if use.compactions:
        parts.append(f"{FORGOT.label} {count(use.compactions, 'time')}")
    rows: list[Line] = [[("context ", "dim"), (" · ".join(parts), "text")]]
    return (rows, []) if len(parts) > 1 else ([], rows)


def _gain(span: IterationSpan) -> list[Line]:
    if span.completion is None:
        return [[("not measured yet", "dim")]]
    if span.previous is None:
        return [[(percent(span.completion), "text"), (" at the start", "dim")]]
    rows: Line = [_change(span.previous, span.completion)]
    rows.append((f"  {_course(span.previous, span.completion)}", "text"))
    if span.finished is not None and span.finished.files:
        done = span.finished
        rows.append((f"  {count(done.files, 'file')} +{done.added} −{done.removed}", "dim"))
    return [rows]


def _change(before: float, after: float) -> tuple[str, str]:
    """How many points lie between two readings."""
    style = "good" if after > before else "bad" if after < before else "dim"
    return points_gained(step(before, after)), style


def _course(before: float, after: float) -> str:
    """``64 → 72 %``."""
    return f"{points(before, after)} → {percent(after, before)}"


def _files(span: IterationSpan) -> list[Line]:
    if span.files is None or not span.files.changes:
        return []
    if span.finished is not None and span.files.seq > span.finished.seq:
        return []  # what was changed by hand since, or by a rollback, is not its work
    by_category: dict[str, list[str]] = {}
    for change in span.files.changes[:40]:
        by_category.setdefault(change.category, []).append(flat(change.path).rsplit("/", 1)[-1])
    totals: dict[str, int] = {total.category: total.files for total in span.files.totals}
    spans: Line = []
    for category, names in sorted(by_category.items(), key=lambda item: -len(item[1])):
        more = totals.get(category, len(names)) - 3
        shown = " ".join(tail(name, 24) for name in names[:3])
        spans += [("  " if spans else "", ""), (f"{category} ", "accent"), (shown, "text")]
        if more > 0:
            spans.append((f" +{more}", "dim"))
    return [spans]


def _gate(gate: GateFinished | None, width: int) -> list[Line]:
    if gate is None:
        return []
    term, style = (PASSED, "good") if gate.ok else (FAILED, "bad")
    spans: Line = [("gate ", "dim"), (f"{term.glyph} ", style)]
    if gate.passed is not None:
        spans.append((f"{gate.passed}/{gate.total} passed", "text"))
    else:
        spans.append((gate_words(gate), "text"))
    if gate.failing:
        name = clip(flat(gate.failing[0]), max(8, width - cells(spans) - 14))
        spans.append((f" · {name} fails", "dim"))
    return [spans]


def _point(point: TimelinePoint, state: RunState, width: int) -> list[Line]:
    if point.alarm:
        return [[(f"{point.glyph} {point.alarm}", f"{point.style} strong"), (" rose here", "dim")]]
    if point.glyph == BEST.glyph:
        return [[(f"{BEST.label} so far", "good")]]
    if point.made is not None:
        return _intervention(point.made, state, width)
    if point.rollback is not None:
        return _rollback(point.rollback, state, width)
    checkpoint = point.checkpoint
    if checkpoint is None:
        return []
    where = f"checkpoint {checkpoint.number} {CHECKPOINTS[checkpoint.trigger].word}"
    rows: list[Line] = [[(where, "accent"), (f"  {clock(checkpoint.at, seconds=True)}", "dim")]]
    if checkpoint.snapshot is not None:
        rows[0].append(
            (f" · snapshot {checkpoint.snapshot} · {count(checkpoint.files, 'file')}", "dim")
        )
    if held := of_session(checkpoint):
        rows.append([(held, "dim")])
    for text, style in ((checkpoint.note, "text"), (checkpoint.error, "warn")):
        if text:
            rows += [[(piece, style)] for piece in wrap(text, width, 3)]
    return rows


def of_session(checkpoint: CheckpointPoint) -> str:
    """``41m into the session · agent at most 312 MB``, as far as it is known."""
    parts = []
    if checkpoint.session_id and checkpoint.trigger != "start":
        parts.append(f"{duration(checkpoint.duration_s)} into the session")
    if checkpoint.memory_bytes:
        parts.append(f"agent at most {memory_size(checkpoint.memory_bytes)}")
    return " · ".join(parts)


def _intervention(made: InterventionMade, state: RunState, width: int) -> list[Line]:
    known = state.oversight.interventions
    told = next((other for other in known if other.seq == made.seq), None)
    head: Line = [
        (f"{CRITICAL.glyph} {made.level}", "bad strong"),
        (f" {flat(made.about)}", "text"),
    ]
    if told is not None and told.decision:
        head += [("  ", ""), (flat(told.decision, 60), "owner")]
    if told is not None and told.effect is not None:
        gained, after = told.effect.points, told.effect.after
        head.append((f", after {after}: ", "dim"))
        head.append((points_gained(gained), "good" if gained >= 1 else "warn"))
    return [head, *([(row, "dim")] for row in wrap(made.reason, width, 3))]


def _rollback(back: WorktreeRestored, state: RunState, width: int) -> list[Line]:
    taken = state.timeline.snapshots.get(back.snapshot)
    place = f"iteration {taken.iteration}" if taken and taken.iteration else "the start"
    where = f"snapshot {back.snapshot}" + (f", {place}" if taken else "")
    head: Line = [(ROLLED_BACK.label, "owner strong"), (f" to {where}", "text")]
    head.append((f"  {count(back.files, 'file')}, by {flat(back.by, 40)}", "dim"))
    kept = f"; {count(back.left_alone, 'file')} left alone" if back.kept else ""
    words = f"restoring snapshot {back.present} undoes this{kept}"
    return [head, *([(row, "dim")] for row in wrap(words, width, 2))]
