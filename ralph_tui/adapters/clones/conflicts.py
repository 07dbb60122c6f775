"""Branches that cannot be merged with each other, found without a real merge.

Git merges in memory, and the objects that it creates go into a temporary folder.
"""

import re
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from ralph_tui.adapters.workspace.git import GitResult, run_git
from ralph_tui.adapters.workspace.repository import Repository
from ralph_tui.base.errors import GitEndedError, NoRoomError, WorkspaceError, why, workspace_error
from ralph_tui.text.sanitize import one_line, spelled_name

MAX_FILES = 5
"""Maximum number of files named per conflict."""
MAX_PAIRS = 50
"""Maximum number of pairs merged by one Git process; each has its own timeout."""
REST_S = 600.0
"""Seconds to wait after a merge that had to be stopped, because a retry would take as long."""
NEEDED = "2.39"
"""The first Git version that merges in memory and handles many pairs in one process."""
NO_COMMON = "no common history"
"""Listed in place of files when Git refuses to merge a pair."""
GONE = "its commit is no longer in the repository"
_AFTER_COMMIT = re.compile(r"~([0-9a-f]{40}(?:[0-9a-f]{24})?)(?:_\d+)?\Z")
"""The suffix that Git adds to a file's name if the other side has a folder of that name."""


@dataclass(frozen=True)
class Conflicts:
    """Conflicts of one commit with others."""

    others: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Some of the files in conflict, or why Git refuses to merge, by name of the other commit."""
    unknown: str = ""
    """One sentence if some or all conflicts are unknown; empty otherwise."""


class ConflictTable:
    """Merge conflicts between commits of a repository.

    Commits never change, so each pair is merged only once, even though each new branch is compared
    with all others.
    """

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._merged: dict[frozenset[str], tuple[str, ...] | None] = {}
        """The files in conflict, by pair; None if there is no conflict."""
        self._ended = ""
        """Why a merge had to be stopped."""
        self._rests_until = 0.0

    def of(self, commit: str, others: Mapping[str, str]) -> Conflicts:
        """Try to merge a commit with each of the others, given as commits by name.

        Missing ones are left out, because a commit that is gone cannot conflict. Raises
        ``WorkspaceError`` if Git cannot work at all.
        """
        pairs = {name: frozenset((commit, other)) for name, other in others.items()}
        wanted = {pair for pair in pairs.values() if pair not in self._merged}
        gone = _missing(self._repository, frozenset[str]().union(*wanted))
        if commit in gone:
            problem = GONE
        else:
            problem = self._merge(pair for pair in wanted if pair.isdisjoint(gone))
        merged = ((name, self._merged.get(pair)) for name, pair in pairs.items())
        return Conflicts({name: files for name, files in merged if files is not None}, problem)

    def _merge(self, pairs: Iterable[frozenset[str]]) -> str:
        """Merge pairs and return why some remain unknown; the next call tries those again."""
        unknown, left = "", sorted((min(pair), max(pair)) for pair in pairs)
        if left and time.monotonic() < self._rests_until:
            return self._ended
        with ExitStack() as held:
            folder = held.enter_context(_objects_apart(self._repository)) if left else ""
            while left:
                now = left[:MAX_PAIRS]
                try:
                    merges, result = _conflicts(self._repository, now, folder)
                except NoRoomError:
                    raise
                except WorkspaceError as error:
                    if isinstance(error, GitEndedError):
                        self._ended, self._rests_until = str(error), time.monotonic() + REST_S
                    return str(error)
                self._merged.update(zip(map(frozenset, now), merges, strict=False))
                left = left[len(merges) :]
                if len(merges) < len(now):  # Git ends at a pair that it cannot merge
                    pair = left.pop(0)
                    if _have_no_common_history(self._repository, pair):
                        self._merged[frozenset(pair)] = (NO_COMMON,)
                    elif old := _too_old(self._repository):
                        return old
                    else:
                        unknown = unknown or _why(self._repository, result)
        return unknown


def _missing(repository: Repository, commits: Iterable[str]) -> set[str]:
    """Return the missing commits, whose branch was deleted before Git cleaned up."""
    asked = sorted(commits)
    if not asked:
        return set()
    stdin = "".join(f"{commit}\n" for commit in asked).encode()
    kinds = repository.git("cat-file", "--batch-check=%(objecttype)", stdin=stdin).lines
    return {commit for commit, kind in zip(asked, kinds, strict=False) if kind != "commit"}


def _have_no_common_history(repository: Repository, pair: tuple[str, str]) -> bool:
    return repository.git("merge-base", *pair, accept=None).status == 1


@contextmanager
def _objects_apart(repository: Repository) -> Iterator[str]:
    """Provide a temporary folder for the objects of a merge."""
    try:
        with tempfile.TemporaryDirectory(dir=repository.ensure_folder(), prefix="merge-") as folder:
            (Path(folder) / "pack").mkdir()
            yield folder
    except OSError as error:
        raise workspace_error(
            f"cannot merge in {one_line(str(repository.folder))}: {why(error, '')}", error
        ) from error


def _conflicts(
    repository: Repository, pairs: Sequence[tuple[str, str]], folder: str
) -> tuple[list[tuple[str, ...] | None], GitResult]:
    """Return the files in conflict for each pair, and Git's result.

    The list ends before the first pair that Git cannot merge; None means no conflict.
    """
    apart = {
        "GIT_OBJECT_DIRECTORY": folder,
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(repository.objects),
    }
    result = repository.git(
        *("merge-tree", "--write-tree", "--stdin", "-z", "--name-only", "--no-messages"),
        stdin="".join(f"{ours} {theirs}\n" for ours, theirs in pairs).encode(),
        environment=apart,
        accept=None,
    )
    merges = _parse_merges(result.out.decode("utf-8", "surrogateescape").split("\0"))
    found = zip(pairs, merges, strict=False)
    return [
        None if names is None else _original_names(names, pair) for pair, names in found
    ], result


def _parse_merges(words: Sequence[str]) -> Iterator[Sequence[str] | None]:
    """Parse Git's output: for each merge, a clean flag, the tree and the files in conflict."""
    at = 0
    with suppress(ValueError, IndexError):  # Git's output was cut off
        while words[at] in ("0", "1"):
            end = words.index("", at)
            yield None if words[at] == "1" else words[at + 2 : end]
            at = end + 1


def _original_names(names: Iterable[str], pair: tuple[str, str]) -> tuple[str, ...]:
    """Return some of the files by their original names, each once."""
    plain = (_AFTER_COMMIT.sub(lambda end: "" if end[1] in pair else end[0], n) for n in names)
    return tuple(dict.fromkeys(one_line(spelled_name(name)) for name in plain))[:MAX_FILES]


def _too_old(repository: Repository) -> str:
    """Explain that this Git cannot merge in memory; empty if it can."""
    version = run_git(repository.root, "version").line
    numbers = [int(part) for part in version.split()[-1].split(".")[:2] if part.isdecimal()]
    if numbers and numbers < [int(part) for part in NEEDED.split(".")]:
        return f"{one_line(version)} cannot predict conflicts; install git {NEEDED} or newer"
    return ""


def _why(repository: Repository, result: GitResult) -> str:
    """Return Git's error. Raises ``NoRoomError`` if the disk is full."""
    error = repository.error_of(result, ("merge-tree",))
    if isinstance(error, NoRoomError):
        raise error
    return str(error)
