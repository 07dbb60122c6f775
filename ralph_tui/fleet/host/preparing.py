"""A tree in which a run can begin: made anew for an attempt, or found again where it goes on."""

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from typing import Protocol

from ralph_tui.adapters.clones.bases import Bases
from ralph_tui.adapters.clones.filling import (
    SETUP,
    SETUP_LIMIT_S,
    put_copied,
    run_setup,
    untracked,
)
from ralph_tui.adapters.clones.making import make_clone, make_worktree, remove_tree
from ralph_tui.adapters.clones.places import PlaceRecord, TreeFolder
from ralph_tui.adapters.clones.probing import Probe
from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.adapters.records.lock import worker
from ralph_tui.adapters.workspace.verification import ShellGate
from ralph_tui.errors import WorkspaceError
from ralph_tui.fleet.ports import Place, StageName

AT_ONCE = 2
"""Trees that are made at once: more of them wait for the disk only."""
LOCK_S = 8.0
"""How long a dying run may hold the worktree that another one is to go on in."""
LOOK_S = 0.05


class Prepared(Protocol):
    """The loop that a tree is for."""

    place: Place
    folder: TreeFolder

    def stage(self, stage: StageName) -> None:
        """Tell how far it is; raises ``RalphError`` where the loop is to end."""
        ...

    def check(self) -> None:
        """Raises ``RalphError`` where the loop is to end."""
        ...

    def note(self, warning: str) -> None:
        """Tell a warning."""
        ...

    def cancelled_by(self, cancel: Callable[[], None]) -> AbstractContextManager[None]:
        """While the block runs, `cancel` ends what it waits for."""
        ...


class Preparer:
    """Makes the trees of a host's loops."""

    def __init__(self, bases: Bases) -> None:
        self._bases = bases
        self._making = threading.Semaphore(AT_ONCE)
        self._probing = threading.Lock()
        self._probed: set[tuple[str, str, str]] = set()

    def prepare(self, loop: Prepared, variables: Mapping[str, str]) -> PlaceRecord:
        """The tree of a loop; `variables` are those of its run.

        Raises ``RalphError``: one sentence about why there is none.
        """
        if loop.place.resume:
            return self._found_again(loop)
        self._refuse_work(loop.folder)
        record = self._made(loop)
        if loop.place.copied:
            loop.stage("copying")
            put_copied(loop.folder.tree, loop.place.copied)
        if loop.place.setup.strip():
            loop.stage("setup")
            self._set_up(loop, variables)
            record = record.model_copy(update={"of_setup": untracked(loop.folder.tree)})
        self._probe(loop, variables)
        loop.check()
        return loop.folder.write(record.model_copy(update={"ready": True}))

    def _made(self, loop: Prepared) -> PlaceRecord:
        place, folder = loop.place, loop.folder
        loop.stage("fetching")
        origin = self._bases.origin_of(place, loop)
        # Only the user's own repository has worktrees that the user can see.
        as_worktree = place.isolation == "worktree" and origin.users
        make = make_worktree if as_worktree else make_clone
        while not self._making.acquire(timeout=LOOK_S):
            loop.check()
        try:
            loop.stage("cloning")
            remove_tree(folder)  # of a host that was killed over it
            folder.create()
            record = folder.write(PlaceRecord(place=place, worktree=as_worktree))
            branch = make(folder.tree, origin, place.source, place.branch)
        except WorkspaceError:
            with suppress(WorkspaceError):
                folder.remove()  # where the disk is full, others need the room
            raise
        finally:
            self._making.release()
        return folder.write(record.model_copy(update={"branch": branch}))

    def _set_up(self, loop: Prepared, variables: Mapping[str, str]) -> None:
        gate = ShellGate(
            loop.place.setup,
            cwd=loop.folder.tree,
            run_id=f"fleet-{loop.place.fleet_id}-setup",
            timeout_s=SETUP_LIMIT_S,
            env=variables,
            called=SETUP,
        )
        with loop.cancelled_by(gate.cancel):
            run_setup(gate, loop.folder.log("setup"))

    def _probe(self, loop: Prepared, variables: Mapping[str, str]) -> None:
        """Once for a command and a way to set a tree up: other trees are made like this one."""
        place = loop.place
        asked = (place.fleet_id, place.loop.command or "", place.setup)
        with self._probing:
            if asked in self._probed:
                return
            self._probed.add(asked)
        with ExitStack() as held:
            probe = Probe(
                loop.folder.tree,
                asked[1],
                variables,
                loop.folder.log("check"),
                lambda gate: held.enter_context(loop.cancelled_by(gate.cancel)),
            )
            if not probe.begins():
                return
            loop.stage("checking")
            warning = probe.run()
        if warning:
            loop.note(warning)

    def _found_again(self, loop: Prepared) -> PlaceRecord:
        record = loop.folder.read()
        if record is None or not record.ready or not loop.folder.tree.is_dir():
            raise WorkspaceError("the tree it ran in is not on this host any more")
        wait_for_end(loop.folder.tree, loop.check)
        return record

    def _refuse_work(self, folder: TreeFolder) -> None:
        """A tree that a run has begun in holds work: no new one takes its place."""
        record = folder.read()
        if record is not None and record.run:
            raise WorkspaceError(
                f"this attempt ran here before ({folder.tree}): resume or collect it"
            )


def wait_for_end(tree: Path, check: Callable[[], None] = lambda: None) -> None:
    """Until nothing works in a tree any more: of a host that was killed a keeper still may.

    Raises ``WorkspaceError`` where that takes too long, and what `check` raises.
    """
    deadline = time.monotonic() + LOCK_S
    while (owner := worker(ralph_folder(tree) / "lock")) is not None:
        check()
        if time.monotonic() > deadline:
            raise WorkspaceError(
                f"process {owner.pid} still runs in its tree on this host: end it, and resume"
            )
        time.sleep(LOOK_S)
