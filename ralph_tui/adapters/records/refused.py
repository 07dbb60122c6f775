"""Errors for files that cannot be read as journals, shared by all readers."""

from pathlib import Path

from ralph_tui.base.errors import JournalError, why
from ralph_tui.base.plain_files import reading
from ralph_tui.text.sanitize import one_line


def foreign_line_error(path: Path, number: int) -> JournalError:
    """Return the error for a line that does not belong to a journal."""
    words = "is not a line of a ralph-tui journal; choose the events.jsonl of a run"
    return JournalError(f"{path}:{number} {words}")


def wrong_start_error(path: Path, number: int) -> JournalError:
    """Return the error for a journal that begins with the wrong event."""
    words = "is not the start of a ralph-tui journal; choose the events.jsonl of a run"
    return JournalError(f"{path}:{number} {words}")


def empty(path: Path) -> JournalError:
    """Return the error for a journal without any event."""
    return JournalError(f"the journal {path} is empty; the run never started")


def check_readable(path: Path) -> None:
    """Raise ``JournalError`` if the file cannot be opened."""
    try:
        reading(path).close()
    except OSError as error:
        raise unreadable_error(path, error) from error


def unreadable_error(path: Path, error: OSError) -> JournalError:
    """Return the error for a file that cannot be opened."""
    what = why(error, "choose a run's folder or its events.jsonl")
    return JournalError(f"cannot read the journal {one_line(str(path))}: {what}")
