"""The journal: one JSON object per line, append-only, one writer. All other data is derived.

A crash may leave a torn last line. It is dropped on reading, and cut off before appending. Any
other bad line is an error that names ``path:line``; the part before it stays readable.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, TypeVar

from ralph_tui.adapters.records.folders import from_here
from ralph_tui.adapters.records.newer import newer_sentence
from ralph_tui.adapters.records.refused import (
    empty,
    foreign_line_error,
    unreadable_error,
    wrong_start_error,
)
from ralph_tui.base.errors import NO_ROOM, JournalError, JournalFullError, why
from ralph_tui.base.plain_files import make_folder, open_plain, read_bytes, reading, write_whole
from ralph_tui.events import SCHEMA_VERSION, Event, RunStarted, parse_event, parse_newer
from ralph_tui.events.base import EPOCH
from ralph_tui.ports.host import Clock

KEEP_SIZE = 1
RESERVE_SIZE = 16 * 1024
"""Bytes to reserve at a time."""
LEAST = 8 * 1024
"""Reserve more when fewer bytes than this are left."""


class Reserve:
    """Disk space reserved for one open file, so that it can grow even if the disk is full.

    Only Linux can reserve blocks without making the file longer. On other systems, and on file
    systems without support, nothing is reserved.
    """

    def __init__(self) -> None:
        self._until = 0

    def hold(self, descriptor: int, end: int) -> None:
        """Make sure that the file, which ends at byte `end`, can grow; never raises."""
        if end + LEAST <= self._until:
            return
        self._until = end + RESERVE_SIZE  # set even if it fails, to avoid a retry for every event
        _allocate(descriptor, end, RESERVE_SIZE)


def _allocate(descriptor: int, start: int, size: int) -> None:
    if not sys.platform.startswith("linux"):
        return
    with suppress(OSError, AttributeError, ImportError):  # no C library, or one without the call
        import ctypes  # noqa: PLC0415 - only writers need it

        call = ctypes.CDLL(None).fallocate
        call.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
        call(descriptor, KEEP_SIZE, start, size)


S = TypeVar("S", bound=Event)
"""The type of a journal's first event."""
CUT_OFF = "its last line was cut off by a crash"
SYNC_SECONDS = 1.0
"""A power cut may lose the events of at most this many seconds."""
E = TypeVar("E", bound=Event)


