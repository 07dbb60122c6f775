"""What stands in the way of a file that is to be written: one reason for each, in words.

Reads only. No symbolic link is followed.
"""

import os
import stat
from collections.abc import Iterator, Set
from pathlib import Path, PurePosixPath

from ralph_tui.text.sanitize import clip, one_line, spelled_name

SHOWN = 80
"""Characters of a name within a reason."""

FILE, FOLDER, LINK = "a file", "a folder", "a link"
_KINDS = {
    stat.S_IFREG: FILE,
    stat.S_IFDIR: FOLDER,
    stat.S_IFLNK: LINK,
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
}
HOLLOW = frozenset({"a named pipe", "a socket"})
"""What has no content that could be lost: it gives way to a file that stood in its place."""


def kind_of(path: Path) -> str:
    """What there is, with its article; empty when there is nothing."""
    try:
        return _KINDS.get(stat.S_IFMT(path.lstat().st_mode), "a device")
    except OSError:
        return ""


def is_special(path: Path) -> bool:
    """Whether something is there that is no file, no folder and no link."""
    return kind_of(path) not in ("", FILE, FOLDER, LINK)


def obstacle(root: Path, path: str, *, held: bool, doomed: Set[str] = frozenset()) -> str:
    """Why a file cannot be written here; empty when it can.

    `held`: a snapshot has what stands there now. `doomed` are files that will be deleted before.
    """
    nearest, there = root, True
    for parent in reversed(PurePosixPath(path).parents[:-1]):
        kind = kind_of(root / parent)
        if not kind or kind in HOLLOW or str(parent) in doomed:
            there = False
            break
        if kind != FOLDER:
            return f"{kind} that no snapshot holds stands in the place of {name(str(parent))}"
        nearest = root / parent
    if not os.access(nearest, os.W_OK | os.X_OK):
        return "its folder cannot be written to"
    kind = kind_of(root / path) if there else ""
    if kind == FOLDER:
        files = (str(file.relative_to(root)) for file in files_below(root / path))
        first = next((file for file in files if file not in doomed), None)
        inside = f"with {name(first)}, which no snapshot holds" if first else ""
        return inside and f"a folder stands there, {inside}"
    stays = kind and kind not in HOLLOW and not held
    return f"{kind} that no snapshot holds stands there" if stays else ""


def why_unheld(root: Path, path: str) -> str:
    """Why no snapshot holds what is here; a folder's path may end in ``/``."""
    kind = kind_of(root / path)
    if kind == FOLDER or PurePosixPath(path).name == ".git":
        return "it is a repository of its own, or cannot be read"
    if kind in (FILE, LINK):
        return "it is too large for a snapshot, or there are too many, or it cannot be read"
    return f"it is {kind or 'lost'}, which no snapshot holds"


def files_below(folder: Path) -> Iterator[Path]:
    """All that is no folder in a folder; one that cannot be looked into counts as a file."""
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        yield folder
        return
    for entry in entries:
        if entry.is_dir() and not entry.is_symlink():
            yield from files_below(entry)
        else:
            yield entry


def special_files(root: Path, passed_over: Set[str]) -> Iterator[str]:
    """Pipes, sockets and devices, and what makes a folder a repository of its own.

    `passed_over` are folders, ending in ``/``, that are not looked into.
    """
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(root / folder) as entries:
                found = list(entries)
        except OSError:
            continue
        for entry in found:
            path = folder + entry.name
            if entry.name == ".git":
                if folder:
                    yield f"{path}/" if entry.is_dir(follow_symlinks=False) else path
            elif entry.is_dir(follow_symlinks=False):
                if f"{path}/" not in passed_over:
                    waiting.append(f"{path}/")
            elif not entry.is_file(follow_symlinks=False) and not entry.is_symlink():
                yield path


def name(path: str) -> str:
    """A path within a sentence."""
    return clip(one_line(spelled_name(path)), SHOWN)


def covered(path: str, paths: Set[str]) -> bool:
    """Whether a path is one of these, or lies below one of them."""
    parents = map(str, PurePosixPath(path).parents)
    return path in paths or any(f"{one}/" in paths or one in paths for one in parents)
