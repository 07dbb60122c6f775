"""What a fleet's record is told when trees of it are removed whose work was not collected."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime

from ralph_tui.adapters.records.journal import Journal, cut
from ralph_tui.errors import JournalError
from ralph_tui.fleet.events import CollectionFailed, TreeRemoved
from ralph_tui.fleet.records.folders import FleetFolder, take_lock
from ralph_tui.fleet.records.reading import read_fleet
from ralph_tui.runtime.clock import SystemClock

REMOVED = "its tree was removed by 'ralph-tui fleet prune'"


@contextmanager
def no_fleet_begins(fleets: Sequence[FleetFolder]) -> Iterator[None]:
    """While trees of these are removed: nobody resumes them, and nobody else writes their journals.

    Raises ``LockHeldError`` where a fleet runs beside one of them, ``WorkspaceError``.
    """
    since = datetime.now(UTC).astimezone().isoformat(sep=" ", timespec="seconds")
    repositories = dict.fromkeys(fleet.path.parents[3] for fleet in fleets)
    with ExitStack() as held:
        for root in repositories:
            held.callback(take_lock(root, "", since).release)
        yield


def record_removed(folder: FleetFolder, loops: Sequence[str]) -> None:
    """Record that the trees of these loops are gone, and work that was in them alone.

    Call it with the lock held.

    Raises ``JournalError``: also where the journal goes on with what cannot be read.
    """
    recording = read_fleet(folder.journal)
    if recording.journal.problem:
        raise JournalError(recording.journal.problem)
    cut(recording.journal)
    state = recording.state()
    last = recording.events[-1]
    journal = Journal(folder.journal, SystemClock(last.at), seq=last.seq, last_at=last.at)
    try:
        for loop in loops:
            if not state.loops[loop].collected:
                journal.append(CollectionFailed(loop=loop, reason=REMOVED, final=True))
            journal.append(TreeRemoved(loop=loop))
    finally:
        journal.close()
