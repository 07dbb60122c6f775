"""A recorded run as the source of a screen, at its end or at one of its events."""

from ralph_tui.adapters.records.journal import Recording
from ralph_tui.errors import UsageError
from ralph_tui.events import RunStarted
from ralph_tui.sources.replay import Replay
from ralph_tui.sources.snapshots import RecordedFiles
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import one_line


def opened(recording: Recording, *, note: str = "", at: int | None = None) -> Replay:
    """A recorded run, held at event number `at`, or at its end; `note` is a sentence about it.

    Raises ``UsageError`` where it has no such event.
    """
    folder = recording.folder
    replay = Replay(
        recording.events,
        folder,
        note=recording.problem or note or recording.remark,
        files=RecordedFiles(folder),
    )
    if at is not None:
        replay.seek(within(recording, at))
    return replay


def named(recording: Recording) -> str:
    """What the run is called, where its record tells that."""
    first = recording.events[0] if recording.events else None
    if isinstance(first, RunStarted) and first.imported:
        return f"{first.task}/{first.attempt}"
    return f"attempt {one_line(recording.path.parent.name)}"


def within(recording: Recording, at: int) -> int:
    """`at`, where the recording has an event of that number; raises ``UsageError``."""
    if 1 <= at <= len(recording.events):
        return at
    raise UsageError(
        f"{named(recording)} has {count(len(recording.events), 'event')} and no number {at}: "
        f"--at takes 1 to {len(recording.events)}"
    )
