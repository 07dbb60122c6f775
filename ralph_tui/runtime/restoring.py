"""Restore a worktree to a snapshot of a run that has ended, and record that in its journal.

The caller holds the worktree's lock. No file changes until the current files are saved in a
snapshot that the journal lists. If a kill interrupts the restore, a resume or the same command
completes it.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui.adapters.processes.sweep import sweep
from ralph_tui.adapters.records.aiwg.tasks import rebuild_attempt, write_task
from ralph_tui.adapters.records.folders import ralph_folder, worktree_root
from ralph_tui.adapters.records.journal import Journal, Recording, cut, read_journal
from ralph_tui.adapters.records.runs import RecordedRun, recorded_run_ids
from ralph_tui.adapters.workspace.hidden_refs import saved_snapshots
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.adapters.workspace.snapshots import GitWorkspace
from ralph_tui.base.errors import JournalError, RalphError, UsageError, WorkspaceError
from ralph_tui.events import Event, Noticed, RestoreBegan, SnapshotTaken, WorktreeRestored
from ralph_tui.loop.steps.workspace_facts import snapshot_taken, worktree_restored
from ralph_tui.runtime.clock import SystemClock
from ralph_tui.runtime.worktree_lock import acquire_worktree_lock
from ralph_tui.state import RunState
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import clip, one_line

if TYPE_CHECKING:
    from ralph_tui.ports.worktree import Workspace

LIST = "omit the number to list all snapshots"


@dataclass(frozen=True)
class SnapshotRow:
    """A snapshot of a run, as listed for the user."""

    taken: SnapshotTaken
    completion: float | None
    """Completion in percent, if an iteration ended here and was measured."""
    best: bool
    undo: bool
    """True if it saved the files before a restore."""
    held: bool
    """True if the repository still has it."""


def list_snapshots(state: RunState, held: frozenset[int]) -> list[SnapshotRow]:
    """Return every snapshot of a run, newest last; `held` has the numbers that still exist."""
    timeline, begun = state.timeline, state.oversight.restoring
    completions: dict[int, float] = {}
    undo = {back.present for span in timeline.spans for back in span.rollbacks}
    if begun is not None:
        undo.add(begun.present)
    for span in timeline.spans:
        if span.boundary is not None and span.completion is not None:
            completions.setdefault(span.boundary.number, span.completion)
    best = _number_of_best(state)
    return [
        SnapshotRow(taken, completions.get(number), number == best, number in undo, number in held)
        for number, taken in sorted(timeline.snapshots.items(), key=lambda item: item[1].seq)
    ]


def check_available(workspace: GitWorkspace, target: SnapshotTaken) -> None:
    """Raise ``WorkspaceError`` if the repository no longer has a snapshot."""
    if not saved_snapshots(workspace.repository, [target]):
        raise WorkspaceError(
            f"{one_line(str(workspace.root))} no longer has snapshot {target.number} (pruned, or "
            f"a new clone); {LIST}"
        )


def find_snapshot(state: RunState, word: str) -> SnapshotTaken:
    """Return the snapshot named by a number, ``best`` or ``iter-N``; ``UsageError`` if none."""
    known = state.timeline.snapshots
    if word == "best":
        best = _number_of_best(state)
        if best is None:
            raise UsageError("no best snapshot: nothing was measured and saved in this run")
        return known[best]
    kind, _, digits = word.rpartition("iter-")
    if kind or not (digits.isascii() and digits.isdecimal() and len(digits) < 10):
        shown = clip(one_line(word), 40)
        raise UsageError(f"'{shown}' is not a snapshot; use a number, best, or iter-N")
    number = int(digits)
    if word.startswith("iter-"):
        for span in reversed(state.timeline.spans):
            # If an iteration is unfinished or its snapshot failed, it has the previous boundary.
            if span.number == number and span.boundary and span.boundary.iteration == number:
                return span.boundary
        raise UsageError(f"no snapshot at the end of iteration {number}; {LIST}")
    if number not in known:
        raise UsageError(f"no snapshot {number} in this run; {LIST}")
    return known[number]


@contextmanager
def locked(root: Path) -> Iterator[None]:
    """Hold the worktree's lock during a restore. Raises ``LockHeldError`` if a run works there."""
    lock = acquire_worktree_lock(ralph_folder(root) / "lock", "restore")
    try:
        yield
    finally:
        lock.release()


def check_recordable(recording: Recording) -> None:
    """Raise ``JournalError`` if no event can be appended after those that were read."""
    if recording.problem:
        what = recording.problem.partition(";")[0]
        raise JournalError(f"{what}; nothing was restored, because it could not be recorded")


