"""One writer per file: an OS lock (flock) on a file beside it, released when its holder exits.

Readers need no lock: files are replaced, never changed. Uses only the standard library.
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
"""How long to wait for another holder; a lock is held only briefly."""
UNFINISHED_S = 60
"""Age at which a killed writer's temporary file counts as abandoned: no write takes that long."""
_FIRST_PAUSE_S, _LAST_PAUSE_S = 0.001, 0.05
_PID_BYTES = 12


@contextmanager
def locked(
    path: Path, patience_s: float = PATIENCE_S, *, below: Path | None = None
) -> Iterator[None]:
    """Hold the lock in this file, created if missing. Raises ``OSError`` if that fails.

    If another process holds the lock, errno is ``EAGAIN``, and `holder_of` returns its id.
    """
    make_folder(path.parent, below=below)
    deadline, pause = time.monotonic() + patience_s, _FIRST_PAUSE_S
    while (descriptor := _try_lock(path, below)) is None:
        if time.monotonic() > deadline:
            raise OSError(
                errno.EAGAIN, "another process holds it and is not making progress", str(path)
            )
        time.sleep(pause)
        pause = min(2 * pause, _LAST_PAUSE_S)
    try:
        yield
    finally:
        os.close(descriptor)


def clear_unfinished(path: Path, *, below: Path | None = None) -> None:
    """Delete temporary files that killed writers of this file left beside it; best effort.

    Call it while holding the writers' lock, so that no other process is writing the file.
    """
    temporary = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{8}}\.tmp")
    with suppress(OSError), folder_of(path, below=below) as folder:
        with os.scandir(folder) as entries:
            found = [entry.name for entry in entries if temporary.fullmatch(entry.name)]
        for name in found:
            info = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISDIR(info.st_mode) and time.time() - info.st_mtime > UNFINISHED_S:
                os.unlink(name, dir_fd=folder)


def holder_of(path: Path, *, below: Path | None = None) -> int:
    """Return the id of the process that took the lock last; 0 if unknown."""
    with suppress(OSError, ValueError):
        descriptor = open_plain(path, below=below)
        try:
            return int(os.pread(descriptor, _PID_BYTES, 0))
        finally:
            os.close(descriptor)
    return 0


def _try_lock(path: Path, below: Path | None) -> int | None:
    clear_way(path, below=below)
    descriptor = open_plain(path, os.O_RDWR | os.O_CREAT, 0o600, below=below)
    held = False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        current, opened = path.lstat(), os.fstat(descriptor)
        # If the file was removed or replaced between opening and locking, the lock does not count.
        held = (current.st_dev, current.st_ino) == (opened.st_dev, opened.st_ino)
        if held:
            os.pwrite(descriptor, f"{os.getpid()}\n".ljust(_PID_BYTES).encode(), 0)
    except (BlockingIOError, FileNotFoundError):
        return None
    finally:
        if not held:
            os.close(descriptor)
    return descriptor if held else None
