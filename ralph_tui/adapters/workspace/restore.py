"""A snapshot brought back into the worktree, byte for byte.

Only what the present snapshot holds is overwritten or deleted. Ignored files, paths a snapshot
could not hold, and whatever else stands in the way stay as they are and are reported as kept; no
symbolic link is followed.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

from ralph_tui.adapters.workspace.changes import DiffEntry, diff_trees
from ralph_tui.adapters.workspace.private_repository import PrivateRepository, is_own, is_within
from ralph_tui.adapters.workspace.staging import ignored_paths, nul_separated
from ralph_tui.ports import Restored


def restore(
    private: PrivateRepository, present: str, target: str, untouchable: frozenset[str]
) -> Restored:
    """Change the worktree from the tree `present` to the tree `target`.

    `untouchable` are paths (folders end in ``/``) that one of them could not hold.
    """
    differing = {
        path: entry
        for path, entry in diff_trees(private, present, target).items()
        if not is_own(path)
    }
    waiting = {p: entry for p, entry in differing.items() if not _covered(p, untouchable)}
    index = private.folder / "restore-index"
    scratch = {"GIT_INDEX_FILE": str(index)}
    try:
        private.git("read-tree", target, environment=scratch)
        # The target's rules first: a file that they ignore is one the target never held, so that
        # it is not in the target does not mean that it was not there.
        rules = {p: entry for p, entry in waiting.items() if PurePosixPath(p).name == ".gitignore"}
        changed = _apply(private, rules, scratch)
        rest = {p: entry for p, entry in waiting.items() if p not in changed}
        doomed = [p for p, entry in rest.items() if entry.status == "D"]
        ignored = ignored_paths(private, doomed, "--no-index")
        changed |= _apply(private, {p: e for p, e in rest.items() if p not in ignored}, scratch)
    finally:
        with suppress(OSError):  # git writes another one over it
            index.unlink()
    return Restored(tuple(sorted(changed)), tuple(sorted(differing.keys() - changed)))


def _apply(
    private: PrivateRepository, entries: dict[str, DiffEntry], scratch: dict[str, str]
) -> set[str]:
    """Delete, then write; returns the paths for which that was done."""
    root = private.repository.root
    deleted = {p for p, entry in entries.items() if entry.status == "D" and _delete(root, p)}
    _remove_empty_folders(root, deleted)
    modes = {
        path: _mode(root / path)
        for path, entry in entries.items()
        if entry.status != "D" and _writable(root, path, held=entry.status != "A")
    }
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
    return deleted | set(modes)


def _delete(root: Path, path: str) -> bool:
    if not is_within(root, path):
        return False
    try:
        (root / path).unlink()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _writable(root: Path, path: str, *, held: bool) -> bool:
    """Whether a file can be written here, and nothing that no snapshot holds stands there."""
    if not is_within(root, path) or not _may_write(root, path):
        return False
    try:
        found = (root / path).lstat()
    except OSError:
        return True
    if stat.S_ISDIR(found.st_mode):
        return _remove_empty_tree(root / path)
    return held


def files_below(folder: Path) -> Iterator[Path]:
    """All that is no folder in a folder; one that cannot be looked into counts as a file."""
    try:
        entries = list(folder.iterdir())
    except OSError:
        yield folder
        return
    for entry in entries:
        if entry.is_dir() and not entry.is_symlink():
            yield from files_below(entry)
        else:
            yield entry


def _remove_empty_tree(folder: Path) -> bool:
    """Remove a folder that holds nothing but empty folders; False when it holds more."""
    if any(True for _ in files_below(folder)):
        return False
    try:
        for inner in folder.iterdir():
            _remove_empty_tree(inner)
        folder.rmdir()
    except OSError:
        return False
    return True


def _may_write(root: Path, path: str) -> bool:
    """Whether the nearest folder that exists takes new files: git gives up at the first refusal."""
    parents = (root / parent for parent in PurePosixPath(path).parents)
    nearest = next((parent for parent in parents if parent.exists()), root)
    return os.access(nearest, os.W_OK | os.X_OK)


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


def _covered(path: str, untouchable: frozenset[str]) -> bool:
    """Whether a path is one of these, or lies below one of their folders."""
    parents = PurePosixPath(path).parents
    return path in untouchable or any(f"{parent}/" in untouchable for parent in parents)