def restore_ended(run: RecordedRun, number: int, by: str, shown: int) -> list[Event]:
    """Restore a snapshot from a run's last screen and return the events recorded.

    The screen shows the run up to event `shown`. Raises ``RalphError``, also if the run has been
    resumed since, which the screen does not see.
    """
    with locked(worktree_root(run.folder)):
        recording = read_journal(run.journal)
        check_recordable(recording)
        if len(recording.events) != shown:
            raise RalphError(
                f"{run.name} was continued elsewhere since this screen showed its end; "
                "nothing was restored; see ralph-tui status"
            )
        state, root = RunState().apply_all(recording.events), worktree_root(run.folder)
        assert state.run.started is not None  # read_journal guarantees the first event
        target = find_snapshot(state, str(number))
        with closing(GitWorkspace(open_repository(root), state.run.started.run_id)) as workspace:
            check_available(workspace, target)
            # The lock is held, so all runs have ended; a killed one's git may still be writing.
            sweep(recorded_run_ids(root).__contains__, root)
            restore_worktree(recording, state, workspace, target, by)
        with suppress(OSError):
            refresh(run)
        return read_journal(run.journal).events[shown:]


def refresh(run: RecordedRun) -> None:
    """Rebuild the files derived from the journal.

    Raises ``OSError``; even then, the restore is done, and ``ralph-tui rebuild`` repeats this step.
    """
    rebuild_attempt(run.folder)
    write_task(run.folder.parent.parent)


def restore_worktree(
    recording: Recording, state: RunState, workspace: "Workspace", target: SnapshotTaken, by: str
) -> tuple[WorktreeRestored, bool]:
    """Save the current files, restore and record; the flag is True if the result was also saved.

    `state` is the fold of `recording`, whose torn last line is cut off. Raises ``WorkspaceError``
    or ``JournalError``, whose messages say whether files were touched.
    """
    number = max(workspace.newest(), max(state.timeline.snapshots, default=0)) + 1
    reason = f"before restoring snapshot {target.number}"
    present = workspace.snapshot(number, f"ralph: {reason}")
    # Counting reads everything that will be written, so an incomplete snapshot fails here.
    workspace.changes(present.tree, target.tree)
    cut(recording)
    iteration, last = state.run.iteration, recording.events[-1]
    with _journal(recording, last) as append, _block_signals():
        append(snapshot_taken(iteration, present, reason))
        began = RestoreBegan(iteration=iteration, snapshot=target.number, present=number, by=by)
        append(began)
        try:
            restored = workspace.restore(target.tree)
        except (RalphError, OSError) as error:
            text = f"the restore failed part-way; snapshot {number} has your earlier files: {error}"
            with suppress(JournalError):
                append(Noticed(level="error", source="workspace", text=text))
            raise WorkspaceError(
                f"the restore failed part-way ({error}); try again, or restore snapshot "
                f"{number}, which has your earlier files"
            ) from error
        event = worktree_restored(iteration, target, number, restored, by)
        append(event)
        reason = f"as snapshot {target.number}"
        try:
            append(
                snapshot_taken(
                    iteration, workspace.snapshot(number + 1, f"ralph: {reason}"), reason
                )
            )
        except WorkspaceError as error:
            text = f"no snapshot taken: {error}"
            append(Noticed(level="error", source="workspace", text=text))
            return event, False
    return event, True


@contextmanager
def _journal(recording: Recording, last: Event) -> Iterator[Callable[[Event], None]]:
    """Yield a function that appends an event and syncs it to disk."""
    journal = Journal(recording.path, SystemClock(), seq=last.seq, last_at=last.at)

    def append(event: Event) -> None:
        journal.append(event)
        journal.sync()

    try:
        yield append
    finally:
        journal.close()


@contextmanager
def _block_signals() -> Iterator[None]:
    """Keep ctrl+c or a closing terminal from leaving files half written.

    Does nothing outside the main thread, because other threads receive no signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ignore(number: int, frame: object) -> None:
        """Do nothing; unlike SIG_IGN, this is not inherited by git."""

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, ignore) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def describe_missing(snapshot: SnapshotTaken) -> str:
    """Describe in one sentence what a snapshot lacks; empty if it is complete."""
    if not snapshot.missing_count:
        return ""
    names = ", ".join(one_line(path) for path in snapshot.missing[:3])
    more = snapshot.missing_count - len(snapshot.missing[:3])
    rest = f" and {more} more" if more else ""
    have = "stays" if snapshot.missing_count == 1 else "stay"
    return (
        f"{count(snapshot.missing_count, 'path')} that it does not contain {have} unchanged: "
        f"{names}{rest}"
    )


def _number_of_best(state: RunState) -> int | None:
    best = state.best_span
    return best.boundary.number if best is not None and best.boundary is not None else None
