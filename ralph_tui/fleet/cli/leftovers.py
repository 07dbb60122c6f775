"""What past fleets have left on this machine, and what of it may be removed.

A fleet is known by its journal, in the repository here or in the one that a tree was made from. A
worker's folder may hold trees of fleets that are known elsewhere alone.
"""

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ralph_tui.adapters.clones.places import (
    PlaceRecord,
    TreeFolder,
    fleets_in,
    found_in,
    size_of,
    usual_base,
)
from ralph_tui.adapters.clones.worktrees import checked_out
from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.adapters.records.lock import holder, worker
from ralph_tui.adapters.workspace.repository import Repository
from ralph_tui.errors import JournalError, WorkspaceError
from ralph_tui.fleet.records.folders import FleetFolder, find_fleets
from ralph_tui.fleet.records.reading import read_fleet
from ralph_tui.fleet.state import FleetState
from ralph_tui.text.sanitize import one_line

NO_WORK = "no work was begun in it"
RESUMABLE = "'ralph-tui fleet resume' continues in it"
GOES_WITH_IT = "its work was not collected, and goes with it"


@dataclass(frozen=True)
class LeftTree:
    """The tree of one loop."""

    fleet: str
    """Its name."""
    folder: TreeFolder
    size: int
    """Bytes."""
    remark: str
    kept: str = ""
    """Why it stays; empty: it may be removed."""
    told: FleetFolder | None = None
    """The fleet whose record is to say that this tree is gone; None: none."""
    resumable: bool = False
    """``fleet resume`` would continue in it."""


@dataclass(frozen=True)
class LeftFolder:
    """Of a fleet that has no tree: a copy of the repository, or nothing."""

    path: Path
    size: int


@dataclass(frozen=True)
class LeftBranch:
    """Of a try that was beaten."""

    name: str
    commit: str
    kept: str = ""
    """As of `LeftTree`."""


@dataclass(frozen=True)
class Known:
    """A fleet whose journal is on this machine."""

    folder: FleetFolder
    state: FleetState

    @property
    def lives(self) -> bool:
        """Whether its process is there."""
        return self.folder.owner() is not None


def known_fleets(root: Path) -> dict[str, Known]:
    """Those of a repository, by id; one that cannot be read is left out."""
    found = {}
    for folder in find_fleets(root):
        try:
            state = read_fleet(folder.journal).state()
        except JournalError:
            continue  # whose trees they are is not known
        if state.started is not None:
            found[state.started.fleet_id] = Known(folder, state)
    return found


def bases_of(known: dict[str, Known]) -> list[Path]:
    """The folders in which the trees of these fleets lie, on the machine of their repository."""
    told = [fleet.state.reach.trees for fleet in known.values()]
    return [usual_base(), *(Path(trees) for trees in dict.fromkeys(told) if trees)]


def left_in(
    base: Path, known: dict[str, Known], *, all_of_them: bool
) -> Iterator[LeftTree | LeftFolder]:
    """What lies in the folder of trees `base` of these fleets, but for those that live.

    `all_of_them`: and of fleets of other repositories, where their trees say which these are.
    """
    elsewhere = cache(known_fleets)
    for fleet_id in dict.fromkeys([*known, *(fleets_in(base) if all_of_them else ())]):
        trees = [(folder, folder.read()) for folder in found_in(base, fleet_id)]
        fleet = known.get(fleet_id)
        if fleet is None:
            sources = [record.place.source for _, record in trees if record is not None]
            here = [Path(one.path) for one in sources if one.machine == socket.gethostname()]
            fleet = next((elsewhere(path).get(fleet_id) for path in here[:1]), None)
        if fleet is not None and fleet.lives:
            continue
        path = base / fleet_id
        if not trees and path.is_dir() and fleet is not None:
            yield LeftFolder(path, size_of(path))
        for folder, record in trees:
            yield _tree(fleet_id, folder, record, fleet)


def _tree(
    fleet_id: str, folder: TreeFolder, record: PlaceRecord | None, fleet: Known | None
) -> LeftTree:
    if fleet is None:
        name = record.place.fleet if record is not None else fleet_id
        remark = NO_WORK if _never_began(record) else "what was not collected of it goes with it"
    else:
        name = fleet.folder.name
        remark = _remark(folder, record, fleet.state)
    resumable = fleet is not None and _is_resumable(folder, fleet.state)
    awaited = fleet is not None and (resumable or _is_awaited(folder, fleet.state))
    told = fleet.folder if fleet is not None and awaited else None
    kept = at_work_in(folder) or (_runs_beside(told) if told is not None else "")
    return LeftTree(name, folder, size_of(folder.folder), remark, kept, told, resumable)


def _is_awaited(folder: TreeFolder, state: FleetState) -> bool:
    """Whether what its loop has done is in this tree alone, and the fleet does not know better."""
    loop = state.loops.get(folder.loop)
    if loop is None or folder.attempt != loop.attempt or not loop.run_id:
        return False
    return not loop.collected


def _runs_beside(fleet: FleetFolder) -> str:
    """Why nothing can be recorded of a fleet now: another one of its repository lives."""
    owner = worker(fleet.lock)
    if owner is None:
        return ""
    runs = owner.run or "the fleet that runs"
    return f"that its work goes can be recorded only when {runs} is over"


def at_work_in(folder: TreeFolder) -> str:
    """Why a tree is left alone: a run, or what it has left, is alive in it; empty: nothing is."""
    try:
        owner = holder(ralph_folder(folder.tree) / "lock")
    except WorkspaceError as error:  # whether a run is alive is not known
        return str(error)
    return "" if owner is None else f"a run works in it (process {owner.pid})"


def _never_began(record: PlaceRecord | None) -> bool:
    return record is not None and not record.run


def _is_resumable(folder: TreeFolder, state: FleetState) -> bool:
    loop = state.loops.get(folder.loop)
    if loop is None or folder.attempt != loop.attempt or loop.status == "skipped":
        return False
    aborted = state.stopping is not None and state.stopping.abort
    return not loop.tree_is_done and not aborted


def _remark(folder: TreeFolder, record: PlaceRecord | None, state: FleetState) -> str:
    loop = state.loops.get(folder.loop)
    if _is_resumable(folder, state):
        return RESUMABLE
    if loop is not None and folder.attempt == loop.attempt and loop.commit:
        return ""  # its work is a branch, or it has changed nothing
    return NO_WORK if _never_began(record) else GOES_WITH_IT


def beaten_branches(repository: Repository, state: FleetState) -> Iterator[LeftBranch]:
    """Of tries that were beaten: those that still stand where they were collected may go."""
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
            kept = "it has other commits than those that were collected"
        yield LeftBranch(loop.branch, commit, kept)
