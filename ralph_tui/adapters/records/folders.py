"""Names of folders: ``tasks/task-001/attempts/002`` below ``.aiwg/ralph``."""

from pathlib import Path


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
