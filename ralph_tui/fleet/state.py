"""How a fleet stands: the fold of its journal, and the only one; hosts that are not there."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from ralph_tui.events.base import EPOCH
from ralph_tui.fleet import events as told
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.loop_state import TAKERS, LoopState, taking
from ralph_tui.fleet.plan import Plan

NOTICES = 500
"""Events that are kept for the fleet's log, the last ones."""
_UNTOLD = (told.LoopProgressed, told.LoopStage, told.CollectionAsked)
"""Of these the rows of the loops tell enough; the log would be full of them."""


@dataclass
class HostState:
    """One host."""

    name: str
    slots: int = 0
    machine: str = ""
    home: str = ""
    version: str = ""
    here: bool = True
    """It was heard of and not lost since."""
    since: datetime = EPOCH
    """When it joined last, or was lost."""
    reason: str = ""
    """Why it is lost."""
    left: bool = False
    """It was stopped, and so were its loops."""
    leaving: bool = False
    """It stops its loops and takes no more."""
    failed_at: datetime | None = None
    """When a loop could not begin there; None: one has begun since."""

    @property
    def missing(self) -> bool:
        """Nobody knows what it does."""
        return not self.here and not self.left

    @property
    def takes(self) -> bool:
        """Loops can be placed on it."""
        return self.here and not self.leaving


@dataclass(frozen=True)
class Trial:
    """The loop of a held login that tries first, whether its limit has ended."""

    loop: str
    at: datetime


@dataclass
class FleetState:
    """A fleet; `apply` brings it up to date. A ``deepcopy`` of it is independent."""

    started: told.FleetStarted | None = None
    finished: told.FleetFinished | None = None
    plan: Plan = field(default_factory=Plan)
    unattended: bool = True
    """Loops that are placed take their questions' defaults."""
    reach: told.Reach = field(default_factory=told.Reach)
    loops: dict[str, LoopState] = field(default_factory=dict)
    """By id, in the order of the plan, which is that of the queue."""
    tried: dict[str, list[LoopState]] = field(default_factory=dict)
    """The same that are tries at one objective, by what they have in common."""
    hosts: dict[str, HostState] = field(default_factory=dict)
    held: dict[str, told.AccountHeld] = field(default_factory=dict)
    """By `Loop.login`: those at which nothing is started."""
    trials: dict[str, Trial] = field(default_factory=dict)
    """Of held logins."""
    released: dict[str, datetime] = field(default_factory=dict)
    """By login: when it was held no more."""
    chosen: dict[str, told.WinnerChosen] = field(default_factory=dict)
    """By what the tries have in common."""
    budget_percent: int = 0
    """90 or 100 when that much is used."""
    stopping: told.StopAsked | None = None
    paused: told.CommandGiven | None = None
    """All of it was asked to pause: none of the queue begins."""
    last_start: dict[str, datetime] = field(default_factory=dict)
    """By login: when a loop of it was placed, or told to try again, last."""
    notices: list[FleetEvent] = field(default_factory=list)
    """What is told in the fleet's log, the last `NOTICES`."""
    seq: int = 0
    at: datetime = EPOCH
    revision: int = 0
    """Grows with each event."""

    @property
    def spent_usd(self) -> float:
        """Over all loops, as far as their agents tell."""
        return sum(loop.spent_usd for loop in self.loops.values())

    def running_on(self, host: str) -> Iterator[LoopState]:
        """Loops that take a slot of this host."""
        for loop in self.loops.values():
            if loop.host == host and loop.placed:
                yield loop

    def tries(self, common: str) -> list[LoopState]:
        """The tries at one objective."""
        return self.tried.get(common, [])

    def replay(self, events: Iterable[FleetEvent]) -> "FleetState":
        """Apply all of them; gives itself back."""
        for event in events:
            self.apply(event)
        return self

    def apply(self, event: FleetEvent) -> None:
        """Take one event in; of a loop that is not in the plan it is passed over."""
        self.seq, self.at = event.seq, event.at
        self.revision += 1
        loop = self.loops.get(getattr(event, "loop", ""))
        if loop is not None and (take := TAKERS.get(type(event))):
            take(loop, event)
        if take := _TAKERS.get(type(event)):
            take(self, event)
        if not isinstance(event, _UNTOLD):
            self.notices = [*self.notices[-NOTICES + 1 :], event]

    def on_fleet_started(self, event: told.FleetStarted) -> None:
        self.started, self.plan = event, event.plan
        self.unattended, self.reach = event.unattended, event.reach
        self.loops = {spec.id: LoopState(spec) for spec in event.plan.loops}
        self.tried = {}
        for loop in self.loops.values():
            if loop.spec.tries_at:
                self.tried.setdefault(loop.spec.tries_at, []).append(loop)

    def on_fleet_resumed(self, event: told.FleetResumed) -> None:
        """Hosts join the new process anew; who resumes a fleet wants what was stopped to go on."""
        self.finished = self.stopping = self.paused = None
        self.unattended, self.reach = event.unattended, event.reach
        self.trials.clear()
        for host in self.hosts.values():
            # It was heard of until now, for all that is known.
            host.here, host.since = False, event.at
        for loop in self.loops.values():
            loop.fleet_resumed()

    def on_fleet_finished(self, event: told.FleetFinished) -> None:
        self.finished = event

    def on_host_joined(self, event: told.HostJoined) -> None:
        self.hosts[event.host] = HostState(
            event.host, event.slots, event.machine, event.home, event.version, since=event.at
        )
        for loop in self.loops.values():
            if loop.host == event.host:  # what could not be collected may be there again
                loop.machine = loop.machine or event.machine
                loop.ask_again()
                loop.collecting = False

    def on_host_leaving(self, event: told.HostLeaving) -> None:
        if host := self.hosts.get(event.host):
            host.leaving, host.reason = True, event.reason

    def on_host_lost(self, event: told.HostLost) -> None:
        host = self.hosts.get(event.host)
        if host is None:
            return
        host.here, host.since, host.reason = False, event.at, event.reason
        host.left = event.left
        for loop in self.loops.values():
            if loop.host == event.host:
                loop.collecting = False

    def on_loop_placed(self, event: told.LoopPlaced) -> None:
        loop = self.loops.get(event.loop)
        if loop is not None:
            self.last_start[loop.spec.login] = event.at
            host = self.hosts.get(event.host)
            loop.machine = host.machine if host else ""
            loop.home = host.home if host else ""

    def on_loop_began(self, event: told.LoopBegan) -> None:
        if host := self._host_of(event.loop):
            host.failed_at = None

    def on_loop_ended(self, event: told.LoopEnded) -> None:
        if event.never_began and (host := self._host_of(event.loop)):
            host.failed_at = event.at

    def _host_of(self, name: str) -> HostState | None:
        loop = self.loops.get(name)
        return None if loop is None else self.hosts.get(loop.host)

    def on_loop_adopted(self, event: told.LoopAdopted) -> None:
        loop, host = self.loops.get(event.loop), self.hosts.get(event.host)
        if loop is not None and host is not None:
            loop.home = host.home

    def on_loop_retried(self, event: told.LoopRetried) -> None:
        loop = self.loops.get(event.loop)
        if loop is None:
            return
        login = loop.spec.login
        self.last_start[login] = event.at
        if login in self.held:
            self.trials[login] = Trial(event.loop, event.at)

    def on_account_held(self, event: told.AccountHeld) -> None:
        self.held[event.account] = event
        self.trials.pop(event.account, None)

    def on_account_released(self, event: told.AccountReleased) -> None:
        self.held.pop(event.account, None)
        self.trials.pop(event.account, None)
        self.released[event.account] = event.at

    def on_budget_reached(self, event: told.BudgetReached) -> None:
        self.budget_percent = max(self.budget_percent, event.percent)

    def on_commanded(self, event: told.CommandGiven) -> None:
        if not event.loop and not event.refused and event.name in ("pause", "unpause"):
            self.paused = event if event.name == "pause" else None

    def on_stop_asked(self, event: told.StopAsked) -> None:
        """A milder wish takes none back: what was stopped at once is not running again."""
        before = self.stopping
        if before is None or (event.abort, event.now) >= (before.abort, before.now):
            self.stopping = event

    def on_winner_chosen(self, event: told.WinnerChosen) -> None:
        self.chosen[event.tries_at] = event
        for loop in self.tries(event.tries_at):
            loop.place = "chosen" if loop.spec.id == event.loop else "beaten" if event.loop else ""
            if loop.place == "beaten":  # nobody will merge it
                loop.conflicts, loop.conflicts_unknown = {}, ""

    def on_conflicts_found(self, event: told.ConflictsFound) -> None:
        for loop in self.loops.values():
            if loop.branch == event.branch:
                loop.conflicts, loop.conflicts_unknown = dict(event.others), event.unknown


