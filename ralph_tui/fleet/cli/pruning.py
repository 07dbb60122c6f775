"""``fleet prune``: the trees that past fleets have left on this machine.

Rule: what lives is left alone, and what goes is told before, with its size, and whether work would
go with it that is nowhere else.
"""

import argparse
import errno
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from ralph_tui.adapters.clones.making import remove_tree
from ralph_tui.adapters.clones.places import (
    WORKER_LOCK,
    found_in,
    remove_folder,
)
from ralph_tui.adapters.records.folders import named_path, worktree_root
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.live import confirm
from ralph_tui.errors import UsageError, why
from ralph_tui.file_lock import holder_of, locked
from ralph_tui.fleet.cli.leftovers import (
    RESUMABLE,
    Known,
    LeftBranch,
    LeftFolder,
    LeftTree,
    at_work_in,
    bases_of,
    beaten_branches,
    known_fleets,
    left_in,
)
from ralph_tui.fleet.runtime.removed_work import no_fleet_begins, record_removed
from ralph_tui.text.format import byte_size, count
from ralph_tui.text.sanitize import one_line


def prune(args: argparse.Namespace) -> int:
    """List it, ask, remove it. Raises ``RalphError``.

    A folder that is named is looked at as a whole, wherever it is said: a worker's machine need
    not have the repository.
    """
    root = worktree_root(Path.cwd())
    if args.branches or not args.trees:
        open_repository(root)
    known = known_fleets(root)
    bases = [named_path(args.trees).absolute()] if args.trees else bases_of(known)
    with ExitStack() as held:
        found: list[LeftTree | LeftFolder] = []
        for base in bases:
            _keep_workers_away(base, held)
            found += left_in(base, known, all_of_them=bool(args.trees))
        branches = _branches(root, known) if args.branches else []
        return _prune(args, found, branches, root)


def _prune(
    args: argparse.Namespace,
    found: list[LeftTree | LeftFolder],
    branches: list[LeftBranch],
    root: Path,
) -> int:
    trees = [one for one in found if isinstance(one, LeftTree)]
    folders = [one for one in found if isinstance(one, LeftFolder)]
    if not args.resumable:
        kept = f"{RESUMABLE}; --resumable removes it too"
        trees = [replace(one, kept=one.kept or kept) if one.resumable else one for one in trees]
    _tell(trees, folders, branches)
    trees, branches = [one for one in trees if not one.kept], [b for b in branches if not b.kept]
    what = _words(trees, [one for one in folders if one.size], branches)
    if not what:
        _remove(root, trees, folders, branches)  # empty folders
        where = f"in {one_line(args.trees)}" if args.trees else "here"
        whose = "past fleet" if args.trees else "past fleet of this repository"
        print(f"there is nothing to prune: no {whose} has left anything {where} that may go")
        return ExitCode.COMPLETED
    if not args.yes:
        if not sys.stdin.isatty():
            raise UsageError("not a terminal; pass --yes to confirm: ralph-tui fleet prune --yes")
        if not confirm(f"Remove {what}?"):
            print("nothing was removed", file=sys.stderr)
            return ExitCode.FAILED
    losing = [tree.told for tree in trees if tree.told is not None]
    with no_fleet_begins(losing):
        removed = _remove(root, trees, folders, branches)
        print(f"removed {what}")
        for fleet in dict.fromkeys(losing):
            loops = [tree.folder.loop for tree in removed if tree.told == fleet]
            if loops:
                record_removed(fleet, loops)
    return ExitCode.COMPLETED


def _keep_workers_away(base: Path, held: ExitStack) -> None:
    """Hold the lock of a worker's folder; raises ``UsageError`` while a worker is there."""
    lock = base / WORKER_LOCK
    if not lock.exists():
        return
    try:
        held.enter_context(locked(lock, 0))
    except OSError as error:
        if error.errno == errno.EAGAIN:
            pid = holder_of(lock)
            raise UsageError(
                f"a worker (process {pid}) works in {base}: stop it first, it is left alone"
            ) from error
        raise UsageError(f"cannot look at {base}: {why(error, 'name another folder')}") from error


def _branches(root: Path, known: dict[str, Known]) -> list[LeftBranch]:
    repository = open_repository(root)
    past = [fleet.state for fleet in known.values() if not fleet.lives]
    return [branch for state in past for branch in beaten_branches(repository, state)]


def _tell(trees: list[LeftTree], folders: list[LeftFolder], branches: list[LeftBranch]) -> None:
    for tree in trees:
        remark = f"stays: {tree.kept}" if tree.kept else tree.remark
        end = f"; {remark}" if remark else ""
        name = f"{tree.fleet} loop {tree.folder.loop}"
        print(f"{name}: {byte_size(tree.size)}, {tree.folder.folder}{end}")
    for folder in folders:
        if folder.size:
            print(f"{folder.path}: {byte_size(folder.size)}, of a fleet without trees")
    for branch in branches:
        end = f" stays: {branch.kept}" if branch.kept else f" at {branch.commit[:9]}"
        print(f"branch {branch.name}{end}, of an attempt that was beaten")


def _remove(
    root: Path,
    trees: list[LeftTree],
    folders: list[LeftFolder],
    branches: list[LeftBranch],
) -> list[LeftTree]:
    """The trees that went."""
    removed = []
    for tree in trees:
        if at_work_in(tree.folder):  # a run was begun in it meanwhile
            continue
        remove_tree(tree.folder)
        removed.append(tree)
    for fleet in {tree.folder.folder.parent for tree in trees}:
        if not any(found_in(fleet.parent, fleet.name)):
            remove_folder(fleet)
    for folder in folders:
        remove_folder(folder.path)
    if branches:
        repository = open_repository(root)
        for branch in branches:
            # Only as long as it stands there: a branch that somebody has moved stays.
            repository.git("update-ref", "-d", f"refs/heads/{branch.name}", branch.commit)
    return removed


def _words(trees: list[LeftTree], folders: list[LeftFolder], branches: list[LeftBranch]) -> str:
    parts = []
    if trees:
        size = byte_size(sum(tree.size for tree in trees))
        parts.append(f"{count(len(trees), 'tree')} ({size})")
    if folders:
        size = byte_size(sum(folder.size for folder in folders))
        parts.append(f"{count(len(folders), 'folder')} ({size})")
    if branches:
        parts.append("1 branch" if len(branches) == 1 else f"{len(branches)} branches")
    return " and ".join(parts)
