"""Decide which loops continue, stop or never begin: host leases, the budget, the user's requests.

A loop is never started elsewhere before its lost host's lease and a margin have passed. Until then
the loop may still run there, and the host may return.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from math import floor
from typing import Literal

from ralph_tui.fleet import events as ev
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.loop_state import LoopState, end_event
from ralph_tui.fleet.plan import HERE
from ralph_tui.fleet.state import FleetState, absent_until, host_with_tree

NEARLY, ALL = 90, 100
"""Budget marks, in percent.

At `NEARLY`, nothing new starts; at `ALL`, loops stop after their iteration.
"""


def mark_budget(state: FleetState) -> Iterator[FleetEvent]:
    """Yield an event for each budget mark, once spending has reached it."""
    budget = state.plan.budget_usd
    if budget is None:
        return
    spent = state.spent_usd
    if spent >= budget and state.budget_percent < ALL:
        yield ev.BudgetReached(percent=100, spent_usd=spent, budget_usd=budget)
    elif 10 * spent >= 9 * budget and state.budget_percent < NEARLY:
        yield ev.BudgetReached(percent=90, spent_usd=spent, budget_usd=budget)


class BudgetShares:
    """Budgets for the loops being placed, one after the other.

    A share is the money neither spent nor assigned to running loops, divided by the number of loops
    still to start. Therefore all shares together never exceed the budget.
    """

    def __init__(self, state: FleetState) -> None:
        budget = state.plan.budget_usd
        self._waiting = sum(loop.status == "queued" for loop in state.loops.values())
        self._left: float | None = None
        if budget is not None:
            given = sum(_unspent(loop) for loop in state.loops.values() if loop.placed)
            self._left = budget - state.spent_usd - given

    def of(self, loop: LoopState) -> float | None:
        """Return a queued loop's budget in US dollars; None for no limit, 0 if none is left now."""
        before = (loop.cost_usd or 0.0) if loop.resuming else 0.0
        earlier = loop.spent_usd - before
        own = loop.spec.budget_usd
        most = None if own is None else max(0.0, own - earlier)
        if self._left is None:
            return most
        share = before + _round_down(self._left / max(1, self._waiting))
        if share <= before:
            return 0.0
        return share if most is None else min(share, most)

    def take(self, loop: LoopState, given: float | None) -> None:
        """Deduct the budget that was assigned to `loop`."""
        self._waiting -= 1
        if self._left is not None and given is not None:
            before = (loop.cost_usd or 0.0) if loop.resuming else 0.0
            self._left -= max(0.0, given - before)


def _unspent(loop: LoopState) -> float:
    return max(0.0, (loop.given_usd or 0.0) - (loop.cost_usd or 0.0))


def _round_down(dollars: float) -> float:
    """Round down to a hundredth of a cent, to avoid 3.3333333333333335; smaller sums stay as is."""
    cut = floor(dollars * 10_000) / 10_000
    return cut if cut > 0 else dollars


MAX_RESUMES = 2
"""Maximum number of times that a loop whose process died is resumed in its clone."""
MAX_ATTEMPTS = 3
"""Maximum number of clones for a loop that keeps losing its host."""
LOST = "its host is lost"
PRUNED = "its clone was removed by 'ralph-tui fleet prune'"
STOPPED = "its host was stopped and has not returned"


JOINS = timedelta(seconds=10)
"""How long the host in the fleet's own process may take to join a resumed fleet."""


def handle_lost(state: FleetState, now: datetime) -> Iterator[FleetEvent]:
    """Mark loops as lost when their host is lost; after its lease, requeue or end them."""
    for loop in state.loops.values():
        host = state.hosts.get(loop.host)
        if loop.status in ("placing", "running") and host is not None and not host.here:
            if host.name == HERE and now < host.since + JOINS:
                continue  # it will soon report the state of its loops
            yield ev.LoopLost(loop=loop.spec.id, until=absent_until(state, host))
        elif loop.status == "lost" and (is_unwanted(state, loop) or now >= _lost_until(loop)):
            yield _handle_loss(state, loop)


def requeue_loops(state: FleetState, now: datetime) -> Iterator[FleetEvent]:
    """Requeue loops that ended without a stop and must run again."""
    for loop in state.loops.values():
        if must_run_again(state, loop):
            resume = not loop.never_began and not loop.tree_removed
            why = PRUNED if loop.tree_removed else loop.reason or "its process died"
            yield ev.LoopRequeued(loop=loop.spec.id, reason=why, resume=resume)
        elif loop.status == "queued" and loop.resuming and loop.tree_removed:
            yield ev.LoopRequeued(loop=loop.spec.id, reason=PRUNED, resume=False)
        elif loop.status == "queued" and loop.resuming and _clone_is_lost(state, loop, now):
            host = state.hosts.get(loop.host)
            why = STOPPED if host is not None and host.left else LOST
            yield ev.LoopRequeued(loop=loop.spec.id, reason=why, resume=False)


def must_run_again(state: FleetState, loop: LoopState) -> bool:
    """True if a loop that has ended must run again.

    A loop that could not continue because its clone is gone starts over.
    """
    if loop.status != "ended" or state.stopping is not None or is_unwanted(state, loop):
        return False
    if loop.stop_asked or state.budget_percent:
        return False
    if loop.never_began:
        if loop.again and loop.outcome != "aborted":
            return True
        again = loop.outcome == "interrupted" or bool(loop.run_id)
        again = again and _count_attempts(loop) < MAX_ATTEMPTS
        return (again or _has_other_host(state, loop)) and loop.outcome != "aborted"
    return loop.outcome == "interrupted" and loop.resumes < MAX_RESUMES


