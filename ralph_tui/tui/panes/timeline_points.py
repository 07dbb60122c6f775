"""The points of a run that can be selected, and the files that each stands for. Rule: pure."""

from dataclasses import dataclass
from datetime import datetime

from ralph_tui.events import InterventionMade, SnapshotTaken, WorktreeRestored
from ralph_tui.state import CheckpointPoint, IterationSpan, RunState
from ralph_tui.text.terms import BEST, CHECKPOINTS, ROLLED_BACK, ROLLOVER, SEVERITIES
from ralph_tui.tui.draw.spans import Line
from ralph_tui.tui.draw.words import level_mark

Key = tuple[str, int]
"""What a point is called as long as the run goes on: its kind, and the event it came from."""


@dataclass(frozen=True)
class TimelinePoint:
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


def points_of(state: RunState) -> list[TimelinePoint]:
    """Every point of the run in order: an iteration, then what happened in it."""
    points: list[TimelinePoint] = []
    timeline, run = state.timeline, state.run
    watched = run.started is not None and run.started.watched  # nothing is kept at a rollover then
    rolled = {use.iteration: use.rollovers for use in state.context.history}
    for span in timeline.spans:
        open_ = span is timeline.current and run.live
        glyph, style = ("○", "accent") if open_ else ("●", "text")
        points.append(
            TimelinePoint(("iteration", span.start_seq), span, glyph, style, str(span.number))
        )
        for checkpoint in span.checkpoints:
            if checkpoint.trigger == "start" and not span.number:
                continue  # the baseline itself
            glyph, style = (
                ("!", "warn")
                if checkpoint.error
                else (
                    CHECKPOINTS[checkpoint.trigger].glyph,
                    "accent" if checkpoint.trigger == "rollover" else "dim",
                )
            )
            points.append(
                TimelinePoint(
                    ("checkpoint", checkpoint.seq), span, glyph, style, checkpoint=checkpoint
                )
            )
        if watched and rolled.get(span.number):
            key = ("rolled over", span.start_seq)
            points.append(TimelinePoint(key, span, ROLLOVER.glyph, "accent"))
        for index, alarm in enumerate(span.alarms):
            glyph, style = level_mark(SEVERITIES[alarm.severity])
            key = (f"alarm {index}", span.start_seq)
            points.append(TimelinePoint(key, span, glyph, style, alarm=alarm.alarm))
        if span.number == timeline.best_iteration and run.completions:
            points.append(TimelinePoint(("best", 0), span, BEST.glyph, "good"))
        acted = level_mark("critical")
        points += [TimelinePoint(("made", m.seq), span, *acted, made=m) for m in span.interventions]
        points += [
            TimelinePoint(("back", b.seq), span, ROLLED_BACK.glyph, "owner", rollback=b)
            for b in span.rollbacks
        ]
    return points


def find(points: list[TimelinePoint], key: Key | None) -> int | None:
    """Where the point of this key is now."""
    return next((index for index, point in enumerate(points) if point.key == key), None)


# files ------------------------------------------------------------------------------------------


def to_restore(point: TimelinePoint, state: RunState) -> SnapshotTaken | None:
    """The snapshot that a restore of this point brings back; a rollback's undoes it."""
    if point.rollback is not None:
        return state.timeline.snapshots.get(point.rollback.present)
    if point.checkpoint is not None:
        return state.timeline.snapshots.get(point.checkpoint.snapshot or 0)
    return _left_by(point.span, state)


def tree_at(point: TimelinePoint, state: RunState) -> str | None:
    """The files at this point, as a tree."""
    if point.rollback is not None:
        return point.rollback.tree
    snapshot = to_restore(point, state)
    return None if snapshot is None else snapshot.tree


def tree_before(point: TimelinePoint, state: RunState) -> str | None:
    """The files that a point is told against: as its iteration found them; None: it is first."""
    if point.checkpoint is None and point.rollback is None and not point.span.number:
        return None
    if point.rollback is not None:
        before = state.timeline.snapshots.get(point.rollback.present)
    else:
        first = next((p for p in point.span.checkpoints if p.trigger == "start"), None)
        at_start = point.checkpoint is not None and point.checkpoint is first
        before = None if first is None or at_start else _of(first, state)
        before = before or _left_before(point.span, state)
    return None if before is None else before.tree


def _of(checkpoint: CheckpointPoint, state: RunState) -> SnapshotTaken | None:
    return state.timeline.snapshots.get(checkpoint.snapshot or 0)


def _left_by(span: IterationSpan, state: RunState) -> SnapshotTaken | None:
    held = (_of(checkpoint, state) for checkpoint in reversed(span.checkpoints))
    return next((snapshot for snapshot in held if snapshot is not None), span.boundary)


def _left_before(span: IterationSpan, state: RunState) -> SnapshotTaken | None:
    spans = state.timeline.spans
    earlier = reversed(spans[: spans.index(span)]) if span in spans else iter(())
    return next((held for held in (_left_by(s, state) for s in earlier) if held is not None), None)


# the line ---------------------------------------------------------------------------------------


def track(
    points: list[TimelinePoint], selected: int, mark: int | None, width: int, *, lit: bool
) -> Line:
    """The part of the line around the selected point that fills at most `width` cells."""

    def size(index: int) -> int:
        return points[index].width + (2 if index == mark else 0)

    first = last = selected
    used = size(selected)
    room = width - 4
    while True:
        grown = False
        for index, joined in ((first - 1, first), (last + 1, last + 1)):
            if not 0 <= index < len(points):
                continue
            more = size(index) + (2 if points[joined].label else 1)
            if used + more <= room:
                used += more
                first, last, grown = min(first, index), max(last, index), True
        if not grown:
            break
    spans: Line = [("… ", "dim")] if first > 0 else []
    for index in range(first, last + 1):
        point = points[index]
        if index > first:
            spans.append(("──" if point.label else "─", "faint"))
        here = " badge" if lit and index == selected else ""
        opening, closing = ("‹", "›") if index == mark else ("", "")
        spans += [(opening, "focus")] if opening else []
        if point.label:
            spans.append((point.label, f"dim{here}"))
        spans.append((point.glyph, point.style + here))
        spans += [(closing, "focus")] if closing else []
    if last < len(points) - 1:
        spans.append((" …", "dim"))
    return spans
