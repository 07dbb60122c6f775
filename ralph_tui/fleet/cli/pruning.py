"""``fleet prune``: remove the clones that past fleets left on this machine.

Never touch anything that is still in use. Before removing a clone, report its size and whether it
holds work that exists nowhere else.
"""

import argparse
import errno
import os
import shlex
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from ralph_tui.adapters.clones.making import remove_tree
from ralph_tui.adapters.clones.places import (
    WORKER_LOCK,
    PlaceRecord,
    TreeFolder,
    fleets_in,
    loop_folders,
    remove_folder,
    size_of,
    usual_base,
)
from ralph_tui.adapters.clones.worktrees import checked_out
from ralph_tui.adapters.records.folders import named_path, ralph_folder, worktree_root
from ralph_tui.adapters.records.journal import Journal, cut
from ralph_tui.adapters.records.lock import holder, worker
from ralph_tui.adapters.workspace.repository import Repository, open_repository
from ralph_tui.base.errors import JournalError, UsageError, WorkspaceError, why
from ralph_tui.base.file_lock import holder_of, locked
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.live import confirm
from ralph_tui.fleet.events import CollectionFailed, TreeRemoved
from ralph_tui.fleet.records import FleetFolder, copied_words, find_fleets, read_fleet, take_lock
from ralph_tui.fleet.state import FleetState
from ralph_tui.runtime.clock import SystemClock
from ralph_tui.text.format import byte_size, count
from ralph_tui.text.sanitize import one_line

NO_WORK = "no work was started in it"
RESUMABLE = "'ralph-tui fleet resume' continues in it"
UNCOLLECTED = "its work was not collected and exists nowhere else"


@dataclass(frozen=True)
class LeftClone:
    """The clone or worktree that a loop left behind."""

    fleet: str
    """Name of the fleet, such as ``fleet-001``."""
    folder: TreeFolder
    size: int
    """Size in bytes."""
    remark: str
    kept: str = ""
    """Why it is kept; empty if it may be removed."""
    to_record: FleetFolder | None = None
    """The fleet whose journal must record the removal; None if no record is needed."""
    only_copy: bool = False
    """True if ``fleet resume`` would continue in it, or its work was not collected."""


@dataclass(frozen=True)
class LeftFolder:
    """A fleet's folder without clones: it is empty or has a copy of the repository."""

    path: Path
    size: int
    kept: str = ""
    """Why it is kept; empty if it may be removed."""


@dataclass(frozen=True)
class LeftBranch:
    """The branch of a beaten attempt."""

    name: str
    commit: str
    kept: str = ""
    """Why it is kept; empty if it may be removed."""


@dataclass(frozen=True)
class KnownFleet:
    """A fleet whose journal is on this machine."""

    folder: FleetFolder
    state: FleetState
    broken: str = ""
    """Why the journal is broken, as in `FleetRecording`; empty if it is intact."""

    @property
    def is_running(self) -> bool:
        """True if the fleet's process is running."""
        return self.folder.owner() is not None


def load_fleets(root: Path) -> dict[str, KnownFleet]:
    """Return a repository's fleets by id, except those whose journals cannot be read."""
    found = {}
    for folder in find_fleets(root):
        try:
            recording = read_fleet(folder.journal)
            state = recording.state()
        except JournalError:
            continue  # the owner of its clones is unknown
        if state.started is not None and not copied_words(folder, state.started):
            found[state.started.fleet_id] = KnownFleet(folder, state, recording.broken)
    return found


def describe_copies(root: Path) -> Iterator[str]:
    """Yield a sentence for each record that is skipped because its fleet is elsewhere."""
    for folder in find_fleets(root):
        with suppress(JournalError):
            started = read_fleet(folder.journal).state().started
            if started is not None and (copied := copied_words(folder, started)):
                yield f"{copied}; prune it there"


def clone_folders(known: dict[str, KnownFleet]) -> list[Path]:
    """Return the folders that contain these fleets' clones on the repository's machine."""
    bases = [fleet.state.reach.trees for fleet in known.values()]
    return [usual_base(), *(Path(trees) for trees in dict.fromkeys(bases) if trees)]


