"""The selectable points of a run, and the files at each of them. Pure functions."""

from datetime import datetime
from typing import NamedTuple

from ralph_tui.events import GateFinished, SnapshotTaken, WorktreeRestored
from ralph_tui.state import CheckpointPoint, IterationSpan, RunState
from ralph_tui.text.format import place

Key = tuple[str, int]
"""Stable name of a point: its kind and the number of its event."""


class TimelinePoint(NamedTuple):
    """A selectable iteration, or a checkpoint or restore within it."""

    key: Key
    span: IterationSpan
    checkpoint: CheckpointPoint | None = None
    rollback: WorktreeRestored | None = None

    @property
    def whole(self) -> bool:
        """True if it is the iteration itself."""
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
        """Time of the point; None for an open iteration."""
        event = self.checkpoint or self.rollback
        return event.at if event is not None else self.span.ended_at

    @property
    def is_partial(self) -> bool:
        """True if it is within an iteration, whose measurement and cost are not known yet."""
        return self.checkpoint is not None


def points_of(state: RunState) -> list[TimelinePoint]:
    """Return all points in order: each iteration, then its checkpoints and restores.

    Checkpoints at an iteration's start and end belong to the iteration itself.
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
    """Return the index of the point with this key."""
    return next((index for index, point in enumerate(points) if point.key == key), None)


def gate_before(span: IterationSpan, state: RunState) -> GateFinished | None:
    """Return the measurement of the files that an iteration started with.

    Return None if those files were not measured.
    """
    earlier = [s for s in state.timeline.spans if s.start_seq < span.start_seq]
    if earlier and earlier[-1].rollbacks:
        found = state.timeline.measured(earlier[-1].rollbacks[-1])
        return None if found is None else found.gate
    return next((s.gate for s in reversed(earlier) if s.gate is not None), None)


# files ------------------------------------------------------------------------------------------


def to_restore(point: TimelinePoint, state: RunState) -> SnapshotTaken | None:
    """Return the snapshot that restores this point or, for a restore, the one that undoes it."""
    if point.rollback is not None:
        return state.timeline.snapshots.get(point.rollback.present)
    if point.checkpoint is not None:
        return state.timeline.snapshots.get(point.checkpoint.snapshot or 0)
    return _last_snapshot(point.span, state)


def tree_at(point: TimelinePoint, state: RunState) -> str | None:
    """Return the Git tree of the files at this point."""
    if point.rollback is not None:
        return point.rollback.tree
    snapshot = to_restore(point, state)
    return None if snapshot is None else snapshot.tree


def tree_before(point: TimelinePoint, state: RunState) -> str | None:
    """Return the tree that a point is compared with: that of its iteration's start.

    Return None for the first point, or if there is no snapshot.
    """
    if point.whole and not point.span.number:
        return None
    if point.rollback is not None:
        before = state.timeline.snapshots.get(point.rollback.present)
    else:
        first = next((p for p in point.span.checkpoints if p.trigger == "start"), None)
        before = None if first is None else _snapshot_of(first, state)
        before = before or _prior_snapshot(point.span, state)
    return None if before is None else before.tree


def _snapshot_of(checkpoint: CheckpointPoint, state: RunState) -> SnapshotTaken | None:
    return state.timeline.snapshots.get(checkpoint.snapshot or 0)


def _last_snapshot(span: IterationSpan, state: RunState) -> SnapshotTaken | None:
    held = (_snapshot_of(checkpoint, state) for checkpoint in reversed(span.checkpoints))
    return next((snapshot for snapshot in held if snapshot is not None), span.boundary)


def _prior_snapshot(span: IterationSpan, state: RunState) -> SnapshotTaken | None:
    spans = state.timeline.spans
    earlier = reversed(spans[: spans.index(span)]) if span in spans else iter(())
    return next(
        (held for held in (_last_snapshot(s, state) for s in earlier) if held is not None), None
    )


def net_trees(state: RunState) -> tuple[str, str] | None:
    """Return the trees at the start and the end of the run; None if one is missing."""
    snapshots, spans = state.timeline.snapshots, state.timeline.spans
    if not snapshots:
        return None
    last = next((t for t in (_final_tree(span, state) for span in reversed(spans)) if t), None)
    return None if last is None else (snapshots[min(snapshots)].tree, last)


def _final_tree(span: IterationSpan, state: RunState) -> str | None:
    """Return the tree after an iteration and any restore that followed it."""
    left = _last_snapshot(span, state)
    if span.rollbacks and (left is None or span.rollbacks[-1].seq > left.seq):
        return span.rollbacks[-1].tree
    return None if left is None else left.tree
