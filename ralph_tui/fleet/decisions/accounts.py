"""Logins at their limit: held until it ends, one loop tries first, the others follow in steps."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from ralph_tui.events.base import EPOCH
from ralph_tui.fleet.decisions.values import Decision, HoldAccount, ReleaseAccount, RetryLoop
from ralph_tui.fleet.state import FleetState, LoopState

TRIAL_S = 120.0
"""So long the one that tries first may take until its session lives."""
WORKS = ("agent", "verifying")
"""Phases of a run whose agent was answered."""


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
        return HoldAccount(login, until, f"loop {first.spec.id} waits for a limit")
    following = [
        loop
        for loop in loops
        if loop.limited and _said(loop) <= released and (loop.retried_at or EPOCH) < released
    ]
    if following and released > EPOCH and may_start(state, login, now):
        return RetryLoop(following[0].spec.id)
    return None


def _held(state: FleetState, login: str, loops: list[LoopState], now: datetime) -> Decision | None:
    held, trial = state.held[login], state.trials.get(login)
    until = held.until or held.at
    if now < until:
        return None
    since = max(until, held.at)
    working = [loop for loop in loops if loop.phase in WORKS and _said(loop) > since]
    if working:
        return ReleaseAccount(login, working[0].spec.id)
    if trial is not None:
        tried = next((loop for loop in loops if loop.spec.id == trial.loop), None)
        if tried is not None and _said(tried) > trial.at and tried.limited and tried.until:
            if tried.until > now:
                return HoldAccount(login, tried.until, f"loop {trial.loop} still waits for it")
        elif tried is not None and now < trial.at + timedelta(seconds=TRIAL_S):
            return None
    waiting = [loop for loop in loops if loop.limited and (loop.retried_at or EPOCH) < since]
    return RetryLoop(waiting[0].spec.id) if waiting else ReleaseAccount(login)


def may_start(state: FleetState, login: str, now: datetime) -> bool:
    """Whether the last start of a loop of this login is long enough ago."""
    last = state.last_start.get(login)
    return last is None or now >= last + timedelta(seconds=state.plan.start_every_s)


def _said(loop: LoopState) -> datetime:
    """When it last said how it stands."""
    return loop.progressed_at or EPOCH
