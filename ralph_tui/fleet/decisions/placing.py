"""Decide what starts next: which queued loop, on which host, with which account.

An account at its limit is put on hold until the limit ends; then one loop probes it, and the others
follow one by one.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta

from ralph_tui.events.base import EPOCH
from ralph_tui.fleet import events as ev
from ralph_tui.fleet.decisions.continuing import BudgetShares, dependency_met
from ralph_tui.fleet.decisions.results import is_being_decided
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.loop_state import LoopState
from ralph_tui.fleet.plan import Plan
from ralph_tui.fleet.state import FleetState, host_with_tree
from ralph_tui.text.durations import DAY

TRIAL_S = 120.0
"""Seconds that a probing loop may take to get a live session."""
ACCEPTED_S = 10.0
"""Seconds without a refusal after which a session counts as accepted."""
WORK_PHASES = ("agent", "verifying")
"""Phases of a run that has called its agent; in the second, the agent has answered."""


def handle_limits(state: FleetState, now: datetime) -> Iterator[FleetEvent]:
    """Yield a decision for each account whose loops are waiting for a limit to end."""
    by_login: dict[str, list[LoopState]] = {}
    for loop in state.loops.values():
        if loop.status == "running":
            by_login.setdefault(loop.spec.login, []).append(loop)
    for login in dict.fromkeys([*by_login, *state.held]):
        loops = by_login.get(login, [])
        decide = _on_hold if login in state.held else _release
        decision = decide(state, login, loops, now)
        if decision is not None:
            yield decision


def _release(
    state: FleetState, login: str, loops: list[LoopState], now: datetime
) -> FleetEvent | None:
    released = state.released.get(login, EPOCH)
    new = [
        (loop.until, loop)
        for loop in loops
        if loop.limited and loop.until and loop.until > now and _last_report(loop) > released
    ]
    if new:
        until, first = min(new, key=lambda each: each[0])
        return ev.AccountHeld(
            account=login,
            until=until,
            cause=_limit_cause(first),
            reason=f"reported by loop {first.spec.id}",
        )
    following = [loop for loop in loops if loop.limited and _may_continue(loop, released, now)]
    if following and may_start(state, login, now):
        return ev.LoopRetried(loop=following[0].spec.id)
    return None


def _may_continue(loop: LoopState, released: datetime, now: datetime) -> bool:
    """True if the loop may continue: its account was released, or its limit ended unnoticed."""
    retried = loop.retried_at or EPOCH
    freed = _last_report(loop) <= released and retried < released
    return freed or (loop.until is not None and retried < loop.until <= now)


def _on_hold(
    state: FleetState, login: str, loops: list[LoopState], now: datetime
) -> FleetEvent | None:
    held, trial = state.held[login], state.trials.get(login)
    until = held.until or held.at
    if now < until:
        return None
    since = max(until, held.at)
    working = [loop for loop in loops if _was_answered(loop, since, now)]
    if working:
        return ev.AccountReleased(account=login, loop=working[0].spec.id)
    if trial is not None:
        if _completed_since(state.loops.get(trial.loop), trial.at):
            return ev.AccountReleased(account=login, loop=trial.loop)
        tried = next((loop for loop in loops if loop.spec.id == trial.loop), None)
        if tried is not None and _last_report(tried) > trial.at and tried.limited and tried.until:
            if tried.until > now:
                again = f"reported again by loop {trial.loop}"
                return ev.AccountHeld(
                    account=login, until=tried.until, cause=_limit_cause(tried), reason=again
                )
        elif tried is not None and now < trial.at + timedelta(seconds=TRIAL_S):
            return None
    waiting = [loop for loop in loops if loop.limited and (loop.retried_at or EPOCH) < since]
    return ev.LoopRetried(loop=waiting[0].spec.id) if waiting else ev.AccountReleased(account=login)


def may_start(state: FleetState, login: str, now: datetime) -> bool:
    """True if the last start of a loop with this account was long enough ago."""
    last = state.last_start.get(login)
    return last is None or now >= last + timedelta(seconds=state.plan.start_every_s)


def patience_s(plan: Plan, login: str) -> float:
    """Return the seconds that a loop waits, after a limit ends, for the order to continue.

    This allows for the probing loop and for all other loops to follow, one by one. So a loop
    continues by itself only if it has lost contact with the fleet.
    """
    others = sum(loop.login == login for loop in plan.loops) - 1
    return min(DAY, TRIAL_S + others * plan.start_every_s)


def _was_answered(loop: LoopState, since: datetime, now: datetime) -> bool:
    """True if, as far as is known, the agent's service has accepted a request after `since`."""
    if loop.phase not in WORK_PHASES or _last_report(loop) <= since:
        return False
    began = loop.phase_at or EPOCH
    return loop.phase != "agent" or began <= since or now >= began + timedelta(seconds=ACCEPTED_S)


