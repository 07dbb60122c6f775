"""Folders in a worktree's ``.aiwg/ralph``, such as ``tasks/task-001/attempts/002``."""

import shlex
from contextlib import suppress
from pathlib import Path

from ralph_tui.base.errors import UsageError
from ralph_tui.base.plain_files import is_plain, make_folder, write_whole
from ralph_tui.text.sanitize import one_line


def worktree_root(start: Path) -> Path:
    """Return the nearest folder from `start` upwards with ``.git`` or our records, or else `start`.

    Git is not run, because commands that only read records do not need it.
    """
    start = start.absolute()
    for folder in (start, *start.parents):
        if (folder / ".git").exists() or (folder / ".aiwg" / "ralph").is_dir():
            return folder
    return start


def named_path(name: str) -> Path:
    """Return the path that a user typed; raise ``UsageError`` for the home of an unknown user."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        who = one_line(name.partition("/")[0])
        raise UsageError(
            f"'{who}' is not the home of a known user; write the full path, or ./{who}"
        ) from None


def from_here(path: Path) -> Path:
    """Return the path relative to the current folder if it is inside, to keep messages short."""
    with suppress(OSError, ValueError):
        return path.relative_to(Path.cwd())
    return path


def as_argument(path: Path) -> str:
    """Return the same path, quoted as a command-line argument."""
    return shlex.quote(str(from_here(path)))


def worktree_around(attempt: Path) -> Path | None:
    """Return the worktree whose records contain an attempt or a recorded loop, or None."""
    for place in attempt.absolute().parents:
        if place.name == "ralph" and place.parent.name == ".aiwg":
            return place.parent.parent
    return None


def keep_out(folder: Path) -> None:
    """Create a folder with a ``.gitignore`` that hides it from Git. Raises ``OSError``."""
    ignore = folder / ".gitignore"
    make_folder(folder)
    if not is_plain(ignore):  # Git would block on a FIFO and would follow a link
        write_whole(ignore, b"*\n")


def ralph_folder(root: Path) -> Path:
    """Return the folder of a worktree's records."""
    return root / ".aiwg" / "ralph"


def attempt_folder(root: Path, name: str) -> Path:
    """Return the folder of an attempt in a worktree's records, such as ``task-001/002``."""
    task, _, attempt = name.partition("/")
    return ralph_folder(root) / "tasks" / task / "attempts" / attempt


def numbered(folder: Path) -> list[Path]:
    """Return the subfolders whose names end in a number, ordered by that number."""
    if not folder.is_dir():
        return []
    found = [path for path in folder.iterdir() if path.is_dir() and number_of(path.name)]
    return sorted(found, key=lambda path: number_of(path.name))


def number_of(name: str) -> int:
    """Return the number at the end of a folder's name, or 0."""
    tail = name.rpartition("-")[2]
    return int(tail) if tail.isascii() and tail.isdigit() else 0
