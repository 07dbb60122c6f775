"""One budget over all loops: what each may spend, and when no more is begun or gone on with."""

from collections.abc import Iterator
from math import floor

from ralph_tui.fleet.decisions.values import Decision, ReachBudget
from ralph_tui.fleet.state import FleetState, LoopState

NEARLY, ALL = 90, 100
"""Percent: nothing new is begun, running loops stop after their iteration."""


def reached(state: FleetState) -> Iterator[Decision]:
    """The marks that what was spent has reached, each once."""
    budget = state.plan.budget_usd
    if budget is None:
        return
    spent = state.spent_usd
    if spent >= budget and state.budget_percent < ALL:
        yield ReachBudget(100, spent, budget)
    elif 10 * spent >= 9 * budget and state.budget_percent < NEARLY:
        yield ReachBudget(90, spent, budget)


class Shares:
    """What loops may spend that are placed now, one after the other.

    A share is what is neither spent nor given to loops that run, divided by the loops that are
    still to be started: so all shares together never exceed the budget.
    """

    def __init__(self, state: FleetState) -> None:
        """As the fleet stands."""
        budget = state.plan.budget_usd
        self._waiting = sum(loop.status == "queued" for loop in state.loops.values())
        self._left: float | None = None
        if budget is not None:
            given = sum(_unspent(loop) for loop in state.loops.values() if loop.placed)
            self._left = budget - state.spent_usd - given

    def of(self, loop: LoopState) -> float | None:
        """US dollars for the run of a queued loop; None: no limit; 0: there is nothing for it now.

        The run of a loop that is resumed counts on: what it has spent is included.
        """
        before = (loop.cost_usd or 0.0) if loop.resuming else 0.0
        earlier = loop.spent_usd - before
        own = loop.spec.budget_usd
        most = None if own is None else max(0.0, own - earlier)
        if self._left is None:
            return most
        share = before + _down(self._left / max(1, self._waiting))
        if share <= before:
            return 0.0
        return share if most is None else min(share, most)

    def take(self, loop: LoopState, given: float | None) -> None:
        """It was given so much."""
        self._waiting -= 1
        if self._left is not None and given is not None:
            before = (loop.cost_usd or 0.0) if loop.resuming else 0.0
            self._left -= max(0.0, given - before)


def _unspent(loop: LoopState) -> float:
    return max(0.0, (loop.given_usd or 0.0) - (loop.cost_usd or 0.0))


def _down(dollars: float) -> float:
    """To a hundredth of a cent, so that nobody reads of 3.3333333333333335; small sums stay."""
    cut = floor(dollars * 10_000) / 10_000
    return cut if cut > 0 else dollars
