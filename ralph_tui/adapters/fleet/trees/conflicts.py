"""Which branches cannot be merged one after the other, told without merging any of them.

Git merges in memory; the objects it makes go into a folder that is thrown away.
"""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
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


class ConflictTable:
    """Which commits of a repository cannot be merged with which.

    Commits never change: each pair is merged once, whichever of them is asked about, for with each
    branch that comes all the others are asked about again.
    """

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._merged: dict[frozenset[str], tuple[str, ...]] = {}
        """By pair, the files in conflict."""

    def of(self, commit: str, others: Mapping[str, str]) -> Conflicts:
        """Try to merge a commit with each of the others, which are commits by name.

        Raises ``WorkspaceError`` where git cannot work at all.
        """
        pairs = {name: frozenset((commit, other)) for name, other in others.items()}
        problem = self._merge({pair for pair in pairs.values() if pair not in self._merged})
        found = {name: files for name, pair in pairs.items() if (files := self._merged.get(pair))}
        return Conflicts(found, problem)

    def _merge(self, pairs: Iterable[frozenset[str]]) -> str:
        """Why it cannot be told of some of them; that is tried again when they are asked about."""
        unknown = ""
        with ExitStack() as held:
            folder = ""
            for pair in pairs:
                folder = folder or held.enter_context(_objects_apart(self._repository))
                files, problem = _conflict(self._repository, min(pair), max(pair), folder)
                if not problem:
                    self._merged[pair] = files
                unknown = unknown or problem
        return unknown


@contextmanager
def _objects_apart(repository: Repository) -> Iterator[str]:
    """A folder for the objects of a merge, which is thrown away."""
    try:
        with tempfile.TemporaryDirectory(dir=repository.own_folder(), prefix="merge-") as folder:
            (Path(folder) / "pack").mkdir()
            yield folder
    except OSError as error:
        raise workspace_error(
            f"cannot merge in {one_line(str(repository.folder))}: {why(error, '')}", error
        ) from error


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
