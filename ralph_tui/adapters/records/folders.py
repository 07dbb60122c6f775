"""Names of folders: ``tasks/task-001/attempts/002`` below ``.aiwg/ralph`` of a worktree."""

import shlex
from contextlib import suppress
from pathlib import Path

from ralph_tui.base.errors import UsageError
from ralph_tui.base.plain_files import is_plain, make_folder, write_whole
from ralph_tui.text.sanitize import one_line


def worktree_root(start: Path) -> Path:
    """The nearest folder upwards that holds ``.git`` or our records; `start` when none does.

    Git is not asked: the commands that only read records need no more than this.
    """
    start = start.absolute()
    for folder in (start, *start.parents):
        if (folder / ".git").exists() or (folder / ".aiwg" / "ralph").is_dir():
            return folder
    return start


def named_path(name: str) -> Path:
    """A path as its user has typed it; raises ``UsageError`` for the home of a user who is none."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        who = one_line(name.partition("/")[0])
        raise UsageError(
            f"'{who}' is the home of no known user: write the path in full, or ./{who}"
        ) from None


def from_here(path: Path) -> Path:
    """As the user would name it: a screen has no room for a long path before the sentence."""
    with suppress(OSError, ValueError):
        return path.relative_to(Path.cwd())
    return path


def as_argument(path: Path) -> str:
    """The same as a word of a command line."""
    return shlex.quote(str(from_here(path)))


def worktree_around(attempt: Path) -> Path | None:
    """The worktree in whose records the folder of an attempt, or of a loop of hooks, lies."""
    for place in attempt.absolute().parents:
        if place.name == "ralph" and place.parent.name == ".aiwg":
            return place.parent.parent
    return None


def keep_out(folder: Path) -> None:
    """Make a folder, with the ``.gitignore`` that hides all in it from git; raises ``OSError``."""
    ignore = folder / ".gitignore"
    make_folder(folder)
    if not is_plain(ignore):  # git would wait for a FIFO, and read whatever a link leads to
        write_whole(ignore, b"*\n")


def ralph_folder(root: Path) -> Path:
    """Where the records of a worktree live."""
    return root / ".aiwg" / "ralph"


def numbered(folder: Path) -> list[Path]:
    """Sub-folders that end in a number, in the order of that number."""
    if not folder.is_dir():
        return []
    found = [path for path in folder.iterdir() if path.is_dir() and number_of(path.name)]
    return sorted(found, key=lambda path: number_of(path.name))


def number_of(name: str) -> int:
    """The number a folder's name ends in; 0 when there is none."""
    tail = name.rpartition("-")[2]
    return int(tail) if tail.isascii() and tail.isdigit() else 0
