"""Which branches cannot be merged one after the other, told without merging any of them.

Git merges in memory; the objects it makes go into a folder that is thrown away.
"""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from ralph_tui.adapters.workspace.git import run_git
from ralph_tui.adapters.workspace.repository import Repository
from ralph_tui.errors import why, workspace_error
from ralph_tui.text.sanitize import one_line

MOST_FILES = 5
"""Files that are named of a conflict."""
NEEDED = "2.39"
"""The first git that merges in memory, and many in one process."""


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
        unknown, left = "", [(min(pair), max(pair)) for pair in pairs]
        with ExitStack() as held:
            folder = held.enter_context(_objects_apart(self._repository)) if left else ""
            while left:
                told, problem = _conflicts(self._repository, left, folder)
                for pair, files in zip(left, told, strict=False):
                    self._merged[frozenset(pair)] = files
                unknown = unknown or problem
                left = left[len(told) + 1 :]  # with one that it cannot tell git ends
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


def _conflicts(
    repository: Repository, pairs: Sequence[tuple[str, str]], folder: str
) -> tuple[list[tuple[str, ...]], str]:
    """The files in conflict of each pair, up to one of which it cannot be told; and why not."""
    apart = {
        "GIT_OBJECT_DIRECTORY": folder,
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(repository.objects),
    }
    told = repository.git(
        *("merge-tree", "--write-tree", "--stdin", "-z", "--name-only", "--no-messages"),
        stdin="".join(f"{ours} {theirs}\n" for ours, theirs in pairs).encode(),
        environment=apart,
        accept=None,
    )
    found = list(_told(told.out.decode("utf-8", "surrogateescape").split("\0")))
    if told.status == 0 and len(found) == len(pairs):
        return found, ""
    return found, _why(repository, told.status, told.error)


def _told(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Of each merge git says whether it was clean, the tree, the files in conflict, nothing."""
    at = 0
    with suppress(ValueError, IndexError):  # git was cut off
        while words[at] in ("0", "1"):
            end = words.index("", at)
            files = tuple(one_line(name) for name in words[at + 2 : end])
            yield () if words[at] == "1" else files[:MOST_FILES] or ("",)
            at = end + 1


def _why(repository: Repository, status: int, error: str) -> str:
    version = run_git(repository.root, "version").line
    numbers = [int(part) for part in version.split()[-1].split(".")[:2] if part.isdecimal()]
    if numbers and numbers < [int(part) for part in NEEDED.split(".")]:
        return f"{one_line(version)} cannot tell conflicts beforehand: git {NEEDED} or newer does"
    reason = one_line(error) or "no reason given"
    return f"git merge-tree ended with {status}: {reason}"