def is_unwanted(state: FleetState, loop: LoopState) -> bool:
    """True if the loop's result no longer matters: another attempt won, or the fleet stops now."""
    stopping = state.stopping
    return loop.place == "beaten" or (stopping is not None and (stopping.now or stopping.abort))


def _has_other_host(state: FleetState, loop: LoopState) -> bool:
    """True if a host that has not been tried yet may be able to begin the loop."""
    return loop.elsewhere and any(
        host.takes and host.name not in loop.not_on for host in state.hosts.values()
    )


def _count_attempts(loop: LoopState) -> int:
    """Return the number of attempts that the host did not refuse at once."""
    return loop.attempt - len(loop.not_on)


def _handle_loss(state: FleetState, loop: LoopState) -> FleetEvent:
    name = loop.spec.id
    if is_unwanted(state, loop) or state.stopping is not None or loop.stop_asked:
        return end_event(loop, "interrupted", LOST)
    if state.budget_percent:
        return end_event(loop, "limit_reached", f"{LOST}, and the fleet's budget is nearly used up")
    if _count_attempts(loop) >= MAX_ATTEMPTS:
        return end_event(loop, "failed", f"{LOST}, and it was lost {_count_attempts(loop)} times")
    if loop.tree_removed:
        return ev.LoopRequeued(loop=name, reason=PRUNED, resume=False)
    resume = bool(loop.run_id and host_with_tree(state, loop) and loop.resumes < MAX_RESUMES)
    return ev.LoopRequeued(loop=name, reason=LOST, resume=resume)


def _clone_is_lost(state: FleetState, loop: LoopState, now: datetime) -> bool:
    """True if the machine with the loop's clone is not coming back."""
    host = state.hosts.get(loop.host)
    return host is None or (not host_with_tree(state, loop) and now >= absent_until(state, host))


def _lost_until(loop: LoopState) -> datetime:
    assert loop.lost_until is not None
    return loop.lost_until


DependencyMet = Literal["yes", "no", "never"]


def stop_loops(state: FleetState) -> Iterator[FleetEvent]:
    """Yield stop requests for running loops.

    A loop that is still being placed stops at once, because it has spent nothing.
    """
    for loop in state.loops.values():
        if loop.status not in ("placing", "running") or loop.stop_asked == "now":
            continue
        reason, now = _stop_reason(state, loop)
        now = now or loop.status == "placing"
        if reason and (now or not loop.stop_asked):
            yield ev.LoopStopAsked(loop=loop.spec.id, reason=reason, now=now)


def _stop_reason(state: FleetState, loop: LoopState) -> tuple[str, bool]:
    """Return the reason, empty if the loop continues, and whether it stops at once."""
    if loop.place == "beaten":
        return f"another attempt, {state.chosen[loop.spec.tries_at].loop}, has won", True
    if state.stopping is not None:
        what = "aborted" if state.stopping.abort else "stopped"
        return f"the fleet was {what}", state.stopping.now or state.stopping.abort
    if state.budget_percent >= ALL:
        return "the fleet's budget is used up", False
    return "", False


def skip_loops(state: FleetState) -> Iterator[FleetEvent]:
    """Yield an event for each queued loop that will not run.

    A loop that has run before ends and its work is collected; any other is skipped.
    """
    for loop in state.loops.values():
        reason = _skip_reason(state, loop) if loop.status == "queued" else ""
        if not reason:
            continue
        if loop.run_id:
            outcome: Literal["limit_reached", "interrupted"] = (
                "interrupted" if loop.place == "beaten" or _is_aborting(state) else "limit_reached"
            )
            yield end_event(loop, outcome, reason)
        else:
            yield ev.LoopSkipped(loop=loop.spec.id, reason=reason)


def _skip_reason(state: FleetState, loop: LoopState) -> str:
    if loop.place == "beaten":
        return f"{state.chosen[loop.spec.tries_at].loop} was chosen before it started"
    if _is_aborting(state):
        return "the fleet was aborted"
    if state.budget_percent >= NEARLY:
        return f"the fleet has used {state.budget_percent} % of its budget"
    if state.stopping is None:  # a stopped loop may still complete later
        failed = [name for name in loop.spec.after if dependency_met(state, name) == "never"]
        if failed:
            return f"it comes after {', '.join(failed)}, which did not complete"
    own = loop.spec.budget_usd
    if own is not None and loop.attempt and not loop.resuming and loop.spent_usd >= own:
        return "earlier attempts used up its budget"
    return ""


def _is_aborting(state: FleetState) -> bool:
    return state.stopping is not None and state.stopping.abort


def dependency_met(state: FleetState, name: str) -> DependencyMet:
    """Return ``yes`` if a loop, or one of several attempts, completed; ``never`` if it cannot."""
    attempts = state.attempts(name)
    if attempts:
        chosen = state.chosen.get(name)
        if chosen is not None:
            return "yes" if chosen.loop else "never"
        return "no"
    loop = state.loops.get(name)
    if loop is None:
        return "never"
    if loop.status == "ended" and loop.outcome == "completed":
        return "yes"
    return "never" if loop.over and not must_run_again(state, loop) else "no"
