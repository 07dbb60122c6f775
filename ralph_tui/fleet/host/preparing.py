"""What a run needs before it begins: a slot, ports, a tree, its command line and environment."""

import fcntl
import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

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
from ralph_tui.adapters.processes.sweep import FLEET_MARK
from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.adapters.records.lock import worker
from ralph_tui.adapters.workspace.git import MISLEADING
from ralph_tui.adapters.workspace.verification import ShellGate
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.base.plain_files import open_plain
from ralph_tui.config.sources import FLAGS
from ralph_tui.ports.clones import Place

if TYPE_CHECKING:
    from ralph_tui.fleet.host.held_loop import HeldLoop

AT_ONCE = 2
"""Trees that are made at once: more of them wait for the disk only."""
LOCK_S = 8.0
"""How long a dying run may hold the worktree that another one is to go on in."""
LOOK_S = 0.05


class Preparer:
    """Makes the trees of a host's loops."""

    def __init__(self, bases: Bases) -> None:
        self._bases = bases
        self._making = threading.Semaphore(AT_ONCE)
        self._probing = threading.Lock()
        self._probed: set[tuple[str, str, str]] = set()

    def prepare(self, loop: "HeldLoop", variables: Mapping[str, str]) -> PlaceRecord:
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

    def _made(self, loop: "HeldLoop") -> PlaceRecord:
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

    def _set_up(self, loop: "HeldLoop", variables: Mapping[str, str]) -> None:
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

    def _probe(self, loop: "HeldLoop", variables: Mapping[str, str]) -> None:
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

    def _found_again(self, loop: "HeldLoop") -> PlaceRecord:
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


SLOT_LOOK_S = 0.2
"""Between two looks whether who waits is to end."""
FULL = (
    "it waits: loops of the fleet that was here before work in all places of this host until "
    "their lease ends"
)


class Slots:
    """Places for loops, by number.

    A fleet places no more loops than there are slots: who finds them taken waits for loops of
    another fleet, which go on until their lease ends.
    """

    def __init__(self, number: int) -> None:
        self._free = set(range(number))
        self._changed = threading.Condition()

    @contextmanager
    def taken(self, waiting: "HeldLoop") -> Iterator[int]:
        """The number of a place, until the block is left."""
        slot = self._take(waiting)
        try:
            yield slot
        finally:
            with self._changed:
                self._free.add(slot)
                self._changed.notify()

    def _take(self, waiting: "HeldLoop") -> int:
        told = False
        with self._changed:
            while not self._free:
                waiting.check()
                if not self._changed.wait(SLOT_LOOK_S) and not told:
                    waiting.note(FULL)
                    told = True
            slot = min(self._free)
            self._free.remove(slot)
            return slot


FIRST, LAST = 20_000, 32_000
"""Below those that systems give to outgoing connections."""
UNIT = 10
"""Ports of one lock."""


class PortBlock:
    """Consecutive ports, `first` to `last`; `release` gives them back."""

    def __init__(self, first: int, last: int, locks: list[int]) -> None:
        """See `take_block`."""
        self.range = (first, last)
        self._locks = locks

    def release(self) -> None:
        """Others may have them."""
        while self._locks:
            os.close(self._locks.pop())


