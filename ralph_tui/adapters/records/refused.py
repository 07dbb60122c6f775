"""Why a file is no journal to be read: one sentence each, the same however it is read."""

from pathlib import Path

from ralph_tui.base.errors import JournalError, why
from ralph_tui.base.plain_files import reading
from ralph_tui.text.sanitize import one_line


def not_ours(path: Path, number: int) -> JournalError:
    """What is said of a line of another kind of file."""
    words = "is not a line of a ralph-tui journal; name the events.jsonl of a run"
    return JournalError(f"{path}:{number} {words}")


def not_the_start(path: Path, number: int) -> JournalError:
    """What is said of a journal whose first event is another one."""
    words = "is not the start of a ralph-tui journal; name the events.jsonl of a run"
    return JournalError(f"{path}:{number} {words}")


def empty(path: Path) -> JournalError:
    """What is said of a journal without an event."""
    return JournalError(f"the journal {path} is empty; the run never began")


def check_readable(path: Path) -> None:
    """Raises ``JournalError`` where it cannot be opened."""
    try:
        reading(path).close()
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> JournalError:
    """What is said of a journal that the system does not open."""
    what = why(error, "name a run's folder or its events.jsonl")
    return JournalError(f"cannot read the journal {one_line(str(path))}: {what}")
