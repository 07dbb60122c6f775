"""Snapshots at the boundaries of a run, and checkpoints in between."""

from datetime import datetime
from functools import partial

from ralph_tui import events as ev
from ralph_tui.base.errors import RalphError, WorkspaceError
from ralph_tui.events.waiting import Rollback
from ralph_tui.events.workspace import MAX_PATHS, FileChange, Trigger
from ralph_tui.layers.sensor.categories import files_changed
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step
from ralph_tui.loop.steps.workspace_facts import snapshot_taken, worktree_restored
from ralph_tui.ports.host import Job
from ralph_tui.ports.records import CheckpointFacts
from ralph_tui.ports.worktree import Restored, Snapshot
from ralph_tui.state import IterationSpan

UNKNOWN = (
    "this iteration's changes are unknown: the snapshot before it is no longer in this repository"
)


class Checkpoints(Step):
    """Saves the worktree: the loop waits for boundary snapshots, but not for other checkpoints."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.latest: Snapshot
        """The last boundary; the next session's changes are counted from it. Set by `first`."""
        self.began = False
        """True once there is a boundary."""
        self.compared = ("", "")
        """Trees before and after the last session."""
        self.handed_over = ("", "")
        """Trees before and after the last session that ended in a context handoff."""
        self._workspace = run.ports.workspace
        self._files = run.ports.checkpoint_files
        self._memory = run.ports.memory
        self._session_id = ""
        self._session_began: datetime | None = None
        """When the running session began; None between sessions."""
        self._session_tree = ""
        """Tree at this iteration's latest handoff; empty before the first one."""
        self._started = False
        """True once this iteration has its start checkpoint."""
        self._last_number = 0
        self._captured = 0

    def first(self, reason: str) -> None:
        """Take the first snapshot of a run; if that fails, the run does not begin."""
        self.latest = self._snapshot(0, reason)
        self.began = True
        self._captured = 0
        self.save_checkpoint(0, "start")

    def continue_numbering(self) -> None:
        """Continue numbering after the snapshots of an earlier process, recorded or not."""
        self._last_number = known = max(self._state.timeline.snapshots, default=0)
        held = self._scheduler.run_job("snapshots", self._workspace.newest)
        if known and not held:
            text = (
                "this run's snapshots are no longer in this repository; it continues with the "
                "current files"
            )
            self.record(ev.Noticed(level="warn", source="workspace", text=text))
        self._last_number = max(held, known)

    def continue_from(self, span: IterationSpan, *, settled: bool) -> None:
        """Restore the state of an earlier process; `span` is the iteration in which it ended.

        `settled`: the iteration's file changes are already recorded.
        """
        self._captured = len(span.checkpoints)
        known = self._state.timeline.snapshots.values()
        # Changes of an unsettled iteration are counted from where it began.
        start = max((s for s in known if s.seq < span.start_seq), key=lambda s: s.seq)
        taken = max(known, key=lambda s: s.seq) if settled else start
        self.latest = Snapshot(taken.number, taken.ref, taken.commit, taken.tree)
        if span.boundary is not None:
            self.compared = start.tree, span.boundary.tree
        self.began = True
        # Last, because a git failure here ends the run; the end needs the fields set above.
        self.continue_numbering()

    def begin_iteration(self) -> None:
        """Reset the state of an iteration; checkpoints are numbered within it."""
        self._captured, self._started, self._session_tree = 0, False, ""

    def begin_session(self, iteration: int, session_id: str) -> None:
        """Record the start checkpoint, which shares the last boundary's snapshot.

        A session retried after a limit starts from the same files, so it gets no checkpoint.
        """
        self._session_id, self._session_began = session_id, self._scheduler.host.clock.now()
        if not self._started:
            self._started = True
            self.save_checkpoint(iteration, "start")

    def take_boundary(self, iteration: int, reason: str) -> None:
        """Snapshot the worktree before the loop continues; on failure the last boundary is kept."""
        try:
            self.latest = self._snapshot(iteration, reason)
        except WorkspaceError as error:
            self.record(
                ev.Noticed(level="error", source="workspace", text=f"no snapshot taken: {error}")
            )

    def record_changes(self, k: int, message: str = "") -> ev.FilesChanged:
        """Snapshot and record the file changes made by the session of iteration k."""
        start, workspace = self.latest, self._workspace
        self.take_boundary(k, message or f"after the session of iteration {k}")
        unknown = self.latest is start
        before, after = self.compared = (start.tree, self.latest.tree)
        changes: tuple[FileChange, ...] = ()
        try:
            changes = self._scheduler.run_job("changes", lambda: workspace.changes(before, after))
        except WorkspaceError as error:  # the agent may have deleted the old snapshot
            self.record(ev.Noticed(level="warn", source="workspace", text=f"{UNKNOWN} ({error})"))
            unknown = True
        files = files_changed(k, changes, live=False).model_copy(update={"unknown": unknown})
        self.record(files)
        self.save_checkpoint(k, "end", changes=changes)
        return files

    def capture(self, iteration: int, trigger: Trigger, note: str = "", by: str = "") -> None:
        """Take a checkpoint while the session runs; its events are recorded when it is done.

        If the disk is full, the session is stopped, because its work could not be saved. `by`: the
        requester of the checkpoint.
        """
        reason = f"requested by {by}" if by else trigger
        number = self._next()

        def record_result(job: Job) -> None:
            if isinstance(job.result, Snapshot):
                self.record(snapshot_taken(iteration, job.result, reason))
                self.save_checkpoint(iteration, trigger, job.result.number, note, by=by)
            else:
                self.save_checkpoint(iteration, trigger, None, note, str(job.error), by=by)

        self._scheduler.spawn(
            "checkpoint",
            lambda: self._workspace.snapshot(number, f"ralph: checkpoint ({trigger})"),
            record_result,
            holds_work=True,
        )

    def snapshot_handoff(self, iteration: int, message: str) -> int | None:
        """Snapshot the worktree after a session has ended; return the snapshot's number. Returns
        None if that fails. The boundary is kept: the iteration's changes are counted over all its
        sessions.
        """
        number, began = self._next(), self._session_tree or self.latest.tree
        try:
            snapshot = self._scheduler.run_job(
                "snapshot", lambda: self._workspace.snapshot(number, message)
            )
        except WorkspaceError as error:
            self.save_checkpoint(iteration, "rollover", None, message, error=str(error))
            self.handed_over = ("", "")
            return None
        self.handed_over, self._session_tree = (began, snapshot.tree), snapshot.tree
        self.record(snapshot_taken(iteration, snapshot, message.removeprefix("ralph: ")))
        self.save_checkpoint(iteration, "rollover", number)
        return number

    def retry_boundary(self, iteration: int) -> None:
        """Wait until there is room for a snapshot; the boundary does not move."""
        latest = self.latest
        self.take_boundary(iteration, "after a full disk")
        self.latest = latest

    def restore(self, number: int, by: str) -> None:
        """Restore the files to a snapshot of this run, in the background.

        The current files are saved in a snapshot before any file changes; if that fails, nothing is
        restored. `Scheduler.join` waits for the restore.
        """
        present = self._next()
        reason = f"before restoring snapshot {number}"

        def record_result(job: Job) -> None:
            if not isinstance(job.result, Snapshot):
                self.record(_restore_failed(job, "before it started"))
                return
            self.record(snapshot_taken(self._state.run.iteration, job.result, reason))
            self.write_back(number, present, by)

        work = partial(self._workspace.snapshot, present, f"ralph: {reason}")
        self._scheduler.spawn("snapshot", work, record_result)

    def write_back(self, number: int, present: int, by: str) -> None:
        """Run the second half of a restore; snapshot `present` contains the previous files."""
        iteration, target = self._state.run.iteration, self._state.timeline.snapshots[number]
        after, workspace = self._next(), self._workspace
        reason = f"as snapshot {number}"
        self.record(ev.RestoreBegan(iteration=iteration, snapshot=number, present=present, by=by))

        def record_result(job: Job) -> None:
            if not isinstance(job.result, Restored):
                self.record(
                    _restore_failed(job, f"halfway; snapshot {present} has the previous files")
                )
                return
            self.record(worktree_restored(iteration, target, present, job.result, by))
            work = partial(workspace.snapshot, after, f"ralph: {reason}")
            self._scheduler.spawn("snapshot", work, record_snapshot)

        def record_snapshot(job: Job) -> None:
            if isinstance(job.result, Snapshot):
                self.latest = job.result
                self.record(snapshot_taken(iteration, self.latest, reason))
            else:
                self._record_failure(job)

        self._scheduler.spawn("restore", partial(workspace.restore, target.tree), record_result)

    def _record_failure(self, job: Job) -> None:
        """Record a failure the run survives: a checkpoint file or the snapshot after a restore."""
        if isinstance(job.error, RalphError | OSError):
            self.record(ev.Noticed(level="error", source="records", text=str(job.error)))
        elif job.error is not None:
            raise job.error

    def better_snapshot(self) -> IterationSpan | None:
        """Return the best iteration if it reached more than the current files, else None."""
        best, now = self._state.best_span, self._state.run.completion
        if best is None or best.boundary is None or best.completion is None or now is None:
            return None
        return best if best.completion > now else None

    def best_rollback(self) -> Rollback | None:
        """Return the rollback to the best point and its effect; None if nothing is better."""
        best = self.better_snapshot()
        if best is None or best.boundary is None:
            return None
        tree = best.boundary.tree
        try:
            changes = self._scheduler.run_job(
                "changes", lambda: self._workspace.changes(self.latest.tree, tree)
            )
        except WorkspaceError as error:  # the agent may have deleted the snapshot
            self.record(
                ev.Noticed(
                    level="warn",
                    source="workspace",
                    text=f"cannot restore the best iteration: {error}",
                )
            )
            return None
        return Rollback(
            snapshot=best.boundary.number,
            iteration=best.number,
            completion=best.completion,
            files=len(changes),
            added=sum(change.added for change in changes),
            removed=sum(change.removed for change in changes),
            paths=[change.path for change in changes[:MAX_PATHS]],
        )

    def save_checkpoint(
        self,
        iteration: int,
        trigger: Trigger,
        snapshot: int | None = 0,
        note: str = "",
        error: str = "",
        changes: tuple[FileChange, ...] = (),
        by: str = "",
    ) -> None:
        """Record a checkpoint whose snapshot already exists.

        `snapshot`: 0 means the last boundary's, None that it failed. The checkpoint's file is
        written in the background, unless checkpoints are disabled.
        """
        self._captured += 1
        path, session_id = "", self._session_id
        duration_s = self._scheduler.seconds_since(self._session_began)
        memory = self._memory.take_peak()
        if trigger == "end":
            self._session_id, self._session_began = "", None
        settings, files = self._run.settings.checkpoints, self._state.files
        if iteration and settings.enabled:
            facts = CheckpointFacts(
                iteration, self._captured, trigger, session_id, duration_s, memory, changes
            )
            path = self._files.path(iteration, self._captured)
            self._scheduler.spawn(
                "checkpoint", lambda: self._files.capture(facts), self._record_failure
            )
        self.record(
            ev.CheckpointCaptured(
                iteration=iteration,
                number=self._captured,
                trigger=trigger,
                snapshot=self.latest.number if snapshot == 0 else snapshot,
                path=path,
                session_id=session_id,
                duration_s=duration_s,
                memory_bytes=memory,
                files=sum(total.files for total in files.totals),
                modified=[change.path for change in files.changes[:MAX_PATHS]],
                interval_s=settings.interval_s if trigger == "start" and settings.enabled else 0,
                note=note,
                error=error,
                by=by,
            )
        )

    def _snapshot(self, iteration: int, reason: str) -> Snapshot:
        number = self._next()
        snapshot = self._scheduler.run_job(
            "snapshot", lambda: self._workspace.snapshot(number, f"ralph: {reason}")
        )
        self.record(snapshot_taken(iteration, snapshot, reason))
        return snapshot

    def _next(self) -> int:
        self._last_number += 1
        return self._last_number


def _restore_failed(job: Job, how: str) -> ev.Event:
    if not isinstance(job.error, RalphError | OSError):
        raise job.error or TypeError("a snapshot was expected")
    text = f"the restore failed {how}: {job.error}"
    return ev.Noticed(level="error", source="workspace", text=text)
