"""Events that record changes to the files."""

from ralph_tui.events import Event, SnapshotTaken, WorktreeRestored
from ralph_tui.events.workspace import MAX_KEPT, MAX_PATHS
from ralph_tui.ports.worktree import Restored, Snapshot


def worktree_restored(
    iteration: int, target: SnapshotTaken, present: int, restored: Restored, by: str
) -> WorktreeRestored:
    """Return the event for files that were restored to `target`."""
    return WorktreeRestored(
        iteration=iteration,
        snapshot=target.number,
        present=present,
        tree=target.tree,
        files=len(restored.changed),
        paths=list(restored.changed[:MAX_PATHS]),
        kept=[one.path for one in restored.kept[:MAX_KEPT]],
        reasons=[one.why for one in restored.kept[:MAX_KEPT]],
        kept_count=len(restored.kept),
        by=by,
    )


def snapshot_taken(iteration: int, snapshot: Snapshot, reason: str) -> Event:
    """Return the event for a snapshot that was taken."""
    return SnapshotTaken(
        iteration=iteration,
        number=snapshot.number,
        ref=snapshot.ref,
        commit=snapshot.commit,
        tree=snapshot.tree,
        reason=reason,
        missing=list(snapshot.missing),
        missing_count=snapshot.missing_count,
    )
