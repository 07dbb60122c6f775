"""The state of a fleet, the only fold of its journal; and the consequences of losing a host."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from ralph_tui.events.base import EPOCH
from ralph_tui.fleet import events as ev
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.loop_state import HANDLERS, LoopState, find_handlers
from ralph_tui.fleet.plan import Plan

NOTICES = 500
"""Maximum number of events kept for the fleet's log; older ones are dropped."""
_UNREPORTED = (ev.LoopProgressed, ev.LoopStage, ev.CollectionAsked)
"""Event types left out of the log, because the loops' rows show them and they are frequent."""


@dataclass
class HostState:
    """The state of one host."""

    name: str
    slots: int = 0
    machine: str = ""
    home: str = ""
    version: str = ""
    here: bool = True
    """True if it has joined and has not been lost since."""
    since: datetime = EPOCH
    """When it last joined or was lost."""
    reason: str = ""
    """Why it is lost or leaving."""
    left: bool = False
    """True if it was stopped together with its loops."""
    leaving: bool = False
    """True if it stops its loops and accepts no more."""
    failed_at: datetime | None = None
    """When a loop last could not begin there; None if one has begun since."""

    @property
    def missing(self) -> bool:
        """True if it is lost and the state of its loops is unknown."""
        return not self.here and not self.left

    @property
    def takes(self) -> bool:
        """True if loops can be placed on it."""
        return self.here and not self.leaving


@dataclass(frozen=True)
class Trial:
    """The loop that probes whether the account's limit has ended."""

    loop: str
    at: datetime


@dataclass
class FleetState:
    """The state of a fleet, updated by `apply`. A ``deepcopy`` of it is independent."""

    started: ev.FleetStarted | None = None
    finished: ev.FleetFinished | None = None
    plan: Plan = field(default_factory=Plan)
    unattended: bool = True
    """True if new loops apply their questions' defaults."""
    reach: ev.Reach = field(default_factory=ev.Reach)
    loops: dict[str, LoopState] = field(default_factory=dict)
    """By id, in the order of the plan, which is also the order of the queue."""
    tried: dict[str, list[LoopState]] = field(default_factory=dict)
    """Attempts, grouped by the name that all attempts at an objective share."""
    hosts: dict[str, HostState] = field(default_factory=dict)
    held: dict[str, ev.AccountHeld] = field(default_factory=dict)
    """Accounts on hold, by `Loop.login`; no loop starts with them."""
    trials: dict[str, Trial] = field(default_factory=dict)
    """For each account on hold, the loop that probes it."""
    released: dict[str, datetime] = field(default_factory=dict)
    """When each account was last released."""
    chosen: dict[str, ev.WinnerChosen] = field(default_factory=dict)
    """Winners, by the name that their attempts share."""
    budget_percent: int = 0
    """The last budget mark reached: 90 or 100; 0 before that."""
    stopping: ev.StopAsked | None = None
    paused: ev.CommandGiven | None = None
    """Set while the whole fleet is paused, so that no queued loop begins."""
    last_start: dict[str, datetime] = field(default_factory=dict)
    """For each account, when one of its loops was last placed or ordered to try again."""
    notices: list[FleetEvent] = field(default_factory=list)
    """The latest events of the fleet's log, at most `NOTICES`."""
    seq: int = 0
    at: datetime = EPOCH
    revision: int = 0
    """Increases with each event."""

    @property
    def spent_usd(self) -> float:
        """Known cost of all loops together, in US dollars."""
        return sum(loop.spent_usd for loop in self.loops.values())

    def running_on(self, host: str) -> Iterator[LoopState]:
        """Yield the loops that use a slot of this host."""
        for loop in self.loops.values():
            if loop.host == host and loop.placed:
                yield loop

    def attempts(self, common: str) -> list[LoopState]:
        """Return the attempts at an objective, by the name they share."""
        return self.tried.get(common, [])

    def replay(self, events: Iterable[FleetEvent]) -> "FleetState":
        """Apply all events; return self."""
        for event in events:
            self.apply(event)
        return self

    def apply(self, event: FleetEvent) -> None:
        """Fold one event; skip the loop part if the loop is not in the plan."""
        self.seq, self.at = event.seq, event.at
        self.revision += 1
        loop = self.loops.get(getattr(event, "loop", ""))
        if loop is not None and (take := HANDLERS.get(type(event))):
            take(loop, event)
        if take := _HANDLERS.get(type(event)):
            take(self, event)
        if not isinstance(event, _UNREPORTED):
            self.notices = [*self.notices[-NOTICES + 1 :], event]

    def on_fleet_started(self, event: ev.FleetStarted) -> None:
        self.started, self.plan = event, event.plan
        self.unattended, self.reach = event.unattended, event.reach
        self.loops = {spec.id: LoopState(spec) for spec in event.plan.loops}
        self.tried = {}
        for loop in self.loops.values():
            if loop.spec.tries_at:
                self.tried.setdefault(loop.spec.tries_at, []).append(loop)

    def on_fleet_resumed(self, event: ev.FleetResumed) -> None:
        """Wait for hosts to join the new process, and let stopped loops continue."""
        self.finished = self.stopping = self.paused = None
        self.unattended, self.reach = event.unattended, event.reach
        self.trials.clear()
        for host in self.hosts.values():
            # As far as is known, it was connected until now.
            host.here, host.since = False, event.at
        for loop in self.loops.values():
            loop.fleet_resumed()

    def on_fleet_finished(self, event: ev.FleetFinished) -> None:
        self.finished = event

    def on_host_joined(self, event: ev.HostJoined) -> None:
        self.hosts[event.host] = HostState(
            event.host, event.slots, event.machine, event.home, event.version, since=event.at
        )
        for loop in self.loops.values():
            if loop.host == event.host:  # uncollected work may be available again
                loop.machine = loop.machine or event.machine
                loop.ask_again()
                loop.collecting = False

    def on_host_leaving(self, event: ev.HostLeaving) -> None:
        if host := self.hosts.get(event.host):
            host.leaving, host.reason = True, event.reason

    def on_host_lost(self, event: ev.HostLost) -> None:
        host = self.hosts.get(event.host)
        if host is None:
            return
        host.here, host.since, host.reason = False, event.at, event.reason
        host.left = event.left
        for loop in self.loops.values():
            if loop.host == event.host:
                loop.collecting = False

    def on_loop_placed(self, event: ev.LoopPlaced) -> None:
        loop = self.loops.get(event.loop)
        if loop is not None:
            self.last_start[loop.spec.login] = event.at
            host = self.hosts.get(event.host)
            loop.machine = host.machine if host else ""
            loop.home = host.home if host else ""

    def on_loop_began(self, event: ev.LoopBegan) -> None:
        if host := self._host_of(event.loop):
            host.failed_at = None

    def on_loop_ended(self, event: ev.LoopEnded) -> None:
        if event.never_began and (host := self._host_of(event.loop)):
            host.failed_at = event.at

    def _host_of(self, name: str) -> HostState | None:
        loop = self.loops.get(name)
        return None if loop is None else self.hosts.get(loop.host)

    def on_loop_adopted(self, event: ev.LoopAdopted) -> None:
        loop, host = self.loops.get(event.loop), self.hosts.get(event.host)
        if loop is not None and host is not None:
            loop.home = host.home

    def on_loop_retried(self, event: ev.LoopRetried) -> None:
        loop = self.loops.get(event.loop)
        if loop is None:
            return
        login = loop.spec.login
        self.last_start[login] = event.at
        if login in self.held:
            self.trials[login] = Trial(event.loop, event.at)

    def on_account_held(self, event: ev.AccountHeld) -> None:
        self.held[event.account] = event
        self.trials.pop(event.account, None)

    def on_account_released(self, event: ev.AccountReleased) -> None:
        self.held.pop(event.account, None)
        self.trials.pop(event.account, None)
        self.released[event.account] = event.at

    def on_budget_reached(self, event: ev.BudgetReached) -> None:
        self.budget_percent = max(self.budget_percent, event.percent)

    def on_commanded(self, event: ev.CommandGiven) -> None:
        if not event.loop and not event.refused and event.name in ("pause", "unpause"):
            self.paused = event if event.name == "pause" else None

    def on_stop_asked(self, event: ev.StopAsked) -> None:
        """Keep the stronger of two stop requests."""
        before = self.stopping
        if before is None or (event.abort, event.now) >= (before.abort, before.now):
            self.stopping = event

    def on_winner_chosen(self, event: ev.WinnerChosen) -> None:
        self.chosen[event.tries_at] = event
        for loop in self.attempts(event.tries_at):
            loop.place = "chosen" if loop.spec.id == event.loop else "beaten" if event.loop else ""
            if loop.place == "beaten":  # it will not be merged
                loop.conflicts, loop.conflicts_unknown = {}, ""

    def on_conflicts_found(self, event: ev.ConflictsFound) -> None:
        for loop in self.loops.values():
            if loop.branch == event.branch:
                loop.conflicts, loop.conflicts_unknown = dict(event.others), event.unknown


