"""One writer of a file at a time: an OS lock (flock) beside it, free when its holder ends.

Readers need none: files are replaced, never changed. Standard library only.
"""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ralph_tui.plain_files import make_folder, open_plain

PATIENCE_S = 8.0
"""How long another holder is waited for: each holds it for a moment."""
_LOOK_S = 0.01


@contextmanager
def locked(path: Path, patience_s: float = PATIENCE_S) -> Iterator[None]:
    """Hold the lock file, made when it is missing; ``OSError``, also when it is not to be had."""
    make_folder(path.parent)
    deadline = time.monotonic() + patience_s
    while (descriptor := _try(path)) is None:
        if time.monotonic() > deadline:
            raise OSError(errno.EAGAIN, "another process holds it and does not go on", str(path))
        time.sleep(_LOOK_S)
    try:
        yield
    finally:
        os.close(descriptor)


def _try(path: Path) -> int | None:
    descriptor = open_plain(path, os.O_RDWR | os.O_CREAT, 0o600)
    held = False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        there, mine = path.lstat(), os.fstat(descriptor)
        # Removed, and perhaps made anew, between its opening and its locking: that one is not held.
        held = (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino)
    except (BlockingIOError, FileNotFoundError):
        return None
    finally:
        if not held:
            os.close(descriptor)
    return descriptor if held else None
