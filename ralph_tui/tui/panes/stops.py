"""The points of a run that can be selected, and the files that each stands for. Rule: pure."""

from dataclasses import dataclass
from datetime import datetime

from ralph_tui.events import InterventionMade, SnapshotTaken, WorktreeRestored
from ralph_tui.state import CheckpointPoint, IterationSpan, RunState
from ralph_tui.tui.draw.spans import Line

TRIGGERS = {
    "start": ("▷", "at the start"),
    "timer": ("◦", "by timer"),
    "key": ("◈", "by key"),
    "end": ("■", "at the end"),
}
SERIOUS = ("OSCILLATING", "REGRESSING", "BUDGET_EXCEEDED")

Key = tuple[str, int]
"""What a point is called as long as the run goes on: its kind, and the event it came from."""


@dataclass(frozen=True)
class Stop:
    """A point on the line that can be selected."""

    key: Key
    span: IterationSpan
    glyph: str
    style: str
    label: str = ""
    """Stands before the glyph: the iteration's number."""
    checkpoint: CheckpointPoint | None = None
    alarm: str = ""
    made: InterventionMade | None = None
    rollback: WorktreeRestored | None = None

    @property
    def width(self) -> int:
        """Cells of label and glyph."""
        return len(self.label) + 1

    @property
    def place(self) -> str:
        """The iteration in words."""
        return f"iteration {self.span.number}" if self.span.number else "the baseline"

    @property
    def name(self) -> str:
        """The point in words."""
        if self.checkpoint is not None:
            return f"{self.place}, checkpoint {self.checkpoint.number}"
        return f"{self.place}, rollback" if self.rollback is not None else self.place

    @property
    def at(self) -> datetime | None:
        """Its moment; None for an iteration that is still open."""
        event = self.checkpoint or self.made or self.rollback
        return event.at if event is not None else self.span.ended_at

    @property
    def midway(self) -> bool:
        """It lies in its iteration's midst: what that had cost by then is not known."""
        return self.early and self.checkpoint is not None and self.checkpoint.trigger != "start"

    @property
    def early(self) -> bool:
        """It lies before its iteration was measured."""
        return self.checkpoint is not None and self.checkpoint.trigger != "end"


def stops_of(state: RunState) -> list[Stop]:
    """Every point of the run in order: an iteration, then what happened in it."""
    stops: list[Stop] = []
    timeline, run = state.timeline, state.run
    for span in timeline.spans:
        open_ = span is timeline.current and run.live
        glyph, style = ("○", "accent") if open_ else ("●", "text")
        stops.append(Stop(("iteration", span.start_seq), span, glyph, style, str(span.number)))
        for point in span.checkpoints:
            if point.trigger == "start" and not span.number:
                continue  # the baseline itself
            glyph, style = ("!", "warn") if point.error else (TRIGGERS[point.trigger][0], "dim")
            stops.append(Stop(("checkpoint", point.seq), span, glyph, style, checkpoint=point))
        for index, alarm in enumerate(span.alarms):
            glyph, style = ("◆", "bad") if alarm in SERIOUS else ("▲", "warn")
            key = (f"alarm {index}", span.start_seq)
            stops.append(Stop(key, span, glyph, style, alarm=alarm))
        if span.number == timeline.best_iteration and run.completions:
            stops.append(Stop(("best", 0), span, "★", "good"))
        stops += [Stop(("made", m.seq), span, "◆", "bad", made=m) for m in span.interventions]
        stops += [Stop(("back", b.seq), span, "↶", "owner", rollback=b) for b in span.rollbacks]
    return stops


def find(stops: list[Stop], key: Key | None) -> int | None:
    """Where the point of this key is now."""
    return next((index for index, stop in enumerate(stops) if stop.key == key), None)


# files ------------------------------------------------------------------------------------------


def to_restore(stop: Stop, state: RunState) -> SnapshotTaken | None:
    """The snapshot that a restore of this point brings back; a rollback's undoes it."""
    if stop.rollback is not None:
        return state.timeline.snapshots.get(stop.rollback.present)
    if stop.checkpoint is not None:
        return state.timeline.snapshots.get(stop.checkpoint.snapshot or 0)
    return _left_by(stop.span, state)


def tree_at(stop: Stop, state: RunState) -> str | None:
    """The files at this point, as a tree."""
    if stop.rollback is not None:
        return stop.rollback.tree
    snapshot = to_restore(stop, state)
    return None if snapshot is None else snapshot.tree


def tree_before(stop: Stop, state: RunState) -> str | None:
    """The files that this point is told against: as its iteration found them; None: it is first."""
    if stop.checkpoint is None and stop.rollback is None and not stop.span.number:
        return None
    if stop.rollback is not None:
        before = state.timeline.snapshots.get(stop.rollback.present)
    else:
        first = next((p for p in stop.span.checkpoints if p.trigger == "start"), None)
        at_start = stop.checkpoint is not None and stop.checkpoint is first
        before = None if first is None or at_start else _of(first, state)
        before = before or _left_before(stop.span, state)
    return None if before is None else before.tree


def _of(point: CheckpointPoint, state: RunState) -> SnapshotTaken | None:
    return state.timeline.snapshots.get(point.snapshot or 0)


def _left_by(span: IterationSpan, state: RunState) -> SnapshotTaken | None:
    held = (_of(point, state) for point in reversed(span.checkpoints))
    return next((snapshot for snapshot in held if snapshot is not None), span.boundary)


def _left_before(span: IterationSpan, state: RunState) -> SnapshotTaken | None:
    spans = state.timeline.spans
    earlier = reversed(spans[: spans.index(span)]) if span in spans else iter(())
    return next((held for held in (_left_by(s, state) for s in earlier) if held is not None), None)


# the line ---------------------------------------------------------------------------------------


def track(stops: list[Stop], selected: int, mark: int | None, width: int, *, lit: bool) -> Line:
    """The part of the line around the selected point that fills at most `width` cells."""

    def size(index: int) -> int:
        return stops[index].width + (2 if index == mark else 0)

    first = last = selected
    used = size(selected)
    room = width - 4
    while True:
        grown = False
        for index, joined in ((first - 1, first), (last + 1, last + 1)):
            if not 0 <= index < len(stops):
                continue
            more = size(index) + (2 if stops[joined].label else 1)
            if used + more <= room:
                used += more
                first, last, grown = min(first, index), max(last, index), True
        if not grown:
            break
    spans: Line = [("… ", "dim")] if first > 0 else []
    for index in range(first, last + 1):
        stop = stops[index]
        if index > first:
            spans.append(("──" if stop.label else "─", "faint"))
        here = " badge" if lit and index == selected else ""
        opening, closing = ("‹", "›") if index == mark else ("", "")
        spans += [(opening, "focus")] if opening else []
        if stop.label:
            spans.append((stop.label, f"dim{here}"))
        spans.append((stop.glyph, stop.style + here))
        spans += [(closing, "focus")] if closing else []
    if last < len(stops) - 1:
        spans.append((" …", "dim"))
    return spans
