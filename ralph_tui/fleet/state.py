"""How a fleet stands: the fold of its journal, and the only one."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ralph_tui.events.base import EPOCH
from ralph_tui.fleet import events as told
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.loop_events import ABOUT_A_LOOP, COURSE, take
from ralph_tui.fleet.loop_state import LoopState, LoopStatus
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
        if type(event) in ABOUT_A_LOOP:
            loop = self.loops.get(getattr(event, "loop", ""))
            if loop is not None:
                take(loop, event)
        handler = _HANDLERS.get(type(event))
        if handler is not None:
            handler(self, event)
        if not isinstance(event, _UNTOLD):
            self.notices = [*self.notices[-NOTICES + 1 :], event]


def _fleet_started(state: FleetState, event: told.FleetStarted) -> None:
    state.started, state.plan = event, event.plan
    state.unattended, state.reach = event.unattended, event.reach
    state.loops = {spec.id: LoopState(spec) for spec in event.plan.loops}
    state.tried = {}
    for loop in state.loops.values():
        if loop.spec.tries_at:
            state.tried.setdefault(loop.spec.tries_at, []).append(loop)


def _fleet_resumed(state: FleetState, event: told.FleetResumed) -> None:
    """Hosts join the new process anew; who resumes a fleet wants what was stopped to go on."""
    state.finished = state.stopping = state.paused = None
    state.unattended, state.reach = event.unattended, event.reach
    state.trials.clear()
    for host in state.hosts.values():
        host.here, host.since = False, event.at  # it was heard of until now, for all that is known
    for loop in state.loops.values():
        loop.fleet_resumed()


def _fleet_finished(state: FleetState, event: told.FleetFinished) -> None:
    state.finished = event


def _host_joined(state: FleetState, event: told.HostJoined) -> None:
    state.hosts[event.host] = HostState(
        event.host, event.slots, event.machine, event.home, event.version, since=event.at
    )
    for loop in state.loops.values():
        if loop.host == event.host:  # what could not be collected may be there again
            loop.machine = loop.machine or event.machine
            loop.ask_again()
            loop.collecting = False


def _host_leaving(state: FleetState, event: told.HostLeaving) -> None:
    if host := state.hosts.get(event.host):
        host.leaving, host.reason = True, event.reason


def _host_lost(state: FleetState, event: told.HostLost) -> None:
    host = state.hosts.get(event.host)
    if host is None:
        return
    host.here, host.since, host.reason = False, event.at, event.reason
    host.left = event.left
    for loop in state.loops.values():
        if loop.host == event.host:
            loop.collecting = False


def _loop_placed(state: FleetState, event: told.LoopPlaced) -> None:
    loop = state.loops.get(event.loop)
    if loop is not None:
        state.last_start[loop.spec.login] = event.at
        host = state.hosts.get(event.host)
        loop.machine = host.machine if host else ""
        loop.home = host.home if host else ""


def _loop_began(state: FleetState, event: told.LoopBegan) -> None:
    if host := _host_of(state, event.loop):
        host.failed_at = None


def _loop_ended(state: FleetState, event: told.LoopEnded) -> None:
    if event.never_began and (host := _host_of(state, event.loop)):
        host.failed_at = event.at


def _host_of(state: FleetState, name: str) -> HostState | None:
    loop = state.loops.get(name)
    return None if loop is None else state.hosts.get(loop.host)


def _loop_adopted(state: FleetState, event: told.LoopAdopted) -> None:
    loop, host = state.loops.get(event.loop), state.hosts.get(event.host)
    if loop is not None and host is not None:
        loop.home = host.home


def _loop_retried(state: FleetState, event: told.LoopRetried) -> None:
    loop = state.loops.get(event.loop)
    if loop is None:
        return
    login = loop.spec.login
    state.last_start[login] = event.at
    if login in state.held:
        state.trials[login] = Trial(event.loop, event.at)


def _account_held(state: FleetState, event: told.AccountHeld) -> None:
    state.held[event.account] = event
    state.trials.pop(event.account, None)


def _account_released(state: FleetState, event: told.AccountReleased) -> None:
    state.held.pop(event.account, None)
    state.trials.pop(event.account, None)
    state.released[event.account] = event.at


def _budget_reached(state: FleetState, event: told.BudgetReached) -> None:
    state.budget_percent = max(state.budget_percent, event.percent)


def _commanded(state: FleetState, event: told.CommandGiven) -> None:
    if not event.loop and not event.refused and event.name in ("pause", "unpause"):
        state.paused = event if event.name == "pause" else None


def _stop_asked(state: FleetState, event: told.StopAsked) -> None:
    """A milder wish takes none back: what was stopped at once is not running again."""
    before = state.stopping
    if before is None or (event.abort, event.now) >= (before.abort, before.now):
        state.stopping = event


def _winner_chosen(state: FleetState, event: told.WinnerChosen) -> None:
    state.chosen[event.tries_at] = event
    for loop in state.tries(event.tries_at):
        loop.place = "chosen" if loop.spec.id == event.loop else "beaten" if event.loop else ""
        if loop.place == "beaten":  # nobody will merge it
            loop.conflicts, loop.conflicts_unknown = {}, ""


def _conflicts_found(state: FleetState, event: told.ConflictsFound) -> None:
    for loop in state.loops.values():
        if loop.branch == event.branch:
            loop.conflicts, loop.conflicts_unknown = dict(event.others), event.unknown


_HANDLERS: dict[type[FleetEvent], Callable[[FleetState, Any], None]] = {
    told.FleetStarted: _fleet_started,
    told.FleetResumed: _fleet_resumed,
    told.FleetFinished: _fleet_finished,
    told.HostJoined: _host_joined,
    told.HostLeaving: _host_leaving,
    told.HostLost: _host_lost,
    told.LoopPlaced: _loop_placed,
    told.LoopBegan: _loop_began,
    told.LoopAdopted: _loop_adopted,
    told.LoopEnded: _loop_ended,
    told.LoopRetried: _loop_retried,
    told.AccountHeld: _account_held,
    told.AccountReleased: _account_released,
    told.BudgetReached: _budget_reached,
    told.StopAsked: _stop_asked,
    told.CommandGiven: _commanded,
    told.WinnerChosen: _winner_chosen,
    told.ConflictsFound: _conflicts_found,
}
"""What each event changes beside the loop that it is of."""

__all__ = [
    "COURSE",
    "FleetState",
    "HostState",
    "LoopState",
    "LoopStatus",
    "Trial",
]
