"""Files of a loop's hooks: the state file, and the journal of their observations.

The state file is read, changed and written as a whole, under its lock. If another program writes it
without the lock, only the fields that were changed here are replaced. An invalid state file is
moved to a dated name, and the hooks then do nothing, because the task is unknown. The file itself
is moved, not copied, so a program that has it open, such as an editor, writes to the moved file.

The journal has the same lines as a run's own. Writers hold the lock of the state file. An
incomplete line left by a killed call is cut off.
"""

import json
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ralph_tui.base.errors import RalphError, why
from ralph_tui.base.file_lock import locked
from ralph_tui.base.plain_files import is_plain, make_folder, open_plain, read_bytes, write_whole
from ralph_tui.layers.context.state_file import State, StateRead, content_of, parse
from ralph_tui.text.foreign_json import parse_json

PATIENCE_S = 8.0
"""Seconds to wait for other calls, which may be waiting for git."""
ASIDE = ".bad"
"""Name suffix of a file that was moved aside."""
LARGEST = 1 << 24
"""Maximum number of bytes in a state file."""
_POLLS, _POLL_S = 13, 0.025
"""Attempts to read it and their interval in seconds, as another program may be writing it."""

RECORDS = Path(".aiwg") / "ralph"
JOURNAL = "events.jsonl"
_TAIL = 1 << 16
"""Maximum number of bytes at the end of a journal that are searched for its last line."""

Stamp = tuple[int, int, int]
Fields = dict[str, Any]
"""An event without its number and time."""


class LockedState:
    """The state file while it is locked."""

    def __init__(self, path: Path, state: State, problems: tuple[str, ...], stamp: Stamp) -> None:
        self.path = path
        self.state = state
        """The new state; assign a changed copy."""
        self.problems = problems
        """Repairs made at the last read; if any, the first save sets the original file aside."""
        self.aside: Path | None = None
        self._read, self._file_stamp = state, stamp

    def save(self) -> None:
        """Write the file if the state has changed. Raises ``RalphError``."""
        if self.state == self._read:
            return
        try:
            if self.problems and self.aside is None:
                self.aside = _move_aside(self.path)
            self._write()
        except OSError as error:
            raise _access_error(self.path, "written", error) from error

    def _write(self) -> None:
        state = self.state
        if _file_stamp(self.path) != self._file_stamp:  # edited by another program
            there = self._read_other()
            changed = {k: v for k, v in state.items() if k not in self._read or self._read[k] != v}
            state = {**(there or state), **changed}
        write_whole(self.path, content_of(state), durable=False)
        self._read, self._file_stamp = self.state, _file_stamp(self.path)

    def _read_other(self) -> State:
        """Return another program's version; if it is invalid, move it aside and return nothing."""
        try:
            return _parse_file(self.path).state
        except FileNotFoundError:
            return {}
        except ValueError:
            self.aside = _move_aside(self.path)
            return {}


@contextmanager
def state_file(path: Path) -> Iterator[LockedState | None]:
    """Yield the locked file; None if there is no loop here. Raises ``RalphError``."""
    if not path.is_symlink() and not path.exists():
        yield None
        return
    with ExitStack() as lock:
        try:
            lock.enter_context(locked(path.with_name(f".{path.name}.lock"), PATIENCE_S))
        except OSError as error:
            raise _access_error(path, "locked", error) from error
        yield _read(path)


