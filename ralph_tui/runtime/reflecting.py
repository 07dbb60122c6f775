"""Add a user's reflection on an attempt that has ended: to its journal, then to its files.

This holds the worktree's lock, like any writer of a journal. A live run records reflections itself
(`commands.Reflect`).
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ralph_tui.adapters.records.aiwg.tasks import rebuild_attempt, write_task
from ralph_tui.adapters.records.folders import from_here
from ralph_tui.adapters.records.journal import Journal, cut, read_journal
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.adapters.records.task_index import TaskIndex
from ralph_tui.base.errors import UsageError, WorkspaceError, why
from ralph_tui.layers.memory.user_reflection import user_reflection
from ralph_tui.runtime.clock import SystemClock
from ralph_tui.runtime.worktree_lock import acquire_worktree_lock
from ralph_tui.state import RunState


def reflect(run: RecordedRun, text: str) -> None:
    """Record the reflection and rebuild the files derived from the journal.

    Raises ``LockHeldError``, ``UsageError``, ``JournalError`` or ``WorkspaceError``.
    """
    lock = acquire_worktree_lock(run.lock, "history")
    try:
        with _keep_times(run.journal), _keep_times(run.status):
            _append(run, text)
            task = run.folder.parent.parent
            with TaskIndex(task.parent.parent).changing(task.name, over=True):
                rebuild_attempt(run.folder)
                write_task(task)
    except OSError as error:
        rest = error.filename or "the files derived from it"
        raise WorkspaceError(
            f"the reflection is saved in {from_here(run.journal)}, but {rest} cannot be written: "
            f"{why(error, 'make it writable')}, then run 'ralph-tui rebuild'"
        ) from error
    finally:
        lock.release()


def _append(run: RecordedRun, text: str) -> None:
    recording = read_journal(run.journal)
    if recording.problem:
        what = recording.problem.partition(";")[0]
        raise UsageError(f"{what}, so nothing can be appended; correct the file, or move it away")
    state = RunState().apply_all(recording.events)
    cut(recording)
    journal = Journal(run.journal, SystemClock(), seq=state.seq, last_at=state.at)
    try:
        journal.append(user_reflection(state, text))
    finally:
        journal.close()


@contextmanager
def _keep_times(path: Path) -> Iterator[None]:
    """Keep a file's times: a note must not make an old run look recent."""
    try:
        before = path.lstat()
    except OSError:
        yield
        return
    yield
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns), follow_symlinks=False)