def _completed_since(loop: LoopState | None, since: datetime) -> bool:
    if loop is None or loop.outcome != "completed":
        return False
    return loop.ended_at is not None and loop.ended_at >= since


def _limit_cause(loop: LoopState) -> str:
    return loop.waits_for or "usage_limit"


def _last_report(loop: LoopState) -> datetime:
    """Return when the loop last reported its progress."""
    return loop.progressed_at or EPOCH


FAILURE_REST = timedelta(minutes=1)
"""How long a host is given no loops after a loop failed to begin there."""


def place_loops(state: FleetState, now: datetime) -> Iterator[FleetEvent]:
    """Place loops in the plan's order, as long as slots, accounts and money allow."""
    if state.stopping is not None or state.paused is not None or state.budget_percent:
        return
    capacity = _Capacity(state, now)
    if not capacity.free:
        return
    shares, fleet = BudgetShares(state), state.started.name if state.started else ""
    for loop in state.loops.values():
        if loop.status != "queued" or not capacity.may_begin(loop):
            continue
        host = capacity.host_for(loop)
        given = shares.of(loop) if host else None
        if not host or given == 0.0:
            continue
        capacity.take(loop, host)
        shares.take(loop, given)
        attempt = loop.attempt if loop.resuming else loop.attempt + 1
        yield ev.LoopPlaced(
            loop=loop.spec.id,
            attempt=attempt,
            branch=f"ralph/{fleet}/{loop.spec.id}",
            host=host,
            budget_usd=given,
            resumed=loop.resuming,
        )
        if not capacity.free:
            return


def _resting_hosts(state: FleetState, now: datetime) -> set[str]:
    """Return hosts that get no loops for a while, unless no other host is left.

    The last loop could not begin there. With a full disk or a missing program, all queued loops
    would fail there one after the other while other hosts work.
    """
    here = [host for host in state.hosts.values() if host.takes]
    failed = {host.name for host in here if host.failed_at and now < host.failed_at + FAILURE_REST}
    return failed if len(failed) < len(here) else set()


class _Capacity:
    """Free slots and accounts; each loop that is placed takes its share."""

    def __init__(self, state: FleetState, now: datetime) -> None:
        self._state, self._now = state, now
        loops = state.loops.values()
        self._busy = Counter(loop.host for loop in loops if loop.placed)
        self._users = Counter(loop.spec.account for loop in loops if loop.placed)
        self._begun: set[str] = set()
        """Accounts for which a loop has been placed in this round."""
        resting = _resting_hosts(state, now)
        here = [host for host in state.hosts.values() if host.takes]
        slots = {host.name: host.slots for host in here if host.name not in resting}
        self.free = {
            name: count - self._busy[name]
            for name, count in slots.items()
            if count > self._busy[name]
        }
        """Free slots by host; hosts without any are left out."""

    def may_begin(self, loop: LoopState) -> bool:
        """True if the loop could begin, given a free slot."""
        state, spec = self._state, loop.spec
        most = state.plan.accounts.get(spec.account) if spec.account else None
        return (
            spec.login not in state.held
            and (spec.login not in self._begun or state.plan.start_every_s <= 0)
            and may_start(state, spec.login, self._now)
            and (most is None or self._users[spec.account] < most)
            and not (spec.tries_at and is_being_decided(state, spec.tries_at))
            and all(dependency_met(state, name) == "yes" for name in spec.after)
        )

    def host_for(self, loop: LoopState) -> str:
        """Return the host with the loop's clone, else that with the most free slots; empty if none.

        A host on which the loop could not begin is not tried again while others are available.
        """
        if loop.resuming:
            name = host_with_tree(self._state, loop)
            return name if name in self.free else ""
        able = {host.name for host in self._state.hosts.values() if host.takes} - loop.not_on
        among = [name for name in self.free if name in able or not able]
        return max(among, key=lambda name: self.free[name], default="")

    def take(self, loop: LoopState, host: str) -> None:
        """Use a slot of `host` and the loop's account."""
        self._begun.add(loop.spec.login)
        self._users[loop.spec.account] += 1
        self.free[host] -= 1
        if not self.free[host]:
            del self.free[host]
