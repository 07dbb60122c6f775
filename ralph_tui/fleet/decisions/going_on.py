"""Which loops run on, which are stopped, and which never begin: leases, the budget, the owner.

Rule: a loop is never started elsewhere before its host's lease and a margin have passed since the
host was lost: until then it may go on there, and come back.
"""

from collections.abc import Iterator
from datetime import datetime
from math import floor
from typing import Literal

from ralph_tui.fleet import events as told
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.loop_state import LoopState, ended
from ralph_tui.fleet.state import FleetState, gone_at, host_with_tree

NEARLY, ALL = 90, 100
"""Percent: nothing new is begun, running loops stop after their iteration."""


def reached(state: FleetState) -> Iterator[FleetEvent]:
    """The marks that what was spent has reached, each once."""
    budget = state.plan.budget_usd
    if budget is None:
        return
    spent = state.spent_usd
    if spent >= budget and state.budget_percent < ALL:
        yield told.BudgetReached(percent=100, spent_usd=spent, budget_usd=budget)
    elif 10 * spent >= 9 * budget and state.budget_percent < NEARLY:
        yield told.BudgetReached(percent=90, spent_usd=spent, budget_usd=budget)


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


MOST_RESUMES = 2
"""So often a loop whose process was gone goes on in its tree."""
MOST_ATTEMPTS = 3
"""So many trees a loop gets that loses its host."""
LOST = "its host is lost"
PRUNED = "its clone was removed by 'ralph-tui fleet prune'"
STOPPED = "its host was stopped, and has not come back"


def lost_loops(state: FleetState, now: datetime) -> Iterator[FleetEvent]:
    """Loops whose host is lost: first that they are, then what becomes of them."""
    for loop in state.loops.values():
        host = state.hosts.get(loop.host)
        if loop.status in ("placing", "running") and host is not None and not host.here:
            yield told.LoopLost(loop=loop.spec.id, until=gone_at(state, host))
        elif loop.status == "lost" and (unwanted(state, loop) or now >= _until(loop)):
            yield _after_loss(state, loop)


def interrupted_loops(state: FleetState, now: datetime) -> Iterator[FleetEvent]:
    """Loops whose process was gone, and that nobody has stopped: they go on."""
    for loop in state.loops.values():
        if goes_on(state, loop):
            resume = not loop.never_began and not loop.tree_removed
            why = PRUNED if loop.tree_removed else loop.reason or "its process was gone"
            yield told.LoopRequeued(loop=loop.spec.id, reason=why, resume=resume)
        elif loop.status == "queued" and loop.resuming and loop.tree_removed:
            yield told.LoopRequeued(loop=loop.spec.id, reason=PRUNED, resume=False)
        elif loop.status == "queued" and loop.resuming and _tree_is_gone(state, loop, now):
            host = state.hosts.get(loop.host)
            why = STOPPED if host is not None and host.left else LOST
            yield told.LoopRequeued(loop=loop.spec.id, reason=why, resume=False)


def goes_on(state: FleetState, loop: LoopState) -> bool:
    """Whether a loop that has ended is to run again.

    One that could not go on in its tree, because that is gone, begins anew.
    """
    if loop.status != "ended" or state.stopping is not None or unwanted(state, loop):
        return False
    if loop.stop_asked or state.budget_percent:
        return False
    if loop.never_began:
        if loop.again and loop.outcome != "aborted":
            return True
        again = loop.outcome == "interrupted" or bool(loop.run_id)
        again = again and _attempts(loop) < MOST_ATTEMPTS
        return (again or _another_host(state, loop)) and loop.outcome != "aborted"
    return loop.outcome == "interrupted" and loop.resumes < MOST_RESUMES


def unwanted(state: FleetState, loop: LoopState) -> bool:
    """Whether nothing that still comes of it counts: another try has won, or all is stopped."""
    stopping = state.stopping
    return loop.place == "beaten" or (stopping is not None and (stopping.now or stopping.abort))


def _another_host(state: FleetState, loop: LoopState) -> bool:
    """Whether one is there that may be able to begin a loop: each is tried once."""
    return loop.elsewhere and any(
        host.takes and host.name not in loop.not_on for host in state.hosts.values()
    )


def _attempts(loop: LoopState) -> int:
    """How many of its attempts were not refused by their host at once."""
    return loop.attempt - len(loop.not_on)


