"""Which branches cannot be merged one after the other, told without merging any of them.

Git merges in memory; the objects it makes go into a folder that is thrown away.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ralph_tui.adapters.workspace.git import run_git
from ralph_tui.adapters.workspace.repository import Repository
from ralph_tui.errors import why, workspace_error
from ralph_tui.text.sanitize import one_line

MOST_FILES = 5
"""Files that are named of a conflict."""
NEEDED = "2.38"
"""The first git that merges in memory."""


@dataclass(frozen=True)
class Conflicts:
    """With what a commit cannot be merged."""

    others: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By name, each with some of the files."""
    unknown: str = ""
    """Why it cannot be told of some or all, one sentence; empty: it was told."""


def find_conflicts(repository: Repository, commit: str, others: Mapping[str, str]) -> Conflicts:
    """Try to merge a commit with each of the others, which are commits by name.

    Raises ``WorkspaceError`` where git cannot work at all.
    """
    found: dict[str, tuple[str, ...]] = {}
    unknown = ""
    try:
        with tempfile.TemporaryDirectory(dir=repository.own_folder(), prefix="merge-") as folder:
            (Path(folder) / "pack").mkdir()
            for name, other in others.items():
                files, problem = _conflict(repository, commit, other, folder)
                if files:
                    found[name] = files
                unknown = unknown or problem
    except OSError as error:
        raise workspace_error(
            f"cannot merge in {one_line(str(repository.folder))}: {why(error, '')}", error
        ) from error
    return Conflicts(found, unknown)


def _conflict(
    repository: Repository, ours: str, theirs: str, folder: str
) -> tuple[tuple[str, ...], str]:
    """The files, and why it cannot be told; both are empty where there is no conflict."""
    apart = {
        "GIT_OBJECT_DIRECTORY": folder,
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(repository.objects),
    }
    told = repository.git(
        *("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs),
        environment=apart,
        accept=None,
    )
    tree, *files = told.out.decode("utf-8", "surrogateescape").split("\0")
    if told.status == 1 and tree:  # a name that is none gives 1, too, but no tree
        named = [one_line(name) for name in files if name]
        return tuple(named[:MOST_FILES]) or ("",), ""
    if told.status == 0:
        return (), ""
    return (), _why(repository, told.status, told.error)


def _why(repository: Repository, status: int, error: str) -> str:
    version = run_git(repository.root, "version").line
    numbers = [int(part) for part in version.split()[-1].split(".")[:2] if part.isdecimal()]
    if numbers and numbers < [int(part) for part in NEEDED.split(".")]:
        return f"{one_line(version)} cannot tell conflicts beforehand: git {NEEDED} or newer does"
    reason = one_line(error) or "no reason given"
    return f"git merge-tree ended with {status}: {reason}"
