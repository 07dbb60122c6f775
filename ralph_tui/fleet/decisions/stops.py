"""Which loops the fleet stops, and which of the queue it does not begin."""

from collections.abc import Iterator
from typing import Literal

from ralph_tui.fleet.decisions.budget import ALL, NEARLY
from ralph_tui.fleet.decisions.leases import goes_on
from ralph_tui.fleet.decisions.values import CloseLoop, Decision, SkipLoop, StopLoop
from ralph_tui.fleet.state import FleetState, LoopState

Met = Literal["yes", "no", "never"]


def stopped(state: FleetState) -> Iterator[Decision]:
    """Running loops that are to stop. One that is still being placed has spent nothing."""
    for loop in state.loops.values():
        if loop.status not in ("placing", "running") or loop.stop_asked == "now":
            continue
        reason, now = _why_stop(state, loop)
        now = now or loop.status == "placing"
        if reason and (now or not loop.stop_asked):
            yield StopLoop(loop.spec.id, reason, now)


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


def never_begun(state: FleetState) -> Iterator[Decision]:
    """Loops of the queue that will not run; one that has run before is over, and is collected."""
    for loop in state.loops.values():
        reason = _why_not(state, loop) if loop.status == "queued" else ""
        if not reason:
            continue
        if loop.run_id:
            outcome: Literal["limit_reached", "interrupted"] = (
                "interrupted" if loop.place == "beaten" or _aborting(state) else "limit_reached"
            )
            yield CloseLoop(loop.spec.id, outcome, reason)
        else:
            yield SkipLoop(loop.spec.id, reason)


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
