"""Which of several agents works: the first in their order that can. Pure.

An agent that is refused for a short time is waited for; one that is refused for long, or for good,
hands over. One that did not start is tried once more. Only where none is left the run waits, for
the one that can work again first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ralph_tui.loop.steps.service_limits import wait_until
from ralph_tui.state.roster import Refusal

STARTS = 2
"""Tries in a row after which an agent that does not start is given up."""

Refusals = Mapping[str, Refusal]
"""By agent, why it cannot work."""


@dataclass(frozen=True)
class Works:
    """This agent works now."""

    agent: str


@dataclass(frozen=True)
class Waits:
    """Nobody works before this time; then this agent is tried."""

    agent: str
    until: datetime


def free_at(refusal: Refusal) -> datetime | None:
    """When a refused agent is tried again; None: never, its owner has to mend it."""
    if refusal.limit is None:
        return None
    return wait_until(refusal.at, refusal.limit, max(1, refusal.tries), refusal.resets_at)


def begins(order: Sequence[str], refusals: Refusals, now: datetime) -> str:
    """The agent of an iteration that begins; where none is free, the one that will be first."""
    free = [name for name in order if _is_free(refusals.get(name), now)]
    return free[0] if free else (_earliest(order, refusals) or Waits(order[0], now)).agent


def goes_on(
    order: Sequence[str], refusals: Refusals, current: str, now: datetime, patience_s: float
) -> Works | Waits | None:
    """Who goes on with the iteration in which `current` was refused; None: nobody ever can.

    `patience_s`: seconds from its first refusal for which an agent is waited for.
    """
    refusal = refusals[current]
    if refusal.cause == "not_started" and refusal.tries < STARTS:
        return Works(current)
    own = free_at(refusal)
    if own is not None and own - refusal.since <= timedelta(seconds=patience_s):
        return Waits(current, own)
    other = stands_in(order, refusals, current, now)
    return Works(other) if other else _earliest(order, refusals)


def stands_in(order: Sequence[str], refusals: Refusals, current: str, now: datetime) -> str:
    """Who can work now in the place of `current`; empty: nobody."""
    free = (name for name in order if name != current and _is_free(refusals.get(name), now))
    return next(free, "")


def _is_free(refusal: Refusal | None, now: datetime) -> bool:
    if refusal is None:
        return True
    at = free_at(refusal)
    return at is not None and at <= now


def _earliest(order: Sequence[str], refusals: Refusals) -> Waits | None:
    times = [(name, free_at(refusals[name])) for name in order if name in refusals]
    known = [Waits(name, at) for name, at in times if at is not None]
    return min(known, key=lambda wait: wait.until, default=None)
