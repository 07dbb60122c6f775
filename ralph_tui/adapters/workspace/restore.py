"""Restores a snapshot into the worktree, byte for byte.

It overwrites or deletes only what the current snapshot contains, and pipes or sockets in place of
files, because they have no content. Ignored files, paths that a snapshot could not contain, and any
other obstacle stay, each with a reason. No symbolic link is followed. Paths are reported as not
restored if they differ afterwards, whatever was expected.
"""

import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ralph_tui.adapters.workspace.changes import DiffEntry, diff_trees
from ralph_tui.adapters.workspace.ignored import ignored_folders, ignored_paths
from ralph_tui.adapters.workspace.obstacles import (
    FOLDER,
    covered,
    explain_unsaved,
    is_special,
    kind_of,
    obstacle,
    special_files,
)
from ralph_tui.adapters.workspace.private_repository import PrivateRepository, is_own, is_within
from ralph_tui.adapters.workspace.staging import Staged, nul_separated
from ralph_tui.ports.worktree import LeftAlone, Restored

_MAY_HAVE_EXISTED = "the snapshot's ignore rules exclude it, so it may have existed"
_NOT_SAVED = "the snapshot could not save it"
_IGNORED_BEFORE = "git ignored it until now, so no snapshot contains it"
_WRITTEN_MEANWHILE = "it was written while the files were being restored"


@dataclass(frozen=True)
class Target:
    """A snapshot to restore."""

    tree: str
    missing: frozenset[str]
    """Paths that it could not contain (folders end in ``/``)."""
    gone: Callable[[], frozenset[str]]
    """Returns paths in earlier snapshots that were gone by this one; called only if needed."""


def restore(private: PrivateRepository, present: Staged, target: Target) -> dict[str, str]:
    """Restore the worktree to a tree; return the known reasons why paths are unchanged."""
    differing = _differing(private, present.tree, target.tree)
    root = private.repository.root
    # A pipe in place of a saved file gets a reason of its own.
    unsaved = frozenset(path for path in present.missing if not is_special(root / path))
    why = {path: _NOT_SAVED for path in differing if covered(path, target.missing)}
    for path in differing.keys() - why.keys():
        if covered(path, unsaved):
            why[path] = explain_unsaved(root, path)
    waiting = {path: entry for path, entry in differing.items() if path not in why}
    index = private.folder / "restore-index"
    scratch = {"GIT_INDEX_FILE": str(index)}
    try:
        private.git("read-tree", target.tree, environment=scratch)
        # The target's ignore rules come first. They show which files the target may never have
        # contained: that such a file is not in the target does not mean that it did not exist.
        rules = {p: entry for p, entry in waiting.items() if PurePosixPath(p).name == ".gitignore"}
        why |= _apply(private, rules, scratch)
        rest = {p: entry for p, entry in waiting.items() if p not in rules or p in why}
        spared = _to_keep(private, rest, target)
        why |= dict.fromkeys(spared, _MAY_HAVE_EXISTED)
        why |= _apply(private, {p: e for p, e in rest.items() if p not in spared}, scratch)
    finally:
        with suppress(OSError):  # Git will overwrite it the next time
            index.unlink()
    return why


def outcome(
    private: PrivateRepository, present: Staged, after: Staged, target: Target, why: dict[str, str]
) -> Restored:
    """Return the result of a restore, from the worktree before (`present`) and `after` it."""
    meant = _differing(private, present.tree, target.tree)
    left = _differing(private, after.tree, target.tree)
    kept: dict[str, str] = {}
    for path, entry in left.items():
        kept[path] = why.get(path) or (
            _IGNORED_BEFORE if entry.status == "D" and path not in meant else _WRITTEN_MEANWHILE
        )
    root = private.repository.root
    for path in after.missing:
        if path not in kept and not covered(path, target.missing):
            kept[path] = explain_unsaved(root, path)
    for path in special_unignored(private, after.missing) - kept.keys():
        if not covered(path, target.missing):
            kept[path] = explain_unsaved(root, path)
    return Restored(
        tuple(sorted(meant.keys() - kept.keys())),
        tuple(LeftAlone(path, kept[path]) for path in sorted(kept)),
    )