def find_remains(
    base: Path, known: dict[str, KnownFleet], *, all_of_them: bool
) -> Iterator[LeftClone | LeftFolder]:
    """Yield the remains of fleets in the folder `base`, except those of running fleets.

    A fleet is identified by its journal, either in `known` or in the repository that a clone was
    made from. `all_of_them` includes fleets of other repositories, if their clones name them.
    """
    elsewhere = cache(_load_from)
    for fleet_id in dict.fromkeys([*known, *(fleets_in(base) if all_of_them else ())]):
        trees = [(folder, folder.read()) for folder in loop_folders(base, fleet_id)]
        fleet = known.get(fleet_id)
        if fleet is None:
            sources = [record.place.source for _, record in trees if record is not None]
            here = [Path(one.path) for one in sources if one.machine == socket.gethostname()]
            fleet = next((elsewhere(path).get(fleet_id) for path in here[:1]), None)
        if fleet is not None and fleet.is_running:
            continue
        path = base / fleet_id
        if not trees and path.is_dir() and fleet is not None:
            listed = os.access(path, os.R_OK | os.X_OK)
            kept = "" if listed else "it cannot be read; make it readable"
            yield LeftFolder(path, size_of(path), kept)
        for folder, record in trees:
            yield _left_clone(fleet_id, folder, record, fleet)


def _load_from(path: Path) -> dict[str, KnownFleet]:
    """Return `load_fleets` of a path from a clone's record; empty if it cannot be read."""
    try:
        return load_fleets(path)
    except (OSError, ValueError):
        return {}


def _left_clone(
    fleet_id: str, folder: TreeFolder, record: PlaceRecord | None, fleet: KnownFleet | None
) -> LeftClone:
    if fleet is not None and fleet.broken:
        # The broken part of the journal might mention this clone.
        why = describe_use(folder) or fleet.broken
        return LeftClone(fleet.folder.name, folder, size_of(folder.folder), "", why)
    if fleet is None:
        name = record.place.fleet if record is not None else fleet_id
        remark = NO_WORK if _never_began(record) else "work that was not collected is lost with it"
    else:
        name = fleet.folder.name
        remark = _clone_remark(folder, record, fleet.state)
    resumable = fleet is not None and _is_resumable(folder, record, fleet.state)
    awaited = fleet is not None and (resumable or _is_awaited(folder, fleet.state))
    to_record = fleet.folder if fleet is not None and awaited else None
    unreadable = folder.unreadable() if record is None else ""
    kept = (
        describe_use(folder)
        or unreadable
        or (_explain_lock(to_record) if to_record is not None else "")
    )
    only_copy = resumable or remark == UNCOLLECTED
    return LeftClone(name, folder, size_of(folder.folder), remark, kept, to_record, only_copy)


def _is_awaited(folder: TreeFolder, state: FleetState) -> bool:
    """True if the loop's work exists only in this clone, as far as the fleet knows."""
    loop = state.loops.get(folder.loop)
    if loop is None or folder.attempt != loop.attempt or not loop.run_id:
        return False
    return not loop.collected


def _explain_lock(fleet: FleetFolder) -> str:
    """Explain why a fleet's journal is locked, if another fleet is running in its repository."""
    owner = worker(fleet.lock)
    if owner is None:
        return ""
    runs = owner.run or "the running fleet"
    return f"prune can record the loss of its work only when {runs} has ended"


def describe_use(folder: TreeFolder) -> str:
    """Return why a clone is in use, by a run or its leftover processes; empty if it is not."""
    try:
        owner = holder(ralph_folder(folder.tree) / "lock")
    except WorkspaceError as error:  # a run may be alive
        return str(error)
    return "" if owner is None else f"a run works in it (process {owner.pid})"


def _never_began(record: PlaceRecord | None) -> bool:
    return record is not None and not record.run


def _is_resumable(folder: TreeFolder, record: PlaceRecord | None, state: FleetState) -> bool:
    loop = state.loops.get(folder.loop)
    if loop is None or folder.attempt != loop.attempt or loop.status == "skipped":
        return False
    if _never_began(record):  # a resume gives it another clone
        return False
    aborted = state.stopping is not None and state.stopping.abort
    return not loop.tree_is_done and not aborted


