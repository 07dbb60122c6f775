"""Which loop of the queue is placed next, and where."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta

from ralph_tui.fleet.decisions.accounts import may_start
from ralph_tui.fleet.decisions.budget import Shares
from ralph_tui.fleet.decisions.results import being_decided
from ralph_tui.fleet.decisions.stops import met
from ralph_tui.fleet.decisions.values import Decision, PlaceLoop
from ralph_tui.fleet.lost_hosts import host_with_tree
from ralph_tui.fleet.state import FleetState, LoopState

REST = timedelta(minutes=1)
"""For how long a host on which a loop could not begin gets no other one."""


def placed(state: FleetState, now: datetime) -> Iterator[Decision]:
    """Loops in the order of the plan, as long as there are slots, logins and money for them."""
    if state.stopping is not None or state.paused is not None or state.budget_percent:
        return
    room = _Room(state, now)
    if not room.free:
        return
    shares = Shares(state)
    for loop in state.loops.values():
        if loop.status != "queued" or not room.may_begin(loop):
            continue
        host = room.host_for(loop)
        given = shares.of(loop) if host else None
        if not host or given == 0.0:
            continue
        room.take(loop, host)
        shares.take(loop, given)
        attempt = loop.attempt if loop.resuming else loop.attempt + 1
        yield PlaceLoop(loop.spec.id, attempt, host, given, loop.resuming)
        if not room.free:
            return


def _resting(state: FleetState, now: datetime) -> set[str]:
    """Hosts that get nothing for a while, as long as there are others.

    The last loop could not begin there: where a disk is full or a program is missing, all that is
    queued would fail, one after the other, while the others work.
    """
    here = [host for host in state.hosts.values() if host.takes]
    failed = {host.name for host in here if host.failed_at and now < host.failed_at + REST}
    return failed if len(failed) < len(here) else set()


class _Room:
    """What is free, and becomes less with each loop that is placed."""

    def __init__(self, state: FleetState, now: datetime) -> None:
        self._state, self._now = state, now
        loops = state.loops.values()
        self._busy = Counter(loop.host for loop in loops if loop.placed)
        self._users = Counter(loop.spec.account for loop in loops if loop.placed)
        self._begun: set[str] = set()
        """Logins of which a loop is placed just now."""
        resting = _resting(state, now)
        here = [host for host in state.hosts.values() if host.takes]
        slots = {host.name: host.slots for host in here if host.name not in resting}
        self.free = {
            name: count - self._busy[name]
            for name, count in slots.items()
            if count > self._busy[name]
        }
        """Slots by host, where there are any."""

    def may_begin(self, loop: LoopState) -> bool:
        """Whether nothing but a slot is in its way."""
        state, spec = self._state, loop.spec
        most = state.plan.accounts.get(spec.account) if spec.account else None
        return (
            spec.login not in state.held
            and (spec.login not in self._begun or state.plan.start_every_s <= 0)
            and may_start(state, spec.login, self._now)
            and (most is None or self._users[spec.account] < most)
            and not (spec.tries_at and being_decided(state, spec.tries_at))
            and all(met(state, name) == "yes" for name in spec.after)
        )

    def host_for(self, loop: LoopState) -> str:
        """Where its tree is, else where most slots are free; empty: nowhere.

        A host on which it could not begin is not tried again while there are others.
        """
        if loop.resuming:
            name = host_with_tree(self._state, loop)
            return name if name in self.free else ""
        able = {host.name for host in self._state.hosts.values() if host.takes} - loop.not_on
        among = [name for name in self.free if name in able or not able]
        return max(among, key=lambda name: self.free[name], default="")

    def take(self, loop: LoopState, host: str) -> None:
        """It is placed there."""
        self._begun.add(loop.spec.login)
        self._users[loop.spec.account] += 1
        self.free[host] -= 1
        if not self.free[host]:
            del self.free[host]