_HANDLERS = find_handlers(FleetState)
"""Methods of `FleetState` by event type, for events that affect more than one loop's state."""


def margin_s(lease_s: float) -> float:
    """Return the seconds to wait after a lease, for a graceful stop and its detection."""
    return min(60.0, max(10.0, lease_s / 10))


Lost = Literal["", "died", "unheard"]
"""Why a fleet is lost: its process died without an end, or its record is unreadable.

The values are keys of `ENDLESS` in the terms. Empty if the fleet runs or has ended.
"""


def why_lost(state: FleetState, problem: str, *, alive: bool) -> Lost:
    """Return why a recorded fleet is lost; `problem` is why its record cannot be read in full."""
    if alive:
        return ""
    if problem:  # even if an end was recorded: the fleet was resumed after it
        return "unheard"
    return "died" if state.finished is None else ""


def end_reason(state: FleetState) -> str:
    """Return why a fleet cannot be resumed; empty if there is work left."""
    if state.finished is None:
        return ""
    if state.stopping is not None and state.stopping.abort:
        return "it was aborted"
    loops = state.loops.values()
    if any(loop.has_work_left for loop in loops):
        return ""
    # Skipped loops would be skipped again, for the same reason.
    skipped = any(loop.waits_again for loop in loops)
    return f"all its loops have ended{' or were skipped' if skipped else ''}"


def absent_until(state: FleetState, host: HostState) -> datetime:
    """Return when an absent host certainly runs nothing any more; then stop waiting for it.

    A host that left has stopped its loops, so only the margin for its return is added.
    """
    lease = state.plan.lease_s
    return host.since + timedelta(seconds=margin_s(lease) + (0.0 if host.left else lease))


def host_with_tree(state: FleetState, loop: LoopState) -> str:
    """Return the connected host that has the loop's clone, whatever its name; empty if none."""
    for host in state.hosts.values():
        if host.here and has_tree(loop, host.name, host.home):
            return host.name
    return ""


def has_tree(loop: LoopState, host: str, home: str) -> bool:
    """True if a host with this name and home has the loop's clone.

    Hosts on one machine have separate clones, and another machine may reuse a host's name.
    """
    return home == loop.home if loop.home else host == loop.host