def take_block(count: int, folder: Path | None = None) -> PortBlock | None:
    """A free block of so many ports; None where there is none, or none is wanted.

    It is held by locks on files, which end with the process that holds them: hosts on one machine
    share no other memory. Ports that somebody else listens on are passed over.

    `folder` is where the locks lie: the same for all hosts of a machine.
    """
    if count < 1:
        return None
    folder = folder or Path(tempfile.gettempdir()).absolute() / f"ralph-tui-ports-{os.geteuid()}"
    with suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        units = -(-count // UNIT)
        for first in range(FIRST, LAST - units * UNIT, units * UNIT):
            locks = _locked(folder, range(first, first + units * UNIT, UNIT))
            if locks and all(map(_is_free, range(first, first + count))):
                return PortBlock(first, first + count - 1, locks)
            for lock in locks:
                os.close(lock)
    return None


def _locked(folder: Path, names: range) -> list[int]:
    """A lock for each; empty where somebody has one of them."""
    taken: list[int] = []
    for name in names:
        try:
            descriptor = open_plain(folder / str(name), os.O_RDWR | os.O_CREAT, 0o600)
            taken.append(descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            for lock in taken:
                os.close(lock)
            return []
    return taken


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


_RALPH = (sys.executable, "-P", "-m", "ralph_tui")
"""-P: a file in the tree must not pass for a module."""
_TAKEN_ANEW = "outreach."
"""Settings that a run's record leaves out, as they may be secrets."""


def run_words(place: Place, descriptor: int) -> list[str]:
    """The command line of a new run; its host speaks to it through `descriptor`.

    A user could have typed it: everything that the fleet decides is an argument, and nothing is
    read from a file in the tree.
    """
    loop = place.loop
    words = [*_RALPH, "run", *_asks(place), f"--commands-from={descriptor}"]
    if loop.command is not None:
        words.append(f"--command={loop.command}")
    if loop.criterion is not None:
        words.append(f"--criterion={loop.criterion}")
    if loop.until_promise:
        words.append("--until-promise")
    return [*words, *_settings(_given(place)), "--", loop.objective]


def resume_words(place: Place, run: str, descriptor: int) -> list[str]:
    """The command line of a run that goes on; `run` is its task and attempt.

    The limits it was given before hold.
    """
    settings = place.loop.settings.items()
    given = {name: value for name, value in settings if name.startswith(_TAKEN_ANEW)}
    words = [*_RALPH, "resume", *_asks(place), f"--commands-from={descriptor}"]
    if place.loop.command is not None:
        words.append(f"--command={place.loop.command}")
    return [*words, *_settings(given), "--", run]


def environment(place: Place, slot: int, ports: tuple[int, int] | None) -> Mapping[str, str]:
    """That of a loop's run; see `fleet_environment`."""
    named = (place.fleet_id, place.fleet, place.loop.id, place.attempt)
    return fleet_environment(*named, slot, ports)


def fleet_environment(
    fleet_id: str, fleet: str, loop: str, attempt: int, slot: int, ports: tuple[int, int] | None
) -> Mapping[str, str]:
    """This process's, without what would lead git elsewhere, with where a loop stands."""
    kept = {name: value for name, value in os.environ.items() if name not in MISLEADING}
    told = {
        FLEET_MARK: fleet_id,
        "RALPH_FLEET": fleet,
        "RALPH_FLEET_LOOP": loop,
        "RALPH_FLEET_ATTEMPT": str(attempt),
        "RALPH_FLEET_SLOT": str(slot),
    }
    if ports is not None:
        told["PORT_BASE"] = str(ports[0])
        told["PORT_COUNT"] = str(ports[1] - ports[0] + 1)
    return kept | told


def _asks(place: Place) -> list[str]:
    """Without a terminal it has no screen; it is told that there is nobody to ask, either."""
    return ["--headless"] if place.unattended else []


def _given(place: Place) -> dict[str, str]:
    """The loop's settings; its limit of money, and its patience, are what the fleet gives it."""
    given = dict(place.loop.settings)
    if place.budget_usd is not None:
        given["limits.budget_usd"] = f"{place.budget_usd:.4f}"
    if place.after_limit_s:
        given["agent.after_limit_s"] = f"{place.after_limit_s:g}"
    return given


def _settings(given: Mapping[str, str]) -> list[str]:
    flags = [f"{FLAGS[name]}={value}" for name, value in given.items() if name in FLAGS]
    others = [f"--set={name}={value}" for name, value in given.items() if name not in FLAGS]
    return [*flags, *others]
