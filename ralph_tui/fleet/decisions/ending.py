"""When a fleet is over, and how it ended."""

from collections.abc import Iterator, Sequence

from ralph_tui.events.run import Outcome
from ralph_tui.fleet.decisions.results import awaits_collection
from ralph_tui.fleet.decisions.values import Decision, Finish
from ralph_tui.fleet.state import FleetState, LoopState
from ralph_tui.fleet.wording import named
from ralph_tui.text.format import count, money
from ralph_tui.text.terms import who_words

WORST_FIRST: Sequence[Outcome] = ("failed", "limit_reached", "aborted", "interrupted", "completed")
"""Of several outcomes the first of these is that of the fleet."""


def finished(state: FleetState) -> Iterator[Decision]:
    """The end: nothing runs, nothing is on the way, and nothing waits for its turn."""
    loops = state.loops.values()
    if any(_busy(state, loop) for loop in loops):
        return
    if state.stopping is None and any(not loop.over for loop in loops):
        return
    yield Finish(outcome_of(state), _reason(state))


def outcome_of(state: FleetState) -> Outcome:
    """Completed where each objective is; of several tries the chosen one counts.

    A fleet that its user stopped is stopped, whatever became of loops before.

    What is completed and could not be collected is no branch that anybody could merge: it failed.
    """
    if state.stopping is not None and state.stopping.abort:
        return "aborted"
    outcomes = objectives(state).values()
    if state.stopping is not None and "interrupted" in outcomes:
        return "interrupted"
    return next((one for one in WORST_FIRST if one in outcomes), "completed")


def objectives(state: FleetState) -> dict[str, Outcome]:
    """The outcome of each objective, by the id of its loop or what its tries have in common."""
    found: dict[str, list[LoopState]] = {}
    for loop in state.loops.values():
        found.setdefault(loop.spec.tries_at or loop.spec.id, []).append(loop)
    return {name: _outcome(state, loops) for name, loops in found.items()}


def _outcome(state: FleetState, loops: list[LoopState]) -> Outcome:
    common = loops[0].spec.tries_at
    chosen = state.chosen.get(common) if common else None
    if chosen is not None and chosen.loop:
        return "completed"
    each = [_of_one(state, loop) for loop in loops]
    if common and "completed" in each:  # it completed, and then could not be confirmed
        return "failed" if chosen is not None else "interrupted"
    return next((one for one in WORST_FIRST if one in each), "interrupted")


def _of_one(state: FleetState, loop: LoopState) -> Outcome:
    if _is_missing(loop):
        return "failed"
    if loop.status == "ended" and loop.outcome is not None:
        return _told(state, loop, loop.outcome)
    if loop.status == "skipped":
        if loop.aborted:
            return "aborted"
        if state.budget_percent:
            return "limit_reached"
        return "interrupted" if loop.spec.after else "failed"  # the loops it comes after count
    return "interrupted"


def _is_missing(loop: LoopState) -> bool:
    """Whether it completed, and its work is no branch."""
    return loop.outcome == "completed" and bool(loop.not_collected)


def _told(state: FleetState, loop: LoopState, outcome: Outcome) -> Outcome:
    """A loop that was interrupted has failed, unless somebody, or the budget, has stopped it."""
    if outcome != "interrupted" or state.stopping is not None:
        return outcome
    if state.budget_percent:
        return "limit_reached"
    return "interrupted" if loop.stop_asked else "failed"


def _busy(state: FleetState, loop: LoopState) -> bool:
    on_the_way = loop.placed or loop.collecting or loop.verifying
    return on_the_way or awaits_collection(state, loop)


def _reason(state: FleetState) -> str:
    all_of_them = objectives(state)
    done = sum(
        outcome == "completed" or (name in state.loops and _is_missing(state.loops[name]))
        for name, outcome in all_of_them.items()
    )
    said = f"{done} of {count(len(all_of_them), 'objective')} completed"
    if left := [loop for loop in state.loops.values() if loop.not_collected]:
        said = f"{said}, but the work of {named(left)} could not be collected"
    if state.stopping is not None:
        done_by = f"{'aborted' if state.stopping.abort else 'stopped'} by"
        said = f"{done_by} {who_words(state.stopping.by)}: {said}"
    budget = state.plan.budget_usd
    if budget is None or not state.budget_percent:
        return said
    over = money(state.spent_usd - budget) if state.spent_usd > budget else money(0.0)
    used = f"{said}, {money(state.spent_usd)} of {money(budget)} used"
    return used if over == money(0.0) else f"{used}, {over} more than the budget"