def _clone_remark(folder: TreeFolder, record: PlaceRecord | None, state: FleetState) -> str:
    loop = state.loops.get(folder.loop)
    if _is_resumable(folder, record, state):
        return RESUMABLE
    if loop is not None and folder.attempt == loop.attempt and loop.commit:
        return ""  # its work is on a branch, or it changed nothing
    return NO_WORK if _never_began(record) else UNCOLLECTED


def find_beaten(repository: Repository, state: FleetState) -> Iterator[LeftBranch]:
    """Yield the branches of beaten attempts; those that moved since their collection are kept."""
    worktrees = checked_out(repository.root)
    for loop in state.loops.values():
        if loop.place != "beaten" or not loop.commit or not loop.branch:
            continue
        ref = f"refs/heads/{loop.branch}"
        commit = repository.git("rev-parse", "--verify", "--quiet", ref, accept=None).line
        if not commit:
            continue
        where = worktrees.get(ref)
        kept = f"it is checked out in {one_line(where)}" if where else ""
        if commit != loop.commit:
            kept = "it has commits that were not collected"
        yield LeftBranch(loop.branch, commit, kept)


def prune(args: argparse.Namespace) -> int:
    """List the remains of past fleets, and remove them once confirmed. Raises ``RalphError``.

    A folder given with ``--trees`` is searched completely, whatever the current repository, because
    a worker's machine need not have the repository.
    """
    root = worktree_root(Path.cwd())
    if args.branches or not args.trees:
        open_repository(root)
    known = load_fleets(root)
    if not args.trees:
        for copied in describe_copies(root):
            print(copied)
    bases = [named_path(args.trees).absolute()] if args.trees else clone_folders(known)
    with ExitStack() as held:
        found: list[LeftClone | LeftFolder] = []
        for base in bases:
            _block_workers(base, held)
            found += find_remains(base, known, all_of_them=bool(args.trees))
        branches = _find_branches(root, known) if args.branches else []
        return _prune(args, found, branches, root)


def _prune(
    args: argparse.Namespace,
    found: list[LeftClone | LeftFolder],
    branches: list[LeftBranch],
    root: Path,
) -> int:
    trees = [one for one in found if isinstance(one, LeftClone)]
    folders = [one for one in found if isinstance(one, LeftFolder)]
    if not args.resumable:
        too = "--resumable removes it too"
        trees = [
            replace(one, kept=one.kept or f"{one.remark}; {too}") if one.only_copy else one
            for one in trees
        ]
    _print_plan(trees, folders, branches)
    folders = [one for one in folders if not one.kept]
    trees, branches = [one for one in trees if not one.kept], [b for b in branches if not b.kept]
    what = _words(trees, [one for one in folders if one.size], branches)
    if not what:
        _remove(root, trees, folders, branches)  # empty folders
        where = f"in {one_line(args.trees)}" if args.trees else "here"
        whose = "past fleet" if args.trees else "past fleet of this repository"
        print(f"nothing to prune: no {whose} left anything {where} that can be removed")
        return ExitCode.COMPLETED
    if not args.yes:
        if not sys.stdin.isatty():
            asked = ["--trees", args.trees] if args.trees else []
            asked += [f"--{name}" for name in ("branches", "resumable") if vars(args)[name]]
            command = shlex.join(["ralph-tui", "fleet", "prune", *asked, "--yes"])
            raise UsageError(f"not a terminal; use --yes to confirm: {command}")
        if not confirm(f"Remove {what}?"):
            print("nothing was removed", file=sys.stderr)
            return ExitCode.FAILED
    losing = [tree.to_record for tree in trees if tree.to_record is not None]
    with block_fleets(losing):
        removed = _remove(root, trees, folders, branches)
        print(f"removed {what}")
        for fleet in dict.fromkeys(losing):
            loops = [tree.folder.loop for tree in removed if tree.to_record == fleet]
            if loops:
                record_removed(fleet, loops)
    return ExitCode.COMPLETED


