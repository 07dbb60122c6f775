"""Changed files between two trees, or between a tree and the current worktree.

Reads only: neither the user's index nor the private one is written. A rename counts as a deletion
and an addition, so that every path has one row.
"""

import hashlib
import os
from dataclasses import dataclass, replace
from pathlib import Path

from ralph_tui.adapters.workspace.obstacles import FILE, LINK, kind_of
from ralph_tui.adapters.workspace.private_repository import PrivateRepository, is_own
from ralph_tui.adapters.workspace.staging import MAX_FILE, OTHERS, untracked_paths
from ralph_tui.base.errors import GitEndedError, WorkspaceError
from ralph_tui.base.plain_files import read_bytes
from ralph_tui.events.workspace import ChangeStatus, FileChange
from ralph_tui.layers.sensor.categories import categorize
from ralph_tui.text.sanitize import spelled_name

MAX_COUNTED = 1_000_000
"""Maximum size, in bytes, of a new file whose lines are counted while an agent works."""
MAX_FILES_COUNTED = 1_000
"""Maximum number of new files whose lines are counted at a time."""

_OPTIONS = ("-z", "-r", "--no-renames", "--raw", "--no-ext-diff", "--no-textconv")
_STATUS: dict[str, ChangeStatus] = {"A": "added", "D": "deleted"}
_GITLINK = "160000"


@dataclass(frozen=True)
class DiffEntry:
    """One row of Git's raw diff."""

    status: str
    old_mode: str
    new_mode: str
    old: str
    """Object id."""
    new: str
    """Object id; zeros for a file in the worktree."""
    lines: tuple[int, int] | None = None
    """Lines added and removed; None if Git counts none (a binary file or no difference)."""


def between(private: PrivateRepository, since: str, until: str) -> tuple[FileChange, ...]:
    """Return the changes from one tree to another."""
    if since == until:  # even if the tree no longer exists
        return ()
    entries = diff_trees(private, since, until, "--numstat")
    return tuple(_change(path, entry) for path, entry in sorted(entries.items()))


def live(private: PrivateRepository, since: str, missing: frozenset[str]) -> tuple[FileChange, ...]:
    """Return the changes from a tree to the current worktree.

    `missing` are paths that no snapshot contains.
    """
    changes = live_changes_by_path(private, since, missing)
    return tuple(changes[path] for path in sorted(changes))


def live_changes_by_path(
    private: PrivateRepository, since: str, missing: frozenset[str], *, unsaved: bool = False
) -> dict[str, FileChange]:
    """Like `live`, but by path on disk; `unsaved` adds files that a snapshot can no longer save."""
    root = private.repository.root
    command = ("-c", f"core.bigFileThreshold={MAX_FILE}", "diff-index", *_OPTIONS)
    with private.begin(*OTHERS) as walk:
        try:
            entries = parse(private.git(*command, "--numstat", since).out)
        except GitEndedError:
            raise
        except WorkspaceError:
            # Counting fails on an unreadable file, or one that is replaced meanwhile.
            entries = parse(private.git(*command, since).out)
        others = untracked_paths(walk.finish())
    changes = {}
    for path, entry in entries.items():
        if entry.status != "D" and kind_of(root / path) not in (FILE, LINK):
            changes[path] = _change(path, replace(entry, status="D"))  # a pipe replaced it
        elif path in missing and entry.status != "D":
            if unsaved:  # it has become too large or unreadable
                changes[path] = _change(path, entry)
        elif not _is_only_touched(root / path, entry):
            changes[path] = _change(path, entry)
    counted = 0
    for path in sorted(others - missing):
        size = _size(root / path)
        if path.endswith("/") or size is None or size > MAX_FILE:
            continue
        before = entries.get(path)
        if before is not None and _is(root / path, _mode(root / path), before):
            changes.pop(path, None)  # missing at the last snapshot, but now back unchanged
            continue
        counted += 1
        added = _lines(root / path) if counted <= MAX_FILES_COUNTED and size < MAX_COUNTED else 0
        removed = before.lines[1] if before is not None and before.lines is not None else 0
        changes[path] = file_change(path, "added" if before is None else "modified", added, removed)
    return changes


