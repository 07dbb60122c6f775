"""A snapshot brought back into the worktree, byte for byte.

Only what the present snapshot holds is overwritten or deleted, and a pipe or a socket, which has no
content, where a file belongs. Ignored files, paths a snapshot could not hold, and whatever else
stands in the way stay as they are, each with its reason; no symbolic link is followed. What was not
brought back is not what was meant to stay: it is what a look at the worktree afterwards finds.
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
    is_special,
    kind_of,
    obstacle,
    special_files,
    why_unheld,
)
from ralph_tui.adapters.workspace.private_repository import PrivateRepository, is_own, is_within
from ralph_tui.adapters.workspace.staging import Staged, nul_separated
from ralph_tui.ports.worktree import LeftAlone, Restored

_MAY_HAVE_BEEN = "the snapshot's own rules ignore it, so that it may have been there"
_NOT_HELD = "the snapshot could not save it"
_CAME_TO_LIGHT = "git ignored it until now, so that no snapshot holds it"
_MEANWHILE = "it was written while the files were being restored"


@dataclass(frozen=True)
class Target:
    """A snapshot to bring back."""

    tree: str
    missing: frozenset[str]
    """Paths that it could not hold (folders end in ``/``)."""
    gone: Callable[[], frozenset[str]]
    """Paths that were held before it and were not there any more: asked only when it matters."""


def restore(private: PrivateRepository, present: Staged, target: Target) -> dict[str, str]:
    """Change the worktree to a tree; returns why paths were left alone, as far as known."""
    differing = _differing(private, present.tree, target.tree)
    root = private.repository.root
    # A pipe in the place of a held file says itself what it is.
    unheld = frozenset(path for path in present.missing if not is_special(root / path))
    why = {path: _NOT_HELD for path in differing if covered(path, target.missing)}
    for path in differing.keys() - why.keys():
        if covered(path, unheld):
            why[path] = why_unheld(root, path)
    waiting = {path: entry for path, entry in differing.items() if path not in why}
    index = private.folder / "restore-index"
    scratch = {"GIT_INDEX_FILE": str(index)}
    try:
        private.git("read-tree", target.tree, environment=scratch)
        # The target's rules first: a file that they ignore is one the target may never have held,
        # so that it is not in the target does not mean that it was not there.
        rules = {p: entry for p, entry in waiting.items() if PurePosixPath(p).name == ".gitignore"}
        why |= _apply(private, rules, scratch)
        rest = {p: entry for p, entry in waiting.items() if p not in rules or p in why}
        spared = _spared(private, rest, target)
        why |= dict.fromkeys(spared, _MAY_HAVE_BEEN)
        why |= _apply(private, {p: e for p, e in rest.items() if p not in spared}, scratch)
    finally:
        with suppress(OSError):  # git writes another one over it
            index.unlink()
    return why


def outcome(
    private: PrivateRepository, present: Staged, after: Staged, target: Target, why: dict[str, str]
) -> Restored:
    """What came of a restore: `present` was there before it, `after` is there now."""
    meant = _differing(private, present.tree, target.tree)
    left = _differing(private, after.tree, target.tree)
    kept: dict[str, str] = {}
    for path, entry in left.items():
        kept[path] = why.get(path) or (
            _CAME_TO_LIGHT if entry.status == "D" and path not in meant else _MEANWHILE
        )
    root = private.repository.root
    for path in after.missing:
        if path not in kept and not covered(path, target.missing):
            kept[path] = why_unheld(root, path)
    for path in standing(private, after.missing) - kept.keys():
        if not covered(path, target.missing):
            kept[path] = why_unheld(root, path)
    return Restored(
        tuple(sorted(meant.keys() - kept.keys())),
        tuple(LeftAlone(path, kept[path]) for path in sorted(kept)),
    )


def standing(private: PrivateRepository, not_held: Iterable[str]) -> set[str]:
    """Pipes, sockets and devices that git does not ignore; not below these folders, if they are."""
    passed_over = frozenset({*not_held, *ignored_folders(private)})
    root = private.repository.root
    found = [path for path in special_files(root, passed_over) if not is_own(path)]
    return set(found) - ignored_paths(private, found)


def _differing(private: PrivateRepository, since: str, until: str) -> dict[str, DiffEntry]:
    if since == until:
        return {}
    found = diff_trees(private, since, until)
    return {path: entry for path, entry in found.items() if not is_own(path)}


def _spared(
    private: PrivateRepository, entries: dict[str, DiffEntry], target: Target
) -> frozenset[str]:
    """Those to be deleted that may have been there, although the target does not hold them."""
    doomed = [path for path, entry in entries.items() if entry.status == "D"]
    written = {path for path, entry in entries.items() if entry.status != "D"}
    ignored = ignored_paths(private, doomed, "--no-index")
    # Where a file was to be, no folder was, whatever the rules say of what is in it now.
    ignored = {p for p in ignored if written.isdisjoint(map(str, PurePosixPath(p).parents))}
    return frozenset(ignored - target.gone() if ignored else ())


def _apply(
    private: PrivateRepository, entries: dict[str, DiffEntry], scratch: dict[str, str]
) -> dict[str, str]:
    """Delete, then write; returns why that could not be done, by path."""
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
        # Git knows only the executable bit: a file that was private stays private.
        if mode is not None and (now := _mode(root / path)) is not None:
            wanted = (mode & 0o666) | (now & 0o111 & (mode & 0o444) >> 2)
            if wanted != now:
                with suppress(OSError):  # not every file system knows modes
                    (root / path).chmod(wanted)
    return {path: reason for path, reason in why.items() if reason}


def _delete(root: Path, path: str) -> str:
    """Why it could not be deleted; empty when it is not there any more."""
    if not is_within(root, path):
        return "a link stands in the place of one of its folders"
    try:
        (root / path).unlink(missing_ok=True)
    except OSError as error:
        return f"it cannot be deleted: {error.strerror}"
    return ""


def _remove_empty_tree(folder: Path) -> str:
    """Remove a folder that holds nothing but empty folders; why that could not be done."""
    try:
        for inner in folder.iterdir():
            if reason := _remove_empty_tree(inner):
                return reason
        folder.rmdir()
    except OSError as error:
        return f"a folder stands there, which cannot be removed: {error.strerror}"
    return ""


def _remove_empty_folders(root: Path, deleted: Iterable[str]) -> None:
    folders = {parent for path in deleted for parent in PurePosixPath(path).parents[:-1]}
    for folder in sorted(folders, key=lambda one: len(one.parts), reverse=True):
        try:
            (root / folder).rmdir()
        except OSError:
            continue


def _mode(path: Path) -> int | None:
    """Permission bits of a regular file; None for anything else."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return stat.S_IMODE(found.st_mode) if stat.S_ISREG(found.st_mode) else None
