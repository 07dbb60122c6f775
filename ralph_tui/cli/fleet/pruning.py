"""``fleet prune``: the trees that fleets of this repository have left on this machine.

Rule: what lives is left alone, and what goes is told before, with its size, and whether work would
go with it that is nowhere else.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ralph_tui.adapters.fleet.records.folders import FleetFolder, find_fleets
from ralph_tui.adapters.fleet.records.reading import read_fleet
from ralph_tui.adapters.fleet.trees.making import remove_worktree
from ralph_tui.adapters.fleet.trees.places import TreeFolder, found_in, size_of, usual_base
from ralph_tui.adapters.records.folders import named_path, worktree_root
from ralph_tui.adapters.workspace.repository import Repository, open_repository
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.live import confirm
from ralph_tui.errors import JournalError, UsageError
from ralph_tui.fleet.state import FleetState
from ralph_tui.text.format import byte_size, count


@dataclass(frozen=True)
class _Tree:
    """What can be removed of one loop."""

    fleet: str
    folder: TreeFolder
    size: int
    remark: str


@dataclass(frozen=True)
class _Branch:
    """Of a try that was beaten."""

    name: str
    commit: str


def prune(args: argparse.Namespace) -> int:
    """List it, ask, remove it. Raises ``RalphError``."""
    root = worktree_root(Path.cwd())
    repository = open_repository(root)
    base = named_path(args.trees).absolute() if args.trees else usual_base()
    trees: list[_Tree] = []
    branches: list[_Branch] = []
    for fleet in find_fleets(root):
        try:
            state = read_fleet(fleet.journal).state()
        except JournalError:
            continue  # whose trees they are is not known
        if fleet.owner() is None:
            trees += _trees(fleet, state, base)
            branches += _beaten(repository, state) if args.branches else []
    if not trees and not branches:
        print("there is nothing to prune: no past fleet of this repository has left a tree here")
        return ExitCode.COMPLETED
    for tree in trees:
        remark = f"; {tree.remark}" if tree.remark else ""
        name = f"{tree.fleet} loop {tree.folder.loop}"
        print(f"{name}: {byte_size(tree.size)}, {tree.folder.folder}{remark}")
    for branch in branches:
        print(f"branch {branch.name} at {branch.commit[:9]}, of a try that was beaten")
    what = _words(trees, branches)
    if not args.yes:
        if not sys.stdin.isatty():
            raise UsageError("nobody can be asked here: say fleet prune --yes")
        if not confirm(f"Remove {what}?"):
            print("nothing was removed", file=sys.stderr)
            return ExitCode.FAILED
    _remove(repository, trees, branches)
    print(f"removed {what}")
    return ExitCode.COMPLETED


def _trees(fleet: FleetFolder, state: FleetState, base: Path) -> Iterator[_Tree]:
    if state.started is None:
        return
    for folder in found_in(base, state.started.fleet_id):
        loop = state.loops.get(folder.loop)
        remark = ""
        if loop is not None and folder.attempt == loop.attempt and not loop.over:
            remark = "ralph-tui fleet resume would go on in it"
        elif loop is None or folder.attempt != loop.attempt or not loop.commit:
            remark = "its work was not collected, and goes with it"
        yield _Tree(fleet.name, folder, size_of(folder.folder), remark)


def _beaten(repository: Repository, state: FleetState) -> Iterator[_Branch]:
    """Those that still stand where they were collected."""
    for loop in state.loops.values():
        if loop.place == "beaten" and loop.commit and loop.branch:
            ref = f"refs/heads/{loop.branch}"
            there = repository.git("rev-parse", "--verify", "--quiet", ref, accept=None)
            if there.line == loop.commit and loop.branch != repository.branch():
                yield _Branch(loop.branch, loop.commit)


def _remove(repository: Repository, trees: list[_Tree], branches: list[_Branch]) -> None:
    for tree in trees:
        record = tree.folder.read()
        if record is not None and record.worktree:
            remove_worktree(tree.folder.tree, repository.root)
        tree.folder.remove()
    for branch in branches:
        # Only as long as it stands there: a branch that somebody has moved stays.
        repository.git("update-ref", "-d", f"refs/heads/{branch.name}", branch.commit)


def _words(trees: list[_Tree], branches: list[_Branch]) -> str:
    parts = []
    if trees:
        size = byte_size(sum(tree.size for tree in trees))
        parts.append(f"{count(len(trees), 'tree')} ({size})")
    if branches:
        parts.append("1 branch" if len(branches) == 1 else f"{len(branches)} branches")
    return " and ".join(parts)
