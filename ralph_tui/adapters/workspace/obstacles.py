"""Obstacles to writing a file, with the reason for each.

Reads only. No symbolic link is followed.
"""

import os
import stat
from collections.abc import Iterator, Set
from pathlib import Path, PurePosixPath

from ralph_tui.text.sanitize import clip, one_line, spelled_name

SHOWN = 80
"""Maximum length of a name within a reason."""

FILE, FOLDER, LINK = "a file", "a folder", "a link"
_KINDS = {
    stat.S_IFREG: FILE,
    stat.S_IFDIR: FOLDER,
    stat.S_IFLNK: LINK,
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
}
HOLLOW = frozenset({"a named pipe", "a socket"})
"""Kinds without content to lose: a restore replaces them with the file that was there."""


def kind_of(path: Path) -> str:
    """Return the kind of a path, with its article; empty if nothing is there."""
    try:
        return _KINDS.get(stat.S_IFMT(path.lstat().st_mode), "a device")
    except OSError:
        return ""


def is_special(path: Path) -> bool:
    """True if the path exists and is not a file, folder or link."""
    return kind_of(path) not in ("", FILE, FOLDER, LINK)


def obstacle(root: Path, path: str, *, held: bool, to_delete: Set[str] = frozenset()) -> str:
    """Return why a file cannot be written here; empty if it can.

    `held` means that a snapshot has the current content. `to_delete` are files that will be deleted
    before it is written.
    """
    nearest, there = root, True
    for parent in reversed(PurePosixPath(path).parents[:-1]):
        kind = kind_of(root / parent)
        if not kind or kind in HOLLOW or str(parent) in to_delete:
            there = False
            break
        if kind != FOLDER:
            return f"{name(str(parent))} is {kind}, which no snapshot contains"
        nearest = root / parent
    if not os.access(nearest, os.W_OK | os.X_OK):
        return "its folder cannot be written to"
    kind = kind_of(root / path) if there else ""
    if kind == FOLDER:
        files = (str(file.relative_to(root)) for file in files_below(root / path))
        first = next((file for file in files if file not in to_delete), None)
        inside = f"with {name(first)}, which no snapshot contains" if first else ""
        return inside and f"a folder is in its place, {inside}"
    stays = kind and kind not in HOLLOW and not held
    return f"{kind}, which no snapshot contains, is in its place" if stays else ""


def explain_unsaved(root: Path, path: str) -> str:
    """Return why no snapshot contains this path; a folder's path may end in ``/``."""
    kind = kind_of(root / path)
    if kind == FOLDER or PurePosixPath(path).name == ".git":
        return "it is a repository of its own, or cannot be read"
    if kind in (FILE, LINK):
        return "it is too large for a snapshot, unreadable, or one file too many"
    return f"it is {kind or 'lost'}, which no snapshot contains"


def files_below(folder: Path) -> Iterator[Path]:
    """Yield everything in a folder except folders; an unreadable folder counts as a file."""
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
    """Yield pipes, sockets, devices, and each ``.git`` that makes a folder a repository.

    `passed_over` are folders, ending in ``/``, that are not searched.
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
    """Return a path for use in a sentence."""
    return clip(one_line(spelled_name(path)), SHOWN)


def covered(path: str, paths: Set[str]) -> bool:
    """True if the path is one of `paths` or below one of them."""
    parents = map(str, PurePosixPath(path).parents)
    return path in paths or any(f"{one}/" in paths or one in paths for one in parents)
