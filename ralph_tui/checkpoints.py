"""Snapshots at the boundaries of a run, and checkpoints in between."""

from ralph_tui.errors import WorkspaceError
from ralph_tui.events import CheckpointCaptured, Event, Noticed, SnapshotTaken
from ralph_tui.events.workspace import Trigger
from ralph_tui.ports import Job, Snapshot, Workspace
from ralph_tui.state import RunState
from ralph_tui.steering import Helm, Steps, is_full


class Checkpoints:
    """Holds the worktree: at boundaries the loop waits for it, by timer and key it does not."""

    def __init__(self, helm: Helm, state: RunState, workspace: Workspace) -> None:
        self.latest: Snapshot
        """The last boundary: what the next changes are counted against. Set by `first`."""
        self._helm = helm
        self._state = state
        self._workspace = workspace
        self._taken = 0
        self._captured = 0

    def first(self, reason: str) -> Steps[None]:
        """The first snapshot of a run; without it a run does not begin."""
        self.latest = yield from self._snapshot(0, reason)
        yield self.event(0, "start")

    def begin_iteration(self) -> None:
        """Checkpoints are numbered within an iteration."""
        self._captured = 0

    def boundary(self, iteration: int, reason: str) -> Steps[None]:
        """Hold the worktree before the loop goes on; when that fails the last boundary stays."""
        try:
            self.latest = yield from self._snapshot(iteration, reason)
        except WorkspaceError as error:
            yield Noticed(level="error", source="workspace", text=f"no snapshot taken: {error}")

    def capture(self, iteration: int, trigger: Trigger, note: str = "") -> None:
        """Take a checkpoint beside the running session; its events come when it is done.

        A disk without room for it stops the session: what the agent does could not be held.
        """
        number = self._next()

        def tell(job: Job) -> Steps[None]:
            if isinstance(job.result, Snapshot):
                yield _snapshot_taken(iteration, job.result, trigger)
                yield self.event(iteration, trigger, job.result.number, note)
            else:
                yield self.event(iteration, trigger, None, note, error=str(job.error))
                if is_full(job.error):
                    self._helm.stop_work()

        self._helm.beside(
            "checkpoint",
            lambda: self._workspace.snapshot(number, f"ralph: checkpoint ({trigger})"),
            tell,
        )

    def hold_again(self, iteration: int) -> Steps[None]:
        """Wait until there is room for a snapshot; the boundary stays where it is."""
        latest = self.latest
        yield from self.boundary(iteration, "after a full disk")
        self.latest = latest

    def event(
        self,
        iteration: int,
        trigger: Trigger,
        snapshot: int | None = 0,
        note: str = "",
        error: str = "",
    ) -> Event:
        """A checkpoint whose snapshot is held already; 0 means the last boundary's."""
        self._captured += 1
        return CheckpointCaptured(
            iteration=iteration,
            number=self._captured,
            trigger=trigger,
            snapshot=self.latest.number if snapshot == 0 else snapshot,
            duration_s=self._helm.seconds_since(self._state.run.iteration_started_at),
            files=sum(total.files for total in self._state.files.totals),
            note=note,
            error=error,
        )

    def _snapshot(self, iteration: int, reason: str) -> Steps[Snapshot]:
        number = self._next()
        snapshot = yield from self._helm.job(
            "snapshot", lambda: self._workspace.snapshot(number, f"ralph: {reason}")
        )
        yield _snapshot_taken(iteration, snapshot, reason)
        return snapshot

    def _next(self) -> int:
        self._taken += 1
        return self._taken


def _snapshot_taken(iteration: int, snapshot: Snapshot, reason: str) -> Event:
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
