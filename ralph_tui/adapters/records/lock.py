"""One run per worktree: an OS lock (flock) on ``.aiwg/ralph/lock``, which names its owner.

Only keepers inherit the descriptor, so the lock is free exactly when ralph-tui and the last agent
process are gone. A stale file never blocks; only an open descriptor does.

A run first locks the worktree's folder, and then the lock file. This keeps out a second run even if
the lock file is removed, or is replaced between opening and locking.

Use flock, never lockf: a POSIX lock is lost when its owner merely opens and closes the file.
"""

import fcntl
import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Self

from ralph_tui.base.errors import LockHeldError, WorkspaceError, why
from ralph_tui.base.plain_files import NotPlainError, clear_way, make_folder, open_plain, read_bytes
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.format import day_and_clock
from ralph_tui.text.sanitize import one_line

LARGEST = 1 << 16
"""Maximum number of bytes to read from a lock file."""
GRACE_SECONDS = 8.0
"""Seconds that a keeper may need to clean up after a run has died."""


class Owner(NamedTuple):
    """The owner of a lock, as named in its file."""

    pid: int = 0
    host: str = ""
    started: str = ""
    """ISO-8601, UTC."""
    run: str = ""
    """Task and attempt."""
    run_id: str = ""
    socket: str = ""
    """Path of the command socket; empty if there is no socket."""

    @property
    def since(self) -> str:
        """When the owner started, in local time; the raw value if it is not a time."""
        try:
            return day_and_clock(datetime.fromisoformat(self.started), datetime.now(UTC))
        except (ValueError, OverflowError):
            return self.started

    @property
    def alive(self) -> bool:
        """False if the owner's process is gone, even if its agents are still being stopped."""
        if not self.pid or self.host != os.uname().nodename:
            return True
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read the owner from a lock file; anything unreadable results in empty fields."""
        try:
            names = ("host", "started", "run", "run_id", "socket")
            raw = parse_json(read_bytes(path, most=LARGEST))
            pid = int(raw["pid"])
            return cls(
                pid if 0 < pid < 1 << 31 else 0, *(one_line(str(raw.get(key, ""))) for key in names)
            )
        except (OSError, ValueError, KeyError, TypeError, OverflowError):
            return cls()


class Lock:
    """An acquired lock; `release` or the end of the process frees it."""

    def __init__(self, path: Path, descriptor: int, gate: int, owner: Owner) -> None:
        """See `acquire`; `gate` is the descriptor of the worktree's folder."""
        self.path = path
        self.descriptor = descriptor
        self.owner = owner
        self._gate = gate

    def rename(self, run: str, address: str = "") -> None:
        """Write the run's name and the address of its command socket to the lock file."""
        self.owner = self.owner._replace(run=run, socket=address)
        _write(self.descriptor, self.owner)

    def keep_name(self) -> None:
        """Restore a lock file that was removed or replaced by a FIFO, without losing the lock."""
        if _is_named(self.descriptor, self.path):
            return
        try:
            clear_way(self.path)
            fresh = _open(self.path)
        except (WorkspaceError, OSError):
            return
        try:
            fcntl.flock(fresh, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _write(fresh, self.owner)
        except OSError:
            os.close(fresh)
            return
        # The old descriptor's number must refer to the new file, because keepers inherit it.
        os.dup2(fresh, self.descriptor, inheritable=False)
        os.close(fresh)

    def release(self) -> None:
        """Release the lock."""
        os.close(self.descriptor)
        os.close(self._gate)


def acquire(
    path: Path, run: str, run_id: str, started: str, hurry: Callable[[], None] = lambda: None
) -> Lock:
    """Acquire the worktree's lock.

    If the owner is dead but its agents are still being stopped, call `hurry` while waiting.
    Raises ``LockHeldError`` with the owner, or ``WorkspaceError`` if the file cannot be created.
    """
    descriptor, gate = _open(path), -1
    try:
        gate = _open_gate(path)
        deadline = time.monotonic() + GRACE_SECONDS
        while not (_try_gate(gate) and _try(descriptor)):
            owner = Owner.read(path)
            if owner.alive or time.monotonic() > deadline:
                raise LockHeldError(_describe_owner(owner))
            hurry()
            time.sleep(0.05)
            if not _is_named(descriptor, path):  # removed, and perhaps created again, meanwhile
                os.close(descriptor)
                descriptor = -1
                descriptor = _open(path)
        owner = Owner(os.getpid(), os.uname().nodename, started, run, run_id)
        _write(descriptor, owner)
    except (LockHeldError, WorkspaceError, OSError) as error:
        for opened in (descriptor, gate):
            if opened >= 0:
                os.close(opened)
        if isinstance(error, OSError):
            fault = why(error, "free some space")
            raise WorkspaceError(f"cannot write to {path}: {fault}") from error
        raise
    lock = Lock(path, descriptor, gate, owner)
    lock.keep_name()
    return lock


def holder(path: Path) -> Owner | None:
    """Return the owner of the lock, or None if it is free.

    Raises ``WorkspaceError`` if the path is not a plain file, because a run may be active then.
    """
    try:
        descriptor = open_plain(path)
    except NotPlainError as error:
        raise WorkspaceError(f"the lock {path} cannot be read: {why(error, '')}") from error
    except OSError:
        return None
    try:
        return None if _try(descriptor) else Owner.read(path)
    finally:
        os.close(descriptor)


def worker(path: Path) -> Owner | None:
    """Return the owner of the lock, or None if its process is gone; its agents may remain."""
    owner = holder(path)
    return owner if owner is not None and owner.alive else None


def owner_of(lock: Path, run_id: str) -> Owner | None:
    """Return the owner if it works on this run and its process exists, or None."""
    owner = worker(lock)
    return owner if owner is not None and owner.run_id == run_id else None


def _open(path: Path) -> int:
    try:
        make_folder(path.parent)
        return open_plain(path, os.O_RDWR | os.O_CREAT, 0o600)
    except NotPlainError as error:
        raise WorkspaceError(f"the lock {path} cannot be taken: {why(error, '')}") from error
    except OSError as error:
        raise WorkspaceError(
            f"cannot write to {path.parent}: {why(error, 'make the folder writable')}"
        ) from error


def _open_gate(path: Path) -> int:
    """Open the worktree's folder, which no run removes and no one can duplicate."""
    inside = path.parent.name == "ralph" and path.parent.parent.name == ".aiwg"
    folder = path.parents[2] if inside else path.parent
    try:
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise WorkspaceError(f"cannot open {folder}: {error.strerror}; make it readable") from error


def _try_gate(descriptor: int) -> bool:
    try:
        return _try(descriptor)
    except OSError:
        return True  # a network file system may not lock folders; the file's lock must suffice


def _is_named(descriptor: int, path: Path) -> bool:
    try:
        there = path.lstat()
    except OSError:
        return False
    mine = os.fstat(descriptor)
    return (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino)


def _try(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write(descriptor: int, owner: Owner) -> None:
    """Write the owner in one piece, padded to the old length, so that no reader sees a mix."""
    line = json.dumps(owner._asdict()).encode() + b"\n"
    os.pwrite(descriptor, line.ljust(os.fstat(descriptor).st_size), 0)


def _describe_owner(owner: Owner) -> str:
    if not owner.pid:
        return "another run owns this worktree; wait for it to end, or use another worktree"
    return (
        f"the run {owner.run} (process {owner.pid} on {owner.host}, since {owner.since}) "
        "owns this worktree; wait for it to end, stop it, or use another worktree"
    )