def _block_workers(base: Path, held: ExitStack) -> None:
    """Hold the lock of a worker's folder; raise ``UsageError`` if a worker runs there."""
    lock = base / WORKER_LOCK
    if not lock.exists():
        return
    try:
        held.enter_context(locked(lock, 0))
    except OSError as error:
        if error.errno == errno.EAGAIN:
            pid = holder_of(lock)
            raise UsageError(f"a worker (process {pid}) is using {base}: stop it first") from error
        raise UsageError(f"cannot check {base}: {why(error, 'choose another folder')}") from error


def _find_branches(root: Path, known: dict[str, KnownFleet]) -> list[LeftBranch]:
    repository = open_repository(root)
    past = [fleet.state for fleet in known.values() if not fleet.is_running]
    return [branch for state in past for branch in find_beaten(repository, state)]


def _print_plan(
    trees: list[LeftClone], folders: list[LeftFolder], branches: list[LeftBranch]
) -> None:
    for tree in trees:
        remark = f"stays: {tree.kept}" if tree.kept else tree.remark
        end = f"; {remark}" if remark else ""
        name = f"{tree.fleet} loop {tree.folder.loop}"
        print(f"{name}: {byte_size(tree.size)}, {tree.folder.folder}{end}")
    for folder in folders:
        if folder.kept:
            print(f"{folder.path} stays: {folder.kept}")
        elif folder.size:
            print(f"{folder.path}: {byte_size(folder.size)}, of a fleet without clones")
    for branch in branches:
        end = f"; stays: {branch.kept}" if branch.kept else f", at {branch.commit[:9]}"
        print(f"branch {branch.name}, of an attempt that was not chosen{end}")


def _remove(
    root: Path, trees: list[LeftClone], folders: list[LeftFolder], branches: list[LeftBranch]
) -> list[LeftClone]:
    """Remove everything listed, and return the clones that were removed."""
    removed = []
    for tree in trees:
        if describe_use(tree.folder):  # a run has started in it meanwhile
            continue
        remove_tree(tree.folder)
        removed.append(tree)
    for fleet in {tree.folder.folder.parent for tree in trees}:
        if not any(loop_folders(fleet.parent, fleet.name)):
            remove_folder(fleet)
    for folder in folders:
        remove_folder(folder.path)
    if branches:
        repository = open_repository(root)
        for branch in branches:
            # Only if it has not moved: keep a branch that someone has changed.
            repository.git("update-ref", "-d", f"refs/heads/{branch.name}", branch.commit)
    return removed


def _words(trees: list[LeftClone], folders: list[LeftFolder], branches: list[LeftBranch]) -> str:
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


REMOVED = "its clone was removed by 'ralph-tui fleet prune'"


@contextmanager
def block_fleets(fleets: Sequence[FleetFolder]) -> Iterator[None]:
    """Within the block, prevent these fleets from resuming and their journals from being written.

    Raises ``LockHeldError`` if a fleet of one of their repositories runs, and ``WorkspaceError``.
    """
    since = datetime.now(UTC).astimezone().isoformat(sep=" ", timespec="seconds")
    repositories = dict.fromkeys(fleet.path.parents[3] for fleet in fleets)
    with ExitStack() as held:
        for root in repositories:
            held.callback(take_lock(root, "", since).release)
        yield


def record_removed(folder: FleetFolder, loops: Sequence[str]) -> None:
    """Record that these loops' clones are gone, and with them any work that was not collected.

    The caller must hold the lock. Raises ``JournalError``, also if the journal has an unreadable
    end.
    """
    recording = read_fleet(folder.journal)
    if recording.broken:
        raise JournalError(recording.broken)
    cut(recording.journal)
    state = recording.state()
    last = recording.events[-1]
    journal = Journal(folder.journal, SystemClock(last.at), seq=last.seq, last_at=last.at)
    try:
        for loop in loops:
            if not state.loops[loop].collected:
                journal.append(CollectionFailed(loop=loop, reason=REMOVED, final=True))
            journal.append(TreeRemoved(loop=loop))
    finally:
        journal.close()