def _after_loss(state: FleetState, loop: LoopState) -> FleetEvent:
    name = loop.spec.id
    if unwanted(state, loop) or state.stopping is not None or loop.stop_asked:
        return ended(loop, "interrupted", LOST)
    if state.budget_percent:
        return ended(loop, "limit_reached", f"{LOST}, and the fleet's budget is nearly used")
    if _attempts(loop) >= MOST_ATTEMPTS:
        return ended(loop, "failed", f"{LOST}, and it was so {_attempts(loop)} times")
    if loop.tree_removed:
        return told.LoopRequeued(loop=name, reason=PRUNED, resume=False)
    resume = bool(loop.run_id and host_with_tree(state, loop) and loop.resumes < MOST_RESUMES)
    return told.LoopRequeued(loop=name, reason=LOST, resume=resume)


def _tree_is_gone(state: FleetState, loop: LoopState, now: datetime) -> bool:
    """Whether the machine that has its tree does not come back."""
    host = state.hosts.get(loop.host)
    return host is None or (not host_with_tree(state, loop) and now >= gone_at(state, host))


def _until(loop: LoopState) -> datetime:
    assert loop.lost_until is not None
    return loop.lost_until


Met = Literal["yes", "no", "never"]


def stopped(state: FleetState) -> Iterator[FleetEvent]:
    """Running loops that are to stop. One that is still being placed has spent nothing."""
    for loop in state.loops.values():
        if loop.status not in ("placing", "running") or loop.stop_asked == "now":
            continue
        reason, now = _why_stop(state, loop)
        now = now or loop.status == "placing"
        if reason and (now or not loop.stop_asked):
            yield told.LoopStopAsked(loop=loop.spec.id, reason=reason, now=now)


def _why_stop(state: FleetState, loop: LoopState) -> tuple[str, bool]:
    """The reason, empty where it goes on, and whether it stops at once."""
    if loop.place == "beaten":
        return f"another attempt, {state.chosen[loop.spec.tries_at].loop}, has won", True
    if state.stopping is not None:
        what = "aborted" if state.stopping.abort else "stopped"
        return f"the fleet was {what}", state.stopping.now or state.stopping.abort
    if state.budget_percent >= ALL:
        return "the fleet's budget is used up", False
    return "", False


def never_begun(state: FleetState) -> Iterator[FleetEvent]:
    """Loops of the queue that will not run; one that has run before is over, and is collected."""
    for loop in state.loops.values():
        reason = _why_not(state, loop) if loop.status == "queued" else ""
        if not reason:
            continue
        if loop.run_id:
            outcome: Literal["limit_reached", "interrupted"] = (
                "interrupted" if loop.place == "beaten" or _aborting(state) else "limit_reached"
            )
            yield ended(loop, outcome, reason)
        else:
            yield told.LoopSkipped(loop=loop.spec.id, reason=reason)


def _why_not(state: FleetState, loop: LoopState) -> str:
    if loop.place == "beaten":
        return f"{state.chosen[loop.spec.tries_at].loop} was chosen before it began"
    if _aborting(state):
        return "the fleet was aborted"
    if state.budget_percent >= NEARLY:
        return f"{state.budget_percent} % of the fleet's budget are used"
    if state.stopping is None:  # what was stopped may go on later, and be completed then
        failed = [name for name in loop.spec.after if met(state, name) == "never"]
        if failed:
            return f"it comes after {', '.join(failed)}, which did not complete"
    own = loop.spec.budget_usd
    if own is not None and loop.attempt and not loop.resuming and loop.spent_usd >= own:
        return "its budget was used by attempts before"
    return ""


def _aborting(state: FleetState) -> bool:
    return state.stopping is not None and state.stopping.abort


def met(state: FleetState, name: str) -> Met:
    """Whether a loop, or one of several tries, is completed; `never`: it will not be."""
    tries = state.tries(name)
    if tries:
        chosen = state.chosen.get(name)
        if chosen is not None:
            return "yes" if chosen.loop else "never"
        return "no"
    loop = state.loops.get(name)
    if loop is None:
        return "never"
    if loop.status == "ended" and loop.outcome == "completed":
        return "yes"
    return "never" if loop.over and not goes_on(state, loop) else "no"
