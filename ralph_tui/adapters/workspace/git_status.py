"""Status of the user's repository: branch, commit and differing paths. Read-only.

Reading a status takes one Git process, with the user's own index. Each list has at most `MAX_PATHS`
names, `changed` at most `MAX_CHANGED`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from ralph_tui.adapters.workspace.private_repository import is_own
from ralph_tui.adapters.workspace.repository import Repository
from ralph_tui.adapters.workspace.staging import split
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.layers.sensor.categories import categorize
from ralph_tui.text.sanitize import spelled_name

MAX_PATHS = 1_000
"""Maximum number of names in one list."""
MAX_CHANGED = 10_000
MAX_COMMITS = 200
"""Maximum number of commits listed between two statuses."""

_STATUS = (
    *("status", "--porcelain=v2", "--branch", "-z"),
    *("--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"),
)
_MAY_BE_TEST = re.compile("test|spec|e2e", re.IGNORECASE)
"""Matches every test's path, as a cheap filter for many paths, most of which are not tests."""
_FIELDS_BEFORE_PATH = {"1": 8, "2": 9, "u": 10}


@dataclass
class GitStatus:
    """Status of the repository. Paths are relative to its root, in Git's order."""

    branch: str = ""
    """Empty if HEAD is detached."""
    commit: str = ""
    """HEAD; empty in a repository without commits."""
    staged: list[str] = field(default_factory=list)
    unstaged: list[str] = field(default_factory=list)
    """Changed or deleted in the worktree, or in conflict."""
    untracked: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    """All tracked files that are staged or unstaged."""
    omitted: dict[str, int] = field(default_factory=dict)
    """Number of paths left out of each list but `changed`, by the list's name."""


class CachedStatus:
    """Reads the status, and lists the test files again only if it has changed."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._read = self._listed = b""
        """Digests of the last status and of the one whose test files were listed."""
        self._tests: list[str] = []

    def status(self) -> GitStatus:
        """Return the current status. Raises ``WorkspaceError`` if Git fails."""
        out = self._repository.git(*_STATUS).out
        self._read = sha256(out).digest()
        return _status_of(out)

    def test_files(self) -> Sequence[str]:
        """Like `list_test_files`, as of the last status, which lists additions and deletions."""
        if self._read != self._listed or not self._read:
            self._tests, self._listed = list_test_files(self._repository), self._read
        return self._tests


def git_status(repository: Repository) -> GitStatus:
    """Return the current status. Raises ``WorkspaceError`` if Git fails."""
    return _status_of(repository.git(*_STATUS).out)


def _status_of(out: bytes) -> GitStatus:
    status = GitStatus()
    records = iter(split(out))
    for record in records:
        mark, _, rest = record.partition(" ")
        if mark == "#":
            key, _, value = rest.partition(" ")
            if key == "branch.head":
                status.branch = "" if value == "(detached)" else spelled_name(value)
            elif key == "branch.oid":
                status.commit = "" if value == "(initial)" else value
        elif mark == "?":
            _add(status, "untracked", rest)
        elif mark in _FIELDS_BEFORE_PATH:
            path = record.split(" ", _FIELDS_BEFORE_PATH[mark])[-1]
            if mark == "2":
                next(records, "")  # the previous name
            if len(status.changed) < MAX_CHANGED and not is_own(path):
                status.changed.append(spelled_name(path))
            index, worktree = rest[0], rest[1]
            if mark != "u" and index != ".":
                _add(status, "staged", path)
            if mark == "u" or worktree != ".":
                _add(status, "unstaged", path)
    return status


def list_test_files(repository: Repository) -> list[str]:
    """List tracked and untracked files that are tests by name, without ignored ones."""
    listing = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
    result = repository.git(*listing, accept=None)
    if result.status != 0:  # older than Git 2.31
        result = repository.git(*listing[:-1])
    paths = set(split(result.out))
    likely = (path for path in paths if _MAY_BE_TEST.search(path) and not is_own(path))
    return sorted(path for path in likely if categorize(path) == "test")


def commits_between(repository: Repository, before: str, after: str) -> list[str]:
    """Return ``<hash> <subject>`` for the commits in `after` but not in `before`, newest first.

    Empty if a commit no longer exists: the history may have been rewritten.
    """
    if not after or before == after:
        return []
    span = after if not before else f"{before}..{after}"
    arguments = ("log", "-z", "--format=%H %s", "--no-show-signature", f"-{MAX_COMMITS}", span)
    try:
        return [spelled_name(line) for line in split(repository.git(*arguments, "--").out)]
    except WorkspaceError:
        return []


def _add(status: GitStatus, name: str, path: str) -> None:
    if is_own(path):
        return
    names: list[str] = getattr(status, name)
    if len(names) < MAX_PATHS:
        names.append(spelled_name(path))
    else:
        status.omitted[name] = status.omitted.get(name, 0) + 1