def diff_trees(
    private: PrivateRepository, since: str, until: str, *options: str
) -> dict[str, DiffEntry]:
    """Return Git's raw diff between two trees by path, without submodules."""
    threshold = f"core.bigFileThreshold={MAX_FILE}"
    return parse(private.git("-c", threshold, "diff-tree", *_OPTIONS, *options, since, until).out)


def parse(output: bytes) -> dict[str, DiffEntry]:
    """Parse rows from ``--raw -z``, with counts from ``--numstat -z`` if they follow."""
    entries: dict[str, DiffEntry] = {}
    fields = iter(os.fsdecode(part) for part in output.split(b"\0")[:-1])
    for head in fields:
        if head.startswith(":"):
            old_mode, new_mode, old, new, status = head[1:].split(" ")
            path = next(fields)
            if _GITLINK not in (old_mode, new_mode):
                entries[path] = DiffEntry(status[0], old_mode, new_mode, old, new)
            continue
        added, removed, path = head.split("\t", 2)
        row = entries.get(path)
        if row is not None:
            lines = None if added == "-" else (int(added), int(removed))
            entries[path] = replace(row, lines=lines)
    return entries


def file_change(path: str, status: ChangeStatus, added: int, removed: int) -> FileChange:
    """Return a row for the records."""
    name = spelled_name(path)
    return FileChange(
        path=name, status=status, category=categorize(name), added=added, removed=removed
    )


def _change(path: str, entry: DiffEntry) -> FileChange:
    added, removed = entry.lines or (0, 0)
    return file_change(path, _STATUS.get(entry.status, "modified"), added, removed)


def _is_only_touched(path: Path, entry: DiffEntry) -> bool:
    """True if only the timestamp has changed; Git's raw diff lists even such a file."""
    uncounted = entry.lines is None and not entry.new.strip("0")
    return entry.status == "M" and uncounted and _is(path, entry.new_mode, entry)


def _is(path: Path, mode: str, entry: DiffEntry) -> bool:
    """True if a file, whose mode is now `mode`, equals the tree's version."""
    size = _size(path)
    if mode != entry.old_mode or size is None or size > MAX_FILE:
        return False
    content = _content(path)
    if content is None:
        return False
    digest = hashlib.new("sha1" if len(entry.old) == 40 else "sha256", usedforsecurity=False)
    digest.update(b"blob %d\0" % len(content) + content)
    return digest.hexdigest() == entry.old


def _mode(path: Path) -> str:
    if path.is_symlink():
        return "120000"
    return "100755" if os.access(path, os.X_OK) else "100644"


def _size(path: Path) -> int | None:
    try:
        return path.lstat().st_size
    except OSError:
        return None


def _lines(path: Path) -> int:
    """Count the lines of a text file; 0 for a binary file, as in Git."""
    content = _content(path)
    if not content or b"\0" in content[:8000]:
        return 0
    return content.count(b"\n") + (not content.endswith(b"\n"))


def _content(path: Path) -> bytes | None:
    """Return what Git stores for a file or a symbolic link; None for anything else."""
    try:
        if path.is_symlink():
            return os.fsencode(path.readlink())
        return read_bytes(path)
    except OSError:
        return None


def preview_restore(changes: tuple[FileChange, ...]) -> tuple[FileChange, ...]:
    """Return the effect that undoing these changes has on each file."""
    status: dict[ChangeStatus, ChangeStatus] = {"added": "deleted", "deleted": "added"}
    return tuple(
        change.model_copy(
            update={
                "status": status.get(change.status, change.status),
                "added": change.removed,
                "removed": change.added,
            }
        )
        for change in changes
        if not is_own(change.path)
    )
