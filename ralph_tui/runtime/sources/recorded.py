"""A recorded run as the source of a screen, at its end or at one of its events."""

import time
from functools import partial
from pathlib import Path

from ralph_tui.adapters.records.folders import worktree_around
from ralph_tui.adapters.records.journal import Recording
from ralph_tui.adapters.records.lazy import LazyJournal
from ralph_tui.adapters.records.runs import SILENCE_S, RecordedRun
from ralph_tui.adapters.records.status import has_process, phase_without_end, worked_after
from ralph_tui.analysis import away
from ralph_tui.base.errors import RalphError, UsageError
from ralph_tui.events import RunStarted
from ralph_tui.runtime.sources.replay import Replay
from ralph_tui.runtime.sources.run_record import RunRecord
from ralph_tui.runtime.sources.snapshots import RecordedFiles
from ralph_tui.state import RunState
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import one_line
from ralph_tui.text.terms import UNHEARD


def opened(record: Path | Recording, *, note: str = "", at: int | None = None) -> Replay:
    """Open a recorded run at event number `at`, or at its end; `note` is a sentence about it.

    A journal given by its path is read as needed, and followed while it grows. Raises
    ``JournalError``, and ``UsageError`` if there is no such event.
    """
    if isinstance(record, Path):
        name, folder = f"attempt {one_line(record.parent.name)}", record.parent
        replay = Replay(LazyJournal(record), folder, note=note)
        replay.record = RunRecord(record)
        run = RecordedRun(record)
        if worktree_around(folder) is not None:  # for a copy elsewhere, this is unknown
            replay.gone = partial(_is_gone, run)
            replay.worked_after = partial(worked_after, run)
        phase, reason = phase_without_end(run)
        if phase == "unheard":
            replay.why_lost = f"{UNHEARD.word}: {reason}"
    else:
        name, folder = run_name(record), record.folder
        replay = Replay(record.events, folder, note=record.problem or note or record.remark)
        replay.record = RunRecord(record.path, record)
        if _imported(record):
            replay.gone = lambda _: True
    if isinstance(record, Path) or not _imported(record):
        replay.files = RecordedFiles(folder)
    if at is not None:
        replay.seek(check_position(name, replay.length, at))
    return replay


def was_left_early(replay: Replay) -> bool:
    """True if the user has not seen the run's end, so that its result is shown first."""
    first, seen = replay.first, replay.record.seen() if replay.record is not None else None
    return isinstance(first, RunStarted) and not first.imported and away.was_left_early(first, seen)


def run_name(recording: Recording) -> str:
    """Return the name of the run, as its record has it, else its attempt."""
    first = recording.events[0] if recording.events else None
    if isinstance(first, RunStarted) and first.imported:
        return first.name
    return f"attempt {one_line(recording.path.parent.name)}"


def _is_gone(run: RecordedRun, state: RunState) -> bool:
    """True if no process is working on the run, or if a loop's hooks have fallen silent."""
    started = state.run.started
    try:
        if started is None:
            return False
        if run.hooked:
            return time.time() - run.journal.stat().st_mtime >= SILENCE_S
        return not has_process(run, started.run_id)
    except (OSError, RalphError):
        return False


def _imported(recording: Recording) -> bool:
    first = recording.events[0] if recording.events else None
    return isinstance(first, RunStarted) and bool(first.imported)


def check_position(name: str, length: int, at: int) -> int:
    """Return `at` if the named record has such an event. Raises ``UsageError`` if not."""
    if 1 <= at <= length:
        return at
    raise UsageError(
        f"{name} has {count(length, 'event')}; --at must be from 1 to {length}, not {at}"
    )