_TAKERS = taking(FleetState)
"""Its method for each event that changes more than the loop that it is about."""


def margin_s(lease_s: float) -> float:
    """Seconds behind the lease: an orderly stop takes some, and so may finding out."""
    return min(60.0, max(10.0, lease_s / 10))


Lost = Literal["", "died", "unheard"]
"""Why nothing more comes of a fleet, as `ENDLESS` of the terms has it: its process is gone,
and no end is recorded; its record breaks off, so nobody knows. Empty: it runs, or has ended.
"""


def why_lost(state: FleetState, problem: str, *, alive: bool) -> Lost:
    """Of a fleet as recorded; `problem`: why not all of that can be read."""
    if alive:
        return ""
    if problem:  # behind an end, too: it went on after that
        return "unheard"
    return "died" if state.finished is None else ""


def gone_at(state: FleetState, host: HostState) -> datetime:
    """From then on nothing runs on a host that is not there, and it is waited for no longer.

    One that has left has stopped its loops: only that it may come back is waited for.
    """
    lease = state.plan.lease_s
    return host.since + timedelta(seconds=margin_s(lease) + (0.0 if host.left else lease))


def host_with_tree(state: FleetState, loop: LoopState) -> str:
    """The host that is there and has the tree of a loop, whatever it is called; empty: none."""
    for host in state.hosts.values():
        if host.here and has_tree(loop, host.name, host.home):
            return host.name
    return ""


def has_tree(loop: LoopState, host: str, home: str) -> bool:
    """Whether a host of this name and home has the tree of a loop.

    Hosts of one machine have each their own trees, and another machine may use a name again.
    """
    return home == loop.home if loop.home else host == loop.host
