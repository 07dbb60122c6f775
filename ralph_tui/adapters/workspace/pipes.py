"""Pipes in the place of files that git reads: they give neither content nor an end.

A few places are looked at before git is asked. For the others the tree is surveyed while a git is
late, and a pipe is opened for writing, without waiting: that works where somebody waits for it.
One that was replaced since has no place any more: Linux tells who waits for it.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from ralph_tui.text.sanitize import one_line

READ_BY_GIT = frozenset({".gitignore", ".gitattributes", ".gitmodules"})
"""Files of a worktree that git opens by their names."""
STDERR = 2
_READ_IN_GIT_DIR = ("HEAD", "index", "info/exclude", "info/attributes")


class Pipes:
    """Where they may be in one repository, and those that git has waited for."""

    def __init__(self, root: Path, git_dirs: Iterable[Path], read: Iterable[Path]) -> None:
        """`root` is the worktree; `read` are further files that git reads."""
        self._root = root
        git_dirs = tuple(git_dirs)
        self._outside = [path for path in git_dirs if not path.is_relative_to(root)]
        named = {root / name for name in READ_BY_GIT}
        inside = {folder / name for folder in git_dirs for name in _READ_IN_GIT_DIR}
        self._suspects = frozenset(named | inside | set(read))

    def known(self) -> Path | None:
        """One in a place that is looked at before git is asked."""
        return next(filter(_is_pipe, self._suspects), None)

    def remember(self, pipe: Path) -> None:
        """Git has waited for it: from now on it is looked at before git is asked."""
        self._suspects |= {pipe}

    def about(self, pipe: Path) -> str:
        """What is wrong, and what to do."""
        name = pipe.relative_to(self._root) if pipe.is_relative_to(self._root) else pipe
        return f"git reads {one_line(str(name))}, which is a FIFO: that never ends; remove it"

    def survey(self) -> Iterator[Path | None]:
        """Pipes that git may read, and None after each folder that was looked through."""
        yield from filter(_is_pipe, self._suspects)
        for top in (self._root, *self._outside):
            for folder, entries in folders(top):
                gits = top is not self._root or ".git" in Path(folder).parts
                read = (e.path for e in entries if gits or e.name in READ_BY_GIT)
                yield from filter(_is_pipe, map(Path, read))
                yield None


def let_go(pipe: Path) -> bool:
    """Whether somebody has opened it for reading, or waits for that: who waits goes on then."""
    try:
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def waits_for_pipe(pid: int) -> bool:
    """Whether a process waits to open a pipe that has a name, or has one open; Linux tells it."""
    home = Path("/proc") / str(pid)
    with suppress(OSError):
        if (home / "wchan").read_text() == "wait_for_partner":
            return True
        return any(_is_named_pipe(entry) for entry in (home / "fd").iterdir())
    return False


def _is_named_pipe(descriptor: Path) -> bool:
    """Not what it was started with; a pipe between processes has a number for a name."""
    if int(descriptor.name) <= STDERR:
        return False
    with suppress(OSError):
        named = not str(descriptor.readlink()).startswith("pipe:")
        return named and stat.S_ISFIFO(descriptor.stat().st_mode)
    return False


def folders(top: Path) -> Iterator[tuple[str, list["os.DirEntry[str]"]]]:
    """Each folder and what is in it, folders left out; no link is followed."""
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
    """Whether git would open a pipe here: in the worktree it follows no link."""
    try:
        found = path.lstat() if path.name in READ_BY_GIT else path.stat()
    except OSError:
        return False
    return stat.S_ISFIFO(found.st_mode)
