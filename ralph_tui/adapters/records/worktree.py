"""Where a worktree begins, found without git: the records' commands need no more than that."""

from pathlib import Path


def worktree_root(start: Path) -> Path:
    """The nearest folder upwards that holds ``.git`` or our records; `start` when none does."""
    start = start.absolute()
    for folder in (start, *start.parents):
        if (folder / ".git").exists() or (folder / ".aiwg" / "ralph").is_dir():
            return folder
    return start
