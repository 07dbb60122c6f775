"""One writer of the knowledge files at a time: an OS lock (flock) on a file beside them.

The lock is free as soon as its holder is gone, however that ended. A holder that is stopped is
waited for some seconds and then named. Readers need no lock: files are replaced, never changed.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ralph_tui.errors import KnowledgeError, why
from ralph_tui.plain_files import clear_way, make_folder, open_plain, write_whole

PATIENCE_S = 8.0
"""How long the holder is waited for: each holds it for milliseconds."""
_FIRST_LOOK_S, _LONGEST_LOOK_S = 0.001, 0.05
_IGNORED = b"""\
# What runs have learned stays out of git, unless you add it:
#   git add -f .aiwg/knowledge/ralph-learnings.json
*
"""


@contextmanager
def locked(path: Path, patience_s: float = PATIENCE_S) -> Iterator[None]:
    """Hold the lock file; its folder is made when it is missing.

    Raises ``KnowledgeError`` when it cannot be made, or another holds it for too long.
    """
    descriptor = _taken(path, patience_s)
    try:
        yield
    finally:
        os.close(descriptor)


def _taken(path: Path, patience_s: float) -> int:
    deadline = time.monotonic() + patience_s
    pause = _FIRST_LOOK_S
    try:
        _make_folder(path.parent)
        while True:
            descriptor = _try(path)
            if descriptor is not None:
                return descriptor
            if time.monotonic() > deadline:
                raise KnowledgeError(_held(path, patience_s))
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_LOOK_S)
    except OSError as error:
        raise KnowledgeError(
            f"the knowledge files cannot be locked by {path}: "
            f"{why(error, 'make its folder writable')}"
        ) from error


def _make_folder(folder: Path) -> None:
    """A folder that we make hides itself from git; one that is there is its owner's."""
    if folder.is_dir():
        return
    make_folder(folder)
    write_whole(folder / ".gitignore", _IGNORED, below=folder, durable=False)


def _try(path: Path) -> int | None:
    """A descriptor that holds the lock of the file that has this name; None: another holds it."""
    clear_way(path, below=path.parent)
    descriptor = open_plain(path, os.O_RDWR | os.O_CREAT, below=path.parent)
    held = False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        held = _is_named(descriptor, path)  # removed between its opening and its locking
        if held:
            os.pwrite(descriptor, f"{os.getpid()}\n".ljust(12).encode(), 0)
    except BlockingIOError:
        return None
    finally:
        if not held:
            os.close(descriptor)
    return descriptor if held else None


def _is_named(descriptor: int, path: Path) -> bool:
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    mine = os.fstat(descriptor)
    return (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino)


def _held(path: Path, patience_s: float) -> str:
    who = "another process"
    try:
        descriptor = open_plain(path, below=path.parent)
        try:
            pid = os.pread(descriptor, 12, 0).split()
        finally:
            os.close(descriptor)
        if pid and pid[0].isdigit():
            who = f"process {pid[0].decode()}"
    except OSError:
        pass
    return (
        f"the knowledge files have been held by {who} for more than {patience_s:g} s ({path}); "
        "let it go on or end it"
    )
