"""The loops of one host, however it is connected to a fleet; implements `LoopHost`.

Orders return at once, because each loop has a thread. One registry contains every loop that is
alive or whose clone still exists, so an order for a known loop never starts a second run.

A host serves one fleet at a time. Loops of a fleet that is no longer connected continue under their
leases. The connected fleet neither learns of them nor ends them.
"""

import socket
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from ralph_tui.adapters.clones.bases import Bases
from ralph_tui.adapters.clones.collecting import collect
from ralph_tui.adapters.clones.making import remove_tree
from ralph_tui.adapters.clones.places import TreeFolder, home_of, loop_folders
from ralph_tui.base.errors import RalphError, WorkspaceError
from ralph_tui.fleet.host.hosted_loop import HostedLoop, Preparer
from ralph_tui.fleet.host.preparing import Slots, wait_for_end
from ralph_tui.fleet.ports import (
    Adopt,
    Collect,
    CommandAnswered,
    End,
    Ended,
    HostNoticed,
    LoopSummary,
    NeedsBase,
    NotCollected,
    Observation,
    Observe,
    Order,
    Remove,
    SendCommand,
)
from ralph_tui.ports.clones import Base, Collected, Place
from ralph_tui.text.format import duration

LOOK_S = 0.25
"""Seconds between two checks of leases while a fleet is disconnected."""
CLOSE_S = 15.0
"""Seconds to wait for the last loop to end gracefully, or else for its keeper to end it."""
ENDED = "the fleet has ended it"
CLOSED = "its host was stopped"
NO_TREE = "it has no working copy: its run never started"
NOT_HELD = "this host does not have the loop"

Key = tuple[str, str, int]
"""Fleet id, loop id and attempt number."""
Work = Collect | Remove
Observer = Callable[[Observation, str], None]
"""Receives an observation and its fleet's id; called from any thread, so it must not block."""


