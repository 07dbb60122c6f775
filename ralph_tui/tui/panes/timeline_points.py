"""The points of a run that can be selected, and the files that each stands for. Rule: pure."""

from dataclasses import dataclass
from datetime import datetime

from ralph_tui.events import GateFinished, SnapshotTaken, WorktreeRestored
from ralph_tui.state import CheckpointPoint, IterationSpan, RunState
from ralph_tui.text.format import place

Key = tuple[str, int]
"""What a point is called as long as the run goes on: its kind, and the event it came from."""


@dataclass(frozen=True)
class TimelinePoint:
    """An iteration, or a checkpoint or a restore in it, that can be selected."""

    key: Key
    span: IterationSpan
    checkpoint: CheckpointPoint | None = None
    rollback: WorktreeRestored | None = None

    @property
    def whole(self) -> bool:
        """It is the iteration itself."""
        return self.checkpoint is None and self.rollback is None

    @property
    def place(self) -> str:
        """The iteration in words."""
        return place(self.span.number)

    @property
    def name(self) -> str:
        """The point in words."""
        if self.checkpoint is not None:
            return f"{self.place}, {self.checkpoint.name}"
        return f"{self.place}, restored" if self.rollback is not None else self.place

    @property
    def at(self) -> datetime | None:
        """Its moment; None for an iteration that is still open."""
        event = self.checkpoint or self.rollback
        return event.at if event is not None else self.span.ended_at

    @property
    def early(self) -> bool:
        """It lies in its iteration's midst: neither its reading nor its cost is known yet."""
        return self.checkpoint is not None


def points_of(state: RunState) -> list[TimelinePoint]:
    """Every point of the run in order: an iteration, then what was kept or restored in it.

    The checkpoints at its start and end are its own: what it found, and what it left.
    """
    points: list[TimelinePoint] = []
    for span in state.timeline.spans:
        points.append(TimelinePoint(("iteration", span.start_seq), span))
        points += [
            TimelinePoint(("checkpoint", checkpoint.seq), span, checkpoint=checkpoint)
            for checkpoint in span.checkpoints
            if checkpoint.trigger not in ("start", "end")
        ]
        points += [TimelinePoint(("back", b.seq), span, rollback=b) for b in span.rollbacks]
    return points


def find(points: list[TimelinePoint], key: Key | None) -> int | None:
    """Where the point of this key is now."""
    return next((index for index, point in enumerate(points) if point.key == key), None)


def gate_before(span: IterationSpan, state: RunState) -> GateFinished | None:
    """The last measurement before an iteration, of the files that it began with; None where those
    were not measured.
    """
    earlier = [s for s in state.timeline.spans if s.start_seq < span.start_seq]
    if earlier and earlier[-1].rollbacks:
        found = state.timeline.measured(earlier[-1].rollbacks[-1])
        return None if found is None else found.gate
    return next((s.gate for s in reversed(earlier) if s.gate is not None), None)


# files ------------------------------------------------------------------------------------------


def to_restore(point: TimelinePoint, state: RunState) -> SnapshotTaken | None:
    """The snapshot that a restore of this point brings back; that of a restore undoes it."""
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
    if point.whole and not point.span.number:
        return None
    if point.rollback is not None:
        before = state.timeline.snapshots.get(point.rollback.present)
    else:
        first = next((p for p in point.span.checkpoints if p.trigger == "start"), None)
        before = None if first is None else _of(first, state)
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


def net_trees(state: RunState) -> tuple[str, str] | None:
    """The files as the run found them, and as it left them; None where one is not kept."""
    snapshots, spans = state.timeline.snapshots, state.timeline.spans
    if not snapshots:
        return None
    last = next((t for t in (_left_last(span, state) for span in reversed(spans)) if t), None)
    return None if last is None else (snapshots[min(snapshots)].tree, last)


def _left_last(span: IterationSpan, state: RunState) -> str | None:
    """The files behind an iteration, and behind a restore that followed it."""
    left = _left_by(span, state)
    if span.rollbacks and (left is None or span.rollbacks[-1].seq > left.seq):
        return span.rollbacks[-1].tree
    return None if left is None else left.tree
