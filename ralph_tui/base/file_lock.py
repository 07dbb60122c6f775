"""One writer of a file at a time: an OS lock (flock) beside it, free when its holder ends.

Readers need none: files are replaced, never changed. Standard library only.
"""

import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ralph_tui.base.plain_files import clear_way, folder_of, make_folder, open_plain

PATIENCE_S = 8.0
"""How long another holder is waited for: each holds it for a moment."""
UNFINISHED_S = 60
"""Who writes a file whole needs less: what is older was left by a writer that was killed."""
_FIRST_LOOK_S, _LONGEST_LOOK_S = 0.001, 0.05
_PID_BYTES = 12


@contextmanager
def locked(
    path: Path, patience_s: float = PATIENCE_S, *, below: Path | None = None
) -> Iterator[None]:
    """Hold the lock file, made when it is missing; ``OSError``, also when it is not to be had.

    The errno of a lock that another process holds is ``EAGAIN``; `holder_of` says which.
    """
    make_folder(path.parent, below=below)
    deadline, pause = time.monotonic() + patience_s, _FIRST_LOOK_S
    while (descriptor := _try(path, below)) is None:
        if time.monotonic() > deadline:
            raise OSError(errno.EAGAIN, "another process holds it and does not go on", str(path))
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_LOOK_S)
    try:
        yield
    finally:
        os.close(descriptor)


def clear_unfinished(path: Path, *, below: Path | None = None) -> None:
    """Take away what killed writers of this file have left beside it; best effort.

    For whoever holds the lock of its writers: nobody else is writing it then.
    """
    left = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{8}}\.tmp")
    with suppress(OSError), folder_of(path, below=below) as folder:
        with os.scandir(folder) as entries:
            found = [entry.name for entry in entries if left.fullmatch(entry.name)]
        for name in found:
            there = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISDIR(there.st_mode) and time.time() - there.st_mtime > UNFINISHED_S:
                os.unlink(name, dir_fd=folder)


def holder_of(path: Path, *, below: Path | None = None) -> int:
    """The process that took the lock last; 0 where the file does not say."""
    with suppress(OSError, ValueError):
        descriptor = open_plain(path, below=below)
        try:
            return int(os.pread(descriptor, _PID_BYTES, 0))
        finally:
            os.close(descriptor)
    return 0


def _try(path: Path, below: Path | None) -> int | None:
    clear_way(path, below=below)
    descriptor = open_plain(path, os.O_RDWR | os.O_CREAT, 0o600, below=below)
    held = False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        there, mine = path.lstat(), os.fstat(descriptor)
        # Removed, and perhaps made anew, between its opening and its locking: that one is not held.
        held = (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino)
        if held:
            os.pwrite(descriptor, f"{os.getpid()}\n".ljust(_PID_BYTES).encode(), 0)
    except (BlockingIOError, FileNotFoundError):
        return None
    finally:
        if not held:
            os.close(descriptor)
    return descriptor if held else None