class WorkerHost:
    """Implements `LoopHost`; thread-safe."""

    def __init__(
        self, name: str, slots: int, base: Path, observe: Observe, observer: Observer | None = None
    ) -> None:
        """`base` is the folder of the clones, including those of an earlier process of this host.

        `observer` receives all observations, including those about fleets that are not connected.
        """
        self.name = name
        self.slots = slots
        self.home = home_of(base)
        self._base = base
        self._report = observe
        self._observer = observer
        self._lock = threading.RLock()
        self._loops: dict[Key, HostedLoop] = {}
        self._fleet = ""
        """Id of the fleet that is connected or was connected last."""
        self._known: set[str] = set()
        """Fleets whose clones have already been searched for."""
        self._lost_at: dict[str, float] = {}
        """When each disconnected fleet was lost, in monotonic seconds."""
        self._working: set[threading.Thread] = set()
        self._watching = False
        self._closed = threading.Event()
        self._bases = Bases(base, socket.gethostname(), self._ask_for_base)
        self._preparer = Preparer(self._bases)
        self._slots = Slots(slots)

    @property
    def alive(self) -> int:
        """Number of live loops, of all fleets."""
        with self._lock:
            return sum(loop.alive for loop in self._loops.values())

    def holds(self) -> tuple[LoopSummary, ...]:
        with self._lock:
            mine = (loop for loop in self._loops.values() if loop.place.fleet_id == self._fleet)
            return tuple(loop.summary() for loop in mine)

    def obey(self, order: Order) -> None:
        with self._lock:
            match order:
                case Place():
                    self._place(order)
                case Adopt():
                    self._adopt(order)
                case SendCommand():
                    self._send_command(order)
                case End():
                    for loop in self._attempts_of(order.loop):
                        if order.attempt in (None, loop.place.attempt):
                            loop.end(ENDED)
                case Collect():
                    self._in_thread(self._collect, order)
                case Remove():
                    self._in_thread(self._remove, order)
                case Base():
                    self._bases.take(self._fleet, order)

    def on_fleet_lost(self) -> None:
        with self._lock:
            if self._fleet not in self._lost_at and not self._closed.is_set():
                self._lost_at[self._fleet] = time.monotonic()
                if not self._watching:
                    self._watching = True
                    threading.Thread(target=self._watch_leases, name="leases", daemon=True).start()

    def on_fleet_found(self, fleet_id: str) -> None:
        with self._lock:
            self._fleet = fleet_id
            self._lost_at.pop(fleet_id, None)
            self._find_trees(fleet_id)
            self._bases.rerequest()

    def close(self) -> None:
        """Stop all loops gracefully; return when none is alive, or after `CLOSE_S`."""
        with self._lock:
            self._closed.set()
            loops = list(self._loops.values())
        for loop in loops:
            loop.end(CLOSED)
        deadline = time.monotonic() + CLOSE_S
        for loop in loops:
            loop.join(max(0.0, deadline - time.monotonic()))
        for thread in list(self._working):
            thread.join(max(0.0, deadline - time.monotonic()))

    # -- orders ------------------------------------------------------------------------------

    def _place(self, place: Place) -> None:
        loop_id, attempt = place.loop.id, place.attempt
        hosted = self._loops.get((place.fleet_id, loop_id, attempt))
        if hosted is not None and hosted.alive:
            hosted.take(Adopt(loop=loop_id, attempt=attempt, seen=place.seen))
            return
        if self._closed.is_set():
            self._refuse(place, CLOSED)
            return
        try:
            folder = TreeFolder.of(self._base, place.fleet_id, loop_id, attempt)
        except RalphError as error:
            self._refuse(place, str(error))
            return
        before = next((loop for loop in self._attempts_of(loop_id) if loop.alive), None)
        if before is not None:
            before.end("a later attempt takes its place")
        loop = self._make_hosted(place, folder)
        self._loops[_key(loop)] = loop
        loop.start(before)

    def _make_hosted(self, place: Place, folder: TreeFolder) -> HostedLoop:
        observe = partial(self._observe, of=place.fleet_id)
        return HostedLoop(place, folder, observe, self._preparer, self._slots)

    def _observe(self, what: Observation, of: str = "") -> None:
        """Pass on an observation about fleet `of`; empty for the connected one."""
        if self._observer is not None:
            self._observer(what, of or self._fleet)
        with self._lock:  # keep the fleet from changing before the call
            if not of or of == self._fleet:
                self._report(what)

    def _refuse(self, place: Place, reason: str) -> None:
        over = Ended(loop=place.loop.id, attempt=place.attempt, outcome="failed", reason=reason)
        self._observe(over.model_copy(update={"never_began": True, "elsewhere": True}))

    def _adopt(self, adopt: Adopt) -> None:
        hosted = self._find_hosted(adopt)
        if hosted is not None:
            hosted.take(adopt)
            return
        known = {"loop": adopt.loop, "attempt": adopt.attempt, "seq": adopt.seen}
        self._observe(Ended.model_validate({**known, "outcome": "interrupted", "reason": NOT_HELD}))

    def _send_command(self, command: SendCommand) -> None:
        hosted = self._attempts_of(command.loop)
        if hosted:
            hosted[0].take(command)
        else:
            self._observe(CommandAnswered(id=command.id, refused=NOT_HELD))

    def _in_thread(self, work: Callable[[Work, HostedLoop | None], None], order: Work) -> None:
        """Run in a separate thread, because git is slow."""
        name = f"{order.kind}-{order.loop}-{order.attempt}"
        begun = (order, self._find_hosted(order))  # looked up now: the fleet may change later
        thread = threading.Thread(target=work, args=begun, name=name, daemon=True)
        thread.start()  # started first: an unstarted thread cannot be joined
        self._working = {*filter(threading.Thread.is_alive, self._working), thread}

    def _collect(self, order: Work, hosted: HostedLoop | None) -> None:
        known = {"loop": order.loop, "attempt": order.attempt}
        if hosted is None:
            self._observe(NotCollected(**known, reason=NOT_HELD))
            return
        try:
            what = self._collect_work(hosted)
        except RalphError as error:
            what = NotCollected(**known, reason=str(error))
        self._observe(what, of=hosted.place.fleet_id)

    def _collect_work(self, hosted: HostedLoop) -> Collected | NotCollected:
        if hosted.alive:
            raise WorkspaceError("its run continues; its work is collected when it ends")
        with hosted.busy:
            record = hosted.folder.read()
            if record is None or not record.ready:
                loop, attempt = hosted.key
                if unreadable := hosted.folder.unreadable():
                    raise WorkspaceError(unreadable)
                return NotCollected(loop=loop, attempt=attempt, reason=NO_TREE, never_began=True)
            wait_for_end(hosted.folder.tree)
            return collect(hosted.folder, record)

    def _remove(self, order: Work, hosted: HostedLoop | None) -> None:
        if hosted is None:
            return
        hosted.end(ENDED)
        hosted.join()
        try:
            with hosted.busy:
                remove_tree(hosted.folder)
        except RalphError as error:
            noted = HostNoticed(host=self.name, loop=order.loop, text=str(error))
            self._observe(noted, of=hosted.place.fleet_id)
            return
        with self._lock:
            if self._loops.get(_key(hosted)) is hosted:
                del self._loops[_key(hosted)]

    def _find_hosted(self, order: Adopt | Work) -> HostedLoop | None:
        with self._lock:
            return self._loops.get((self._fleet, order.loop, order.attempt))

    def _attempts_of(self, loop_id: str) -> list[HostedLoop]:
        """Return the attempts of a loop of the connected fleet, latest first."""
        found = [
            loop
            for (fleet_id, name, _), loop in self._loops.items()
            if (fleet_id, name) == (self._fleet, loop_id)
        ]
        return sorted(found, key=lambda loop: loop.place.attempt, reverse=True)

    def _find_trees(self, fleet_id: str) -> None:
        """Register the clones of an earlier process of this host; their loops are over."""
        if fleet_id in self._known:
            return
        self._known.add(fleet_id)
        for folder in loop_folders(self._base, fleet_id):
            record = folder.read()
            if record is not None and record.ready:
                loop = self._make_hosted(record.place, folder)
                self._loops.setdefault(_key(loop), loop)

    def _ask_for_base(self, commit: str) -> None:
        self._observe(NeedsBase(host=self.name, commit=commit))

    # -- leases ------------------------------------------------------------------------------

    def _watch_leases(self) -> None:
        while not self._closed.wait(LOOK_S):
            with self._lock:
                if not self._lost_at:
                    self._watching = False
                    return
                now, lost_at = time.monotonic(), dict(self._lost_at)
                loops = list(self._loops.values())
                alive = {loop.place.fleet_id for loop in loops if loop.alive}
                for fleet_id in self._lost_at.keys() - alive:
                    del self._lost_at[fleet_id]
            for loop in loops:
                lease, since = loop.place.lease_s, lost_at.get(loop.place.fleet_id)
                if lease is None or since is None or now < since + lease:
                    continue
                if loop.alive:
                    loop.end(f"its host has had no contact with the fleet for {duration(lease)}")


def _key(loop: HostedLoop) -> Key:
    return loop.place.fleet_id, *loop.key
