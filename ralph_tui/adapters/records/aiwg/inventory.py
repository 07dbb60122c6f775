"""Inventories before and after a session, and the difference between them.

The files are ``pre-snapshot.json``, ``post-snapshot.json`` and ``snapshot-diff.json`` in the
iteration's folder, in camelCase. The schema calls an inventory a snapshot, which is a Git tree
everywhere else in this program. An inventory lists what exists; the Git snapshots show file
changes.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Literal

from ralph_tui.adapters.records.aiwg.forms import MAX_FILES, Camel, GitFacts, Timestamp, aiwg_files
from ralph_tui.adapters.records.aiwg.write import write_record
from ralph_tui.base.errors import RalphError
from ralph_tui.base.plain_files import reading
from ralph_tui.events.text import Line
from ralph_tui.events.workspace import FileChange
from ralph_tui.layers.sensor.tampering import named_files
from ralph_tui.text.format import duration

MAX_KEY_FILES = 64
LARGEST_KEY_FILE = 4 << 20
"""Maximum size of a key file to hash, in bytes."""

_KEY_FILES = re.compile(
    r"package\.json|package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?"
    r"|deno\.jsonc?|tsconfig\.json|pyproject\.toml|setup\.(?:py|cfg)|requirements[\w.-]*\.txt"
    r"|(?:uv|poetry|pdm)\.lock|pipfile(?:\.lock)?|tox\.ini|noxfile\.py|pytest\.ini|conftest\.py"
    r"|cargo\.(?:toml|lock)|go\.(?:mod|sum|work)|gemfile(?:\.lock)?|composer\.(?:json|lock)"
    r"|mix\.(?:exs|lock)|pom\.xml|(?:build|settings)\.gradle(?:\.kts)?|cmakelists\.txt"
    r"|meson\.build|(?:gnu)?makefile|justfile|dockerfile|(?:docker-)?compose\.ya?ml"
    r"|readme(?:\.\w+)?|agents\.md|claude\.md|\.gitignore|\.ralph-tui\.toml|\.gitlab-ci\.yml",
    re.IGNORECASE,
)
_WORKFLOWS = (".github/workflows", ".gitea/workflows", ".forgejo/workflows", ".circleci")


class GitInventory(Camel):
    """The fields of `GitFacts` but `changed`."""

    branch: Line = ""
    commit: Line = ""
    staged: list[Line] = []
    unstaged: list[Line] = []
    untracked: list[Line] = []
    omitted: dict[str, int] | None = None
    """Number of files that are not listed, by list."""
    error: Line | None = None


class FileFact(Camel):
    """The state of a file, with times in UTC."""

    path: Line
    hash: str | None = None
    """SHA-256; None for files that are only listed."""
    size: int
    mtime: Timestamp


class AiwgInventory(Camel):
    """Files below ``.aiwg`` without ralph-tui's own records."""

    files: list[FileFact] = []
    error: Line | None = None


class TestsInventory(Camel):
    """Test files, recognised by their names."""

    found: bool = False
    files: int = 0


class Inventory(Camel):
    """The files and Git's status at one moment."""

    timestamp: Timestamp
    git: GitInventory
    key_files: list[FileFact] = []
    aiwg: AiwgInventory = AiwgInventory()
    tests: TestsInventory = TestsInventory()


class InventoryDiff(Camel):
    """The difference between two inventories."""

    duration: str
    """Formatted for display."""
    duration_ms: int
    branch_changed: bool
    branch_before: Line
    branch_after: Line
    files_added: list[Line]
    files_modified: list[Line]
    files_deleted: list[Line]
    key_files_changed: list[Line]
    aiwg_artifacts_created: list[Line]
    aiwg_artifacts_updated: list[Line]
    aiwg_artifacts_deleted: list[Line] = []
    commit_count: int
    commits: list[Line]
    """``<hash> <subject>``, newest first."""
    has_tests: bool
    tests_added: list[Line]
    tests_removed: list[Line]


def take_inventory(
    root: Path,
    now: datetime,
    *,
    read_git: Callable[[], GitFacts],
    count_tests: Callable[[], int],
    plan: str | None = None,
    command: str = "",
) -> Inventory:
    """Take an inventory; blocks while Git runs. A Git failure is recorded as an error.

    `plan` and the files named in `command` are also key files.
    """
    try:
        git = read_git()
        listed = GitInventory(
            branch=git.branch,
            commit=git.commit,
            staged=git.staged[:MAX_FILES],
            unstaged=git.unstaged[:MAX_FILES],
            untracked=git.untracked[:MAX_FILES],
            omitted=git.omitted or None,
        )
        tests = count_tests()
    except RalphError as error:
        listed, tests = GitInventory(error=str(error)), 0
    return Inventory(
        timestamp=now,
        git=listed,
        key_files=[*key_files(root, plan, command)],
        aiwg=_read_aiwg(root),
        tests=TestsInventory(found=tests > 0, files=tests),
    )