def special_unignored(private: PrivateRepository, unsaved_folders: Iterable[str]) -> set[str]:
    """Return unignored pipes, sockets and devices outside the folders in `unsaved_folders`."""
    passed_over = frozenset({*unsaved_folders, *ignored_folders(private)})
    root = private.repository.root
    found = [path for path in special_files(root, passed_over) if not is_own(path)]
    return set(found) - ignored_paths(private, found)


def _differing(private: PrivateRepository, since: str, until: str) -> dict[str, DiffEntry]:
    if since == until:
        return {}
    found = diff_trees(private, since, until)
    return {path: entry for path, entry in found.items() if not is_own(path)}


def _to_keep(
    private: PrivateRepository, entries: dict[str, DiffEntry], target: Target
) -> frozenset[str]:
    """Return paths to be deleted that may have existed even though the target lacks them."""
    to_delete = [path for path, entry in entries.items() if entry.status == "D"]
    written = {path for path, entry in entries.items() if entry.status != "D"}
    ignored = ignored_paths(private, to_delete, "--no-index")
    # A folder cannot have existed in place of a file, whatever the rules say about its content.
    ignored = {p for p in ignored if written.isdisjoint(map(str, PurePosixPath(p).parents))}
    return frozenset(ignored - target.gone() if ignored else ())


def _apply(
    private: PrivateRepository, entries: dict[str, DiffEntry], scratch: dict[str, str]
) -> dict[str, str]:
    """Delete, then write; return the reasons for failures by path."""
    root = private.repository.root
    why = {p: _delete(root, p) for p, entry in entries.items() if entry.status == "D"}
    _remove_empty_folders(root, [path for path, reason in why.items() if not reason])
    modes: dict[str, int | None] = {}
    for path, entry in entries.items():
        if entry.status == "D":
            continue
        why[path] = obstacle(root, path, held=entry.status != "A")
        if not why[path] and kind_of(root / path) == FOLDER:
            why[path] = _remove_empty_tree(root / path)
        if not why[path]:
            modes[path] = _mode(root / path)
    if modes:
        command = ("checkout-index", "-f", "-z", "--stdin")
        private.git(*command, stdin=nul_separated(set(modes)), environment=scratch)
    for path, mode in modes.items():
        # Git knows only the executable bit, so a private file stays private.
        if mode is not None and (now := _mode(root / path)) is not None:
            wanted = (mode & 0o666) | (now & 0o111 & (mode & 0o444) >> 2)
            if wanted != now:
                with suppress(OSError):  # not every file system supports modes
                    (root / path).chmod(wanted)
    return {path: reason for path, reason in why.items() if reason}


def _delete(root: Path, path: str) -> str:
    """Return why a file could not be deleted; empty if it is gone."""
    if not is_within(root, path):
        return "a link replaced one of its folders"
    try:
        (root / path).unlink(missing_ok=True)
    except OSError as error:
        return f"it cannot be deleted: {error.strerror}"
    return ""


def _remove_empty_tree(folder: Path) -> str:
    """Remove a folder that contains only empty folders; return why that failed, if it did."""
    try:
        for inner in folder.iterdir():
            if reason := _remove_empty_tree(inner):
                return reason
        folder.rmdir()
    except OSError as error:
        return f"a folder in its place cannot be deleted: {error.strerror}"
    return ""


def _remove_empty_folders(root: Path, deleted: Iterable[str]) -> None:
    folders = {parent for path in deleted for parent in PurePosixPath(path).parents[:-1]}
    for folder in sorted(folders, key=lambda one: len(one.parts), reverse=True):
        try:
            (root / folder).rmdir()
        except OSError:
            continue


def _mode(path: Path) -> int | None:
    """Return the permission bits of a regular file; None for anything else."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return stat.S_IMODE(found.st_mode) if stat.S_ISREG(found.st_mode) else None
