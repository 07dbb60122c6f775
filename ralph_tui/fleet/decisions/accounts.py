"""Logins at their limit: held until it ends, one loop tries first, the others follow in steps."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from ralph_tui.events.base import EPOCH
from ralph_tui.fleet.decisions.values import Decision, HoldAccount, ReleaseAccount, RetryLoop
from ralph_tui.fleet.plan import Plan
from ralph_tui.fleet.state import FleetState, LoopState
from ralph_tui.text.durations import DAY

TRIAL_S = 120.0
"""So long the one that tries first may take until its session lives."""
LIVES_S = 10.0
"""A session that was not refused by then was answered."""
WORKS = ("agent", "verifying")
"""Phases of a run whose agent was asked; in the last one it was answered."""


def limits(state: FleetState, now: datetime) -> Iterator[Decision]:
    """What follows from the limits that loops wait for, for each login."""
    by_login: dict[str, list[LoopState]] = {}
    for loop in state.loops.values():
        if loop.status == "running":
            by_login.setdefault(loop.spec.login, []).append(loop)
    for login in dict.fromkeys([*by_login, *state.held]):
        loops = by_login.get(login, [])
        decide = _held if login in state.held else _free
        decision = decide(state, login, loops, now)
        if decision is not None:
            yield decision


def _free(state: FleetState, login: str, loops: list[LoopState], now: datetime) -> Decision | None:
    released = state.released.get(login, EPOCH)
    new = [
        (loop.until, loop)
        for loop in loops
        if loop.limited and loop.until and loop.until > now and _said(loop) > released
    ]
    if new:
        until, first = min(new, key=lambda each: each[0])
        return HoldAccount(login, until, _cause(first), f"met by loop {first.spec.id}")
    following = [loop for loop in loops if loop.limited and _follows(loop, released, now)]
    if following and may_start(state, login, now):
        return RetryLoop(following[0].spec.id)
    return None


def _follows(loop: LoopState, released: datetime, now: datetime) -> bool:
    """Whether it may go on: its login was released, or its limit has ended while nobody looked."""
    retried = loop.retried_at or EPOCH
    freed = _said(loop) <= released and retried < released
    return freed or (loop.until is not None and retried < loop.until <= now)


def _held(state: FleetState, login: str, loops: list[LoopState], now: datetime) -> Decision | None:
    held, trial = state.held[login], state.trials.get(login)
    until = held.until or held.at
    if now < until:
        return None
    since = max(until, held.at)
    working = [loop for loop in loops if _was_answered(loop, since, now)]
    if working:
        return ReleaseAccount(login, working[0].spec.id)
    if trial is not None:
        if _completed_since(state.loops.get(trial.loop), trial.at):
            return ReleaseAccount(login, trial.loop)
        tried = next((loop for loop in loops if loop.spec.id == trial.loop), None)
        if tried is not None and _said(tried) > trial.at and tried.limited and tried.until:
            if tried.until > now:
                again = f"met again by loop {trial.loop}"
                return HoldAccount(login, tried.until, _cause(tried), again)
        elif tried is not None and now < trial.at + timedelta(seconds=TRIAL_S):
            return None
    waiting = [loop for loop in loops if loop.limited and (loop.retried_at or EPOCH) < since]
    return RetryLoop(waiting[0].spec.id) if waiting else ReleaseAccount(login)


def may_start(state: FleetState, login: str, now: datetime) -> bool:
    """Whether the last start of a loop of this login is long enough ago."""
    last = state.last_start.get(login)
    return last is None or now >= last + timedelta(seconds=state.plan.start_every_s)


def patience_s(plan: Plan, login: str) -> float:
    """How long a loop waits after the end of a limit to be told to go on, in seconds.

    Longer than the one that tries first may take and all others on this login need to follow: who
    goes on by itself does so only where the fleet is not heard any more.
    """
    others = sum(loop.login == login for loop in plan.loops) - 1
    return min(DAY, TRIAL_S + others * plan.start_every_s)


def _was_answered(loop: LoopState, since: datetime, now: datetime) -> bool:
    """Whether its agent's service has taken a request since then, for all that is known."""
    if loop.phase not in WORKS or _said(loop) <= since:
        return False
    began = loop.phase_at or EPOCH
    return loop.phase != "agent" or began <= since or now >= began + timedelta(seconds=LIVES_S)


def _completed_since(loop: LoopState | None, since: datetime) -> bool:
    if loop is None or loop.outcome != "completed":
        return False
    return loop.ended_at is not None and loop.ended_at >= since


def _cause(loop: LoopState) -> str:
    return loop.waits_for or "usage_limit"


def _said(loop: LoopState) -> datetime:
    """When it last said how it stands."""
    return loop.progressed_at or EPOCH