def diff(
    before: Inventory,
    after: Inventory,
    *,
    changes: Iterable[FileChange] = (),
    commits: Sequence[str] = (),
) -> InventoryDiff:
    """Compare two inventories; `changes` come from snapshots taken at the same two moments."""
    seconds = max(0.0, (after.timestamp - before.timestamp).total_seconds())
    by_status: dict[str, list[str]] = {"added": [], "modified": [], "deleted": []}
    tests: dict[str, list[str]] = {"added": [], "modified": [], "deleted": []}
    for change in changes:
        by_status[change.status].append(change.path)
        if change.category == "test":
            tests[change.status].append(change.path)
    hashes = {fact.path: fact.hash for fact in before.key_files}
    aiwg = {fact.path: (fact.size, fact.mtime) for fact in before.aiwg.files}
    now_hashes = {fact.path: fact.hash for fact in after.key_files}
    return InventoryDiff(
        duration=duration(seconds),
        duration_ms=round(1000 * seconds),
        branch_changed=before.git.branch != after.git.branch,
        branch_before=before.git.branch,
        branch_after=after.git.branch,
        files_added=by_status["added"][:MAX_FILES],
        files_modified=by_status["modified"][:MAX_FILES],
        files_deleted=by_status["deleted"][:MAX_FILES],
        key_files_changed=sorted(
            path
            for path in hashes.keys() | now_hashes.keys()
            if hashes.get(path) != now_hashes.get(path)
        ),
        aiwg_artifacts_created=[f.path for f in after.aiwg.files if f.path not in aiwg],
        aiwg_artifacts_updated=[
            f.path
            for f in after.aiwg.files
            if aiwg.get(f.path, (f.size, f.mtime)) != (f.size, f.mtime)
        ],
        aiwg_artifacts_deleted=sorted(aiwg.keys() - {f.path for f in after.aiwg.files}),
        commit_count=len(commits),
        commits=list(commits),
        has_tests=after.tests.found,
        tests_added=tests["added"][:MAX_FILES],
        tests_removed=tests["deleted"][:MAX_FILES],
    )


def write_inventory(folder: Path, when: Literal["pre", "post"], inventory: Inventory) -> Path:
    """Write ``pre-snapshot.json`` or ``post-snapshot.json``. Raises ``OSError``."""
    path = folder / f"{when}-snapshot.json"
    write_record(path, inventory.as_json())
    return path


def write_diff(folder: Path, difference: InventoryDiff) -> Path:
    """Write ``snapshot-diff.json``. Raises ``OSError``."""
    path = folder / "snapshot-diff.json"
    write_record(path, difference.as_json())
    return path


# -- the file system ---------------------------------------------------------------------------


def key_files(root: Path, plan: str | None = None, command: str = "") -> Iterator[FileFact]:
    """Yield the key files, hashed: manifests, lock files, README, CI settings, plan and others.

    At most `MAX_KEY_FILES`. Links are not followed, and nothing outside `root` is read.
    """
    named = [plan] if plan else []
    named += sorted(named_files(command))
    named += sorted(name for name in _names(root) if _KEY_FILES.fullmatch(name))
    for folder in _WORKFLOWS:
        named += sorted(f"{folder}/{name}" for name in _names(root / folder))
    facts = (fact for name in dict.fromkeys(named) if (fact := _hashed(root, name)))
    return islice(facts, MAX_KEY_FILES)


def _read_aiwg(root: Path) -> AiwgInventory:
    problems: list[str] = []
    found = aiwg_files(root, problems.append)
    facts = [
        FileFact(path=f".aiwg/{name}", size=facts.st_size, mtime=_time(facts))
        for name, facts in sorted(found.items())[:MAX_FILES]
    ]
    return AiwgInventory(files=facts, error=problems[0] if problems else None)


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208  only the names are needed
    except OSError:
        return []


def _hashed(root: Path, name: str) -> FileFact | None:
    path = root / name
    if Path(name).is_absolute() or ".." in Path(name).parts:
        return None
    try:
        with reading(path, below=root) as file:
            facts = os.fstat(file.fileno())
            if facts.st_size > LARGEST_KEY_FILE:
                return None
            digest = hashlib.sha256(file.read(LARGEST_KEY_FILE)).hexdigest()
    except (OSError, ValueError):  # a NUL in a name is a ValueError
        return None
    return FileFact(path=name, hash=digest, size=facts.st_size, mtime=_time(facts))


def _time(facts: os.stat_result) -> datetime:
    """Return a time as precise as on disk, so that a loaded inventory equals a fresh one."""
    return datetime.fromtimestamp(facts.st_mtime_ns // 1_000_000 / 1000, UTC)