def _read(path: Path) -> LockedState | None:
    try:
        stamp = _file_stamp(path)
        found = _parse_file(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _access_error(path, "read", error) from error
    except ValueError as error:
        raise _move_invalid(path, error) from error
    return LockedState(path, found.state, found.problems, stamp)


def _parse_file(path: Path) -> StateRead:
    """Parse the file, and retry while it is being written. Raises ``ValueError`` or ``OSError``."""
    for _ in range(_POLLS - 1):
        with suppress(ValueError):
            return parse(read_bytes(path, most=LARGEST))
        time.sleep(_POLL_S)
    return parse(read_bytes(path, most=LARGEST))


def _move_invalid(path: Path, problem: ValueError) -> RalphError:
    """Move the file aside and return the error to report. Raises ``RalphError`` if that fails."""
    aside = _name_aside(path)
    try:
        path.rename(aside)
    except OSError as error:
        raise _access_error(path, "set aside", error) from error
    return RalphError(
        f"the state file {path} is not valid ({problem}); it was moved to {aside}, and no loop "
        "runs here until you correct it and move it back"
    )


def _move_aside(path: Path) -> Path:
    """Give the file a second name; make a copy if the file system has no hard links."""
    aside = _name_aside(path)
    try:
        os.link(path, aside, follow_symlinks=False)
    except OSError:
        write_whole(aside, read_bytes(path, most=LARGEST), durable=False)
    return aside


def _name_aside(path: Path) -> Path:
    return path.with_name(f"{path.name}.{datetime.now(UTC):%Y%m%dT%H%M%S%f}{ASIDE}")


def _file_stamp(path: Path) -> Stamp:
    there = path.lstat()
    return there.st_ino, there.st_mtime_ns, there.st_size


def _access_error(path: Path, what: str, error: OSError) -> RalphError:
    return RalphError(
        f"the state file {path} cannot be {what}: {why(error, 'make it a writable file')}"
    )


def loop_folder(root: Path, name: str) -> Path:
    """Return the folder of a loop's journal."""
    return root / RECORDS / "hooks" / name


def has_begun(folder: Path) -> bool:
    """True if anything has been recorded."""
    try:
        return (folder / JOURNAL).lstat().st_size > 0
    except OSError:
        return False


def append(folder: Path, events: list[Fields], now: datetime) -> None:
    """Number, stamp and write all events, or none. Raises ``RalphError``."""
    if not events:
        return
    path = folder / JOURNAL
    try:
        descriptor = _open(path)
        try:
            _append(descriptor, path, events, now)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise RalphError(f"cannot record in {path}: {why(error, 'make it writable')}") from error


def _open(path: Path) -> int:
    """Open the journal; create it and its folders if missing."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
    try:
        return open_plain(path, flags, 0o600)
    except FileNotFoundError:
        records = path.parents[2]
        make_folder(records)
        if not is_plain(records / ".gitignore"):
            write_whole(records / ".gitignore", b"*\n", durable=False)
        make_folder(path.parent)
        return open_plain(path, flags, 0o600)


def _append(descriptor: int, path: Path, events: list[Fields], now: datetime) -> None:
    size = os.fstat(descriptor).st_size
    tail = os.pread(descriptor, _TAIL, max(0, size - _TAIL))
    end = tail.rfind(b"\n") + 1
    if end < len(tail):
        size -= len(tail) - end
        os.ftruncate(descriptor, size)
    seq, at = _parse_last(tail[:end], path) if size else (0, datetime.fromtimestamp(0, UTC))
    at = max(at, now)
    lines = b""
    for number, event in enumerate(events, seq + 1):
        stamped = {"seq": number, "at": f"{at:%Y-%m-%dT%H:%M:%S.%fZ}", **event}
        # As compact as a run's own lines, whose form is recognized without parsing.
        line = json.dumps(stamped, ensure_ascii=False, separators=(",", ":"))
        lines += line.encode("utf-8", "replace") + b"\n"
    try:
        written = os.write(descriptor, lines)
        while written < len(lines):
            written += os.write(descriptor, lines[written:])
    except OSError:
        os.ftruncate(descriptor, size)
        raise


def _parse_last(tail: bytes, path: Path) -> tuple[int, datetime]:
    """Return number and time of the last line. Raises ``RalphError``."""
    line = tail.rstrip(b"\n").rpartition(b"\n")[2]
    try:
        event = parse_json(line)
        at = datetime.fromisoformat(event["at"])
        return int(event["seq"]), at if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, TypeError, KeyError) as error:
        raise RalphError(
            f"the last line of {path} cannot be read, so recording there has stopped; move the "
            "file away to start a new one"
        ) from error
