"""Pipes in place of files that Git reads, which yield neither content nor an end.

A few places are checked before Git starts. While a Git command is slow, the whole worktree is
surveyed. Opening a pipe for writing without blocking succeeds only if a reader is waiting for it. A
pipe that has been replaced no longer has a path, but Linux shows the process that is waiting for
it.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from ralph_tui.text.sanitize import one_line

READ_BY_GIT = frozenset({".gitignore", ".gitattributes", ".gitmodules"})
"""Files in a worktree that Git opens by name."""
STDERR = 2
_READ_IN_GIT_DIR = ("HEAD", "index", "info/exclude", "info/attributes")


class Pipes:
    """Possible pipes in one repository, and those that Git has waited for."""

    def __init__(self, root: Path, git_dirs: Iterable[Path], read: Iterable[Path]) -> None:
        """`root` is the worktree; `read` are further files that Git reads."""
        self._root = root
        git_dirs = tuple(git_dirs)
        self._outside = [path for path in git_dirs if not path.is_relative_to(root)]
        named = {root / name for name in READ_BY_GIT}
        inside = {folder / name for folder in git_dirs for name in _READ_IN_GIT_DIR}
        self._suspects = frozenset(named | inside | set(read))

    def known(self) -> Path | None:
        """Return a pipe at one of the places checked before Git starts; None if there is none."""
        return next(filter(_is_pipe, self._suspects), None)

    def remember(self, pipe: Path) -> None:
        """From now on, check this pipe before Git starts, because Git has waited for it."""
        self._suspects |= {pipe}

    def about(self, pipe: Path) -> str:
        """Return the problem and its solution."""
        name = pipe.relative_to(self._root) if pipe.is_relative_to(self._root) else pipe
        return f"git reads {one_line(str(name))}, which is a FIFO and never ends; delete it"

    def survey(self) -> Iterator[Path | None]:
        """Yield pipes that Git may read, and None after each searched folder."""
        yield from filter(_is_pipe, self._suspects)
        for top in (self._root, *self._outside):
            for folder, entries in folders(top):
                gits = top is not self._root or ".git" in Path(folder).parts
                read = (e.path for e in entries if gits or e.name in READ_BY_GIT)
                yield from filter(_is_pipe, map(Path, read))
                yield None


def is_released(pipe: Path) -> bool:
    """True if a process has the pipe open for reading or is waiting to open it.

    A waiting process then continues.
    """
    try:
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def waits_for_pipe(pid: int) -> bool:
    """True if a process has a named pipe open or is waiting to open one; only Linux reveals it."""
    home = Path("/proc") / str(pid)
    with suppress(OSError):
        if (home / "wchan").read_text() == "wait_for_partner":
            return True
        return any(_is_named_pipe(entry) for entry in (home / "fd").iterdir())
    return False


def _is_named_pipe(descriptor: Path) -> bool:
    """True for a named pipe, unless the process was started with it.

    A pipe between processes has a number instead of a path.
    """
    if int(descriptor.name) <= STDERR:
        return False
    with suppress(OSError):
        named = not str(descriptor.readlink()).startswith("pipe:")
        return named and stat.S_ISFIFO(descriptor.stat().st_mode)
    return False


def folders(top: Path) -> Iterator[tuple[str, list["os.DirEntry[str]"]]]:
    """Yield each folder with its entries that are not folders; no link is followed."""
    waiting = [str(top)]
    while waiting:
        folder = waiting.pop()
        files = []
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    files.append(entry)
        yield folder, files


def _is_pipe(path: Path) -> bool:
    """True if Git would open a pipe here; in the worktree it follows no link."""
    try:
        found = path.lstat() if path.name in READ_BY_GIT else path.stat()
    except OSError:
        return False
    return stat.S_ISFIFO(found.st_mode)