class Journal:
    """The only writer of a journal: stamps, appends and flushes events.

    Durable events are synced to disk at once, all others about once a second.
    """

    def __init__(
        self, path: Path, clock: Clock, *, seq: int = 0, last_at: datetime = EPOCH
    ) -> None:
        """Open for appending; `seq` and `last_at` belong to the last event in the file."""
        self.path = path
        self.seq = seq
        self._clock = clock
        self._dirty = False
        self._next_tick = clock.monotonic() + SYNC_SECONDS
        self._last_at = last_at
        self._descriptor = self._open()
        self._reserve = Reserve()
        self._reserve.hold(self._descriptor, os.fstat(self._descriptor).st_size)

    def _open(self) -> int:
        try:
            make_folder(self.path.parent)
            return open_plain(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            what = why(error, "make the folder writable or free some space")
            raise JournalError(f"cannot write the journal {self.path}: {what}") from error

    def append(self, event: E) -> E:
        """Write one event; return it stamped.

        The wall clock may be set back, but `at` never decreases within a journal. Raises
        ``JournalError`` if writing fails; then no part of the line remains in the file.
        """
        self._last_at = max(self._last_at, self._clock.now())
        stamped = event.model_copy(update={"seq": self.seq + 1, "at": self._last_at})
        self._write(stamped.model_dump_json().encode() + b"\n")
        self.seq += 1
        self._dirty = True
        if event.durable:
            self.sync()
        return stamped

    def _write(self, line: bytes) -> None:
        end = os.fstat(self._descriptor).st_size
        try:
            written = os.write(self._descriptor, line)
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
        except OSError as error:
            os.ftruncate(self._descriptor, end)
            kind = JournalFullError if error.errno in NO_ROOM else JournalError
            raise kind(
                f"cannot append to the journal {self.path}; earlier events are safe: "
                f"{why(error, 'free some space')}"
            ) from error
        self._reserve.hold(self._descriptor, end + len(line))

    def sync(self) -> None:
        """Sync written events to disk; if the disk is full, the next call tries again."""
        if not self._dirty:
            return
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            if error.errno in NO_ROOM:
                return
            raise JournalError(
                f"cannot write the journal {self.path}: {error.strerror}; check the disk"
            ) from error
        self._dirty = False

    def tick(self) -> bool:
        """Sync, and check that the file still exists under its name; called once a second.

        Returns True if the file had been deleted (``git clean -fdx``, ``rm``) and has been written
        again. If the disk is full, the open descriptor keeps the record until there is room.
        """
        now = self._clock.monotonic()
        if now < self._next_tick:
            return False
        self._next_tick = now + SYNC_SECONDS
        self.sync()
        if self._is_named():
            return False
        try:
            self._restore()
        except OSError as error:
            if error.errno in NO_ROOM:
                return False
            raise JournalError(
                f"the journal {self.path} was deleted and cannot be written again: "
                f"{why(error, 'put its folder back')}"
            ) from error
        return True

    def _is_named(self) -> bool:
        mine = os.fstat(self._descriptor)
        try:
            there = self.path.lstat()  # a link to the file, wherever it is now, does not count
        except OSError:
            return False
        return (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino)

    def _restore(self) -> None:
        """Write the whole record again under its name, from the open descriptor."""
        lost = self._descriptor
        make_folder(self.path.parent)
        fresh = self.path.with_name(f"{self.path.name}.{os.getpid()}.tmp")
        fresh.unlink(missing_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND
        descriptor = open_plain(fresh, flags, 0o600)
        try:
            offset = 0
            while chunk := os.pread(lost, 1 << 20, offset):
                offset += os.write(descriptor, chunk)
            os.fsync(descriptor)
            fresh.rename(self.path)
        except OSError:
            os.close(descriptor)
            fresh.unlink(missing_ok=True)
            raise
        self._descriptor, self._reserve = descriptor, Reserve()
        os.close(lost)

    def close(self) -> None:
        """Sync and close; if the file was deleted, restore it first."""
        self.sync()
        if not self._is_named():  # deleted since the last check
            with suppress(OSError):
                self._restore()
        with suppress(OSError):  # frees the space reserved beyond the end
            os.ftruncate(self._descriptor, os.fstat(self._descriptor).st_size)
        os.close(self._descriptor)


class Recording(NamedTuple):
    """A journal as it was read: its events, and why the rest could not be read."""

    path: Path
    events: list[Event]
    problem: str = ""
    """One sentence about the first bad line; empty if there was no bad line."""
    good_bytes: int = 0
    """Bytes in the readable part, after which a writer may continue."""
    torn: bool = False
    """True if a crash cut the last line off; it is not in `events`."""
    size: int = 0
    """Size of the file in bytes when it was read; a different size means a later write."""
    records_root: Path | None = None
    """Folder that paths in its events are relative to; None for the folder of `path`."""

    @property
    def folder(self) -> Path:
        """Folder with the run's files."""
        return self.records_root or self.path.parent

    @property
    def newer(self) -> str:
        """A sentence if a newer version wrote the journal, otherwise empty."""
        first = self.events[0] if self.events else None
        return newer_sentence(first) if isinstance(first, RunStarted) else ""

    @property
    def remark(self) -> str:
        """The main reason why something is missing; empty if nothing is missing."""
        torn = CUT_OFF if self.torn else ""
        return self.problem or self.newer or torn

    @property
    def is_outdated(self) -> bool:
        """True if the journal has been written to or removed since it was read."""
        return _size(self.path) != self.size


def parse_line(line: bytes, started: RunStarted | None) -> Event:
    """Parse one line; `started` is the first event, None while parsing that line.

    Raises ``ValueError`` for a bad line.
    """
    if started is not None and started.schema_version <= SCHEMA_VERSION:
        return parse_event(line)
    event = parse_newer(line)
    if isinstance(event, RunStarted) and event.schema_version <= SCHEMA_VERSION:
        return parse_event(line)  # parse it by the current rules instead
    return event


def read_journal(path: Path) -> Recording:
    """Read a run's whole journal, up to the first bad line.

    Raises ``JournalError`` if the journal is missing, empty or not one of ours.
    """
    return read_events(path, RunStarted, parse_line)


def read_events(
    path: Path, begins: type[S], parse: Callable[[bytes, S | None], Event]
) -> Recording:
    """Read a journal of any kind; see `read_journal`.

    The first event must be of type `begins`. `parse` is called with a line and the first event
    (None for the first line), and raises ``ValueError`` for a bad line.
    """
    events: list[Event] = []
    size = _size(path)  # before the first line, so that later appends are noticed
    problem, good = "", 0
    torn = False
    started: S | None = None
    for number, line in _lines(path):
        whole = line.endswith(b"\n")
        if not line.strip():
            good += len(line)
            continue
        try:
            event = parse(line, started)
        except ValueError:
            if not whole:
                torn = True
                break
            if not events:
                raise foreign_line_error(path, number) from None
            problem = f"{from_here(path)}:{number} cannot be read; only earlier events are shown"
            break
        if started is None:
            if not isinstance(event, begins):
                raise wrong_start_error(path, number)
            started = event
        if not whole:
            torn = True
            break
        if event.seq != len(events) + 1:
            problem = (
                f"{from_here(path)}:{number} has number {event.seq} instead of "
                f"{len(events) + 1}; only earlier events are shown"
            )
            break
        events.append(event)
        good += len(line)
    if not events:
        raise empty(path)
    return Recording(path, events, problem, good, torn, size)


def cut(recording: Recording, keep: int | None = None) -> Path | None:
    """Cut off a torn last line, or all but `keep` events, so that a writer can continue.

    With `keep`, the journal is copied first, and the copy's path is returned. The caller must hold
    the lock. Raises ``JournalError``.
    """
    path, aside = recording.path, None
    length = recording.good_bytes
    try:
        if keep is not None:
            whole = read_bytes(path, most=None)
            lines = [line for line in whole.splitlines(keepends=True) if line.strip()]
            length = sum(len(line) for line in lines[:keep])
            aside = path.with_name(f"{path.name}.{datetime.now(UTC):%Y%m%dT%H%M%S}.bad")
            write_whole(aside, whole)
        descriptor = open_plain(path, os.O_WRONLY)
        try:
            if os.fstat(descriptor).st_size > length:
                os.ftruncate(descriptor, length)
        finally:
            os.close(descriptor)
    except OSError as error:
        what = why(error, "make the folder writable")
        raise JournalError(f"cannot write the journal {path}: {what}") from error
    return aside


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with reading(path) as file:
            yield from enumerate(file, 1)
    except OSError as error:
        raise unreadable_error(path, error) from error
