"""Decide which work is collected, which of several attempts wins, and how the fleet ends."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from ralph_tui.events.base import EPOCH
from ralph_tui.events.run import Outcome
from ralph_tui.fleet import events as ev
from ralph_tui.fleet.decisions.continuing import LOST, is_unwanted, must_run_again
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.loop_state import LoopState
from ralph_tui.fleet.state import FleetState, absent_until
from ralph_tui.fleet.wording import name_loops
from ralph_tui.text.format import count, money
from ralph_tui.text.terms import sender_label


def collect_loops(state: FleetState, now: datetime) -> Iterator[FleetEvent]:
    """Decide which ended loops to collect; wait for absent hosts until their lease ends."""
    for loop in state.loops.values():
        if not awaits_collection(state, loop) or loop.collecting:
            continue
        host = state.hosts.get(loop.host)
        if host is not None and host.here:
            yield ev.CollectionAsked(loop=loop.spec.id)
        elif host is None or is_unwanted(state, loop) or now >= absent_until(state, host):
            yield ev.CollectionFailed(loop=loop.spec.id, reason=_work_place(loop))


def _work_place(loop: LoopState) -> str:
    on = f" on {loop.machine}" if loop.machine and loop.machine != loop.host else ""
    where = f": its work stays there, in {loop.folder}" if loop.folder else ""
    return f"{LOST}, {loop.host}{on}{where}"


def awaits_collection(state: FleetState, loop: LoopState) -> bool:
    """True if there is work still to be collected."""
    began = loop.status == "ended" and bool(loop.run_id)
    return (
        began and not loop.collected and not loop.not_collected and not must_run_again(state, loop)
    )


def is_settled(state: FleetState, loop: LoopState) -> bool:
    """True if the loop has ended for good and its work is no longer awaited."""
    return loop.over and not must_run_again(state, loop) and not awaits_collection(state, loop)


def choose_winners(state: FleetState) -> Iterator[FleetEvent]:
    """For each objective with several attempts, yield the next to verify or the winner."""
    for common, attempts in state.tried.items():
        if common not in state.chosen:
            decision = _choose_winner(state, common, attempts)
            if decision is not None:
                yield decision


def is_being_decided(state: FleetState, common: str) -> bool:
    """True if an attempt may already have won, so no other attempt should start."""
    attempts = state.attempts(common)
    return _choice(attempts) == "first" and any(_may_win(loop) for loop in attempts)


def rank_attempts(attempts: Sequence[LoopState]) -> list[LoopState]:
    """Return the completed attempts, the best first; unknown values rank last."""
    done = [loop for loop in attempts if loop.outcome == "completed"]
    if _choice(attempts) == "first":
        return sorted(done, key=lambda loop: loop.ended_at or EPOCH)
    return sorted(done, key=_sort_key)


def _choose_winner(state: FleetState, common: str, attempts: list[LoopState]) -> FleetEvent | None:
    open_ = [one for one in attempts if not one.over or must_run_again(state, one)]
    best = rank_attempts(attempts)
    if _choice(attempts) == "all" and (open_ or any(awaits_collection(state, one) for one in best)):
        return None  # the number of lines that each changed is known only after collection
    for place, loop in enumerate(best):
        if not _may_win(loop):
            continue
        if not loop.collected or loop.verifying:
            return None  # its work is being collected or verified
        if loop.spec.command is not None and loop.verified is None:
            return ev.VerificationBegan(loop=loop.spec.id)
        return ev.WinnerChosen(
            tries_at=common, loop=loop.spec.id, reason=_explain_best(attempts, best, place)
        )
    if open_ or state.stopping is not None:
        return None
    return ev.WinnerChosen(tries_at=common, loop="", reason=_explain_none(attempts, best))


def _may_win(loop: LoopState) -> bool:
    done = loop.status == "ended" and loop.outcome == "completed"
    return done and loop.verified is not False and not loop.not_collected


def _choice(attempts: Sequence[LoopState]) -> str:
    return attempts[0].spec.choice if attempts else "first"


def _sort_key(loop: LoopState) -> tuple[float, float, float]:
    unknown = float("inf")
    completion = loop.completions[-1] if loop.completions else 0.0
    lines = unknown if loop.changed_lines is None else float(loop.changed_lines)
    return -completion, lines, unknown if loop.cost_usd is None else loop.spent_usd


def _explain_best(attempts: Sequence[LoopState], best: Sequence[LoopState], place: int) -> str:
    loop = best[place]
    passed_over = [one.spec.id for one in best[:place]]
    but = f"; {', '.join(passed_over)} could not be confirmed" if passed_over else ""
    if _choice(attempts) == "first":
        return f"it completed first{but}"
    rest = best[place + 1 :]
    if not rest:
        return (
            f"it is the only one that completed{but}" if not passed_over else f"it completed{but}"
        )
    mine, next_one = _sort_key(loop), _sort_key(rest[0])
    if mine[0] != next_one[0]:
        return f"its completion is the best of {len(best)}{but}"
    if mine[1] != next_one[1]:
        level, most = 1, f"changed the fewest lines, {loop.changed_lines}"
        more = f"changed fewer lines, {loop.changed_lines}"
    elif mine[2] != next_one[2]:
        level, most, more = 2, "cost the least", "cost less"
    else:
        level, most, more = 3, "comes first", "comes first"
    equal = [one.spec.id for one in rest if _sort_key(one)[:level] == mine[:level]]
    if len(equal) < len(rest):
        return f"it is as good as {', '.join(equal)}, and it {more}{but}"
    alike = " equally well" if level == 3 else ""
    return f"{len(best)} completed{alike}, and it {most}{but}"


def _explain_none(attempts: Sequence[LoopState], best: Sequence[LoopState]) -> str:
    if not best:
        return f"none of {len(attempts)} attempts completed"
    why = "; ".join(f"{one.spec.id}: {_explain_failure(one)}" for one in best)
    return f"no completed attempt could be confirmed: {why}"


def _explain_failure(loop: LoopState) -> str:
    return loop.not_collected or loop.verified_why or "its command failed in a fresh clone"


WORST_FIRST: Sequence[Outcome] = ("failed", "limit_reached", "aborted", "interrupted", "completed")
"""Outcomes by priority: the fleet's outcome is the first of these that any objective has."""


def finish_fleet(state: FleetState) -> Iterator[FleetEvent]:
    """Yield the fleet's end if no loop is running, being collected or waiting in the queue."""
    loops = state.loops.values()
    if any(_is_busy(state, loop) for loop in loops):
        return
    if state.stopping is None and any(not loop.over for loop in loops):
        return
    outcome = fleet_outcome(state)
    reason = _end_reason(state, outcome)
    yield ev.FleetFinished(outcome=outcome, reason=reason, spent_usd=state.spent_usd or None)


def fleet_outcome(state: FleetState) -> Outcome:
    """Return the fleet's outcome: completed if every objective is; a chosen attempt counts.

    If the user's stop kept an objective from completing, that is its outcome, whatever other loops
    did. Completed work that could not be collected is not on a branch to merge, so it counts as
    failed.
    """
    if state.stopping is not None and state.stopping.abort:
        return "aborted"
    outcomes = objective_outcomes(state)
    if state.stopping is not None and any(
        outcome == "interrupted" or (outcome != "completed" and _is_cut_short(state, name))
        for name, outcome in outcomes.items()
    ):
        return "interrupted"
    return next((one for one in WORST_FIRST if one in outcomes.values()), "completed")


def _is_cut_short(state: FleetState, objective: str) -> bool:
    """True if an attempt at the objective was interrupted or has not begun."""
    attempts = state.attempts(objective)
    return any(_loop_outcome(state, loop) == "interrupted" for loop in attempts)


def objective_outcomes(state: FleetState) -> dict[str, Outcome]:
    """Return the outcome of each objective, by its loop's id or the name its attempts share."""
    found: dict[str, list[LoopState]] = {}
    for loop in state.loops.values():
        found.setdefault(loop.spec.tries_at or loop.spec.id, []).append(loop)
    return {name: _one_outcome(state, loops) for name, loops in found.items()}


def _one_outcome(state: FleetState, loops: list[LoopState]) -> Outcome:
    common = loops[0].spec.tries_at
    chosen = state.chosen.get(common) if common else None
    if chosen is not None and chosen.loop:
        return "completed"
    each = [_loop_outcome(state, loop) for loop in loops]
    if common and "completed" in each:  # it completed, but could not be confirmed
        return "failed" if chosen is not None else "interrupted"
    return next((one for one in WORST_FIRST if one in each), "interrupted")


def _loop_outcome(state: FleetState, loop: LoopState) -> Outcome:
    if _is_missing(loop):
        return "failed"
    if loop.status == "ended" and loop.outcome is not None:
        return _counted_outcome(state, loop, loop.outcome)
    if loop.status == "skipped":
        if loop.aborted:
            return "aborted"
        if state.budget_percent:
            return "limit_reached"
        return "interrupted" if loop.spec.after else "failed"  # depends on the loops it waits for
    return "interrupted"


def _is_missing(loop: LoopState) -> bool:
    """True if it completed but its work is not on a branch."""
    return loop.outcome == "completed" and bool(loop.not_collected)


def _counted_outcome(state: FleetState, loop: LoopState, outcome: Outcome) -> Outcome:
    """Count an interrupted loop as failed, unless the user or the budget stopped it."""
    if outcome != "interrupted" or state.stopping is not None:
        return outcome
    if state.budget_percent:
        return "limit_reached"
    return "interrupted" if loop.stop_asked else "failed"


def _is_busy(state: FleetState, loop: LoopState) -> bool:
    on_the_way = loop.placed or loop.collecting or loop.verifying
    return on_the_way or awaits_collection(state, loop)


def _end_reason(state: FleetState, outcome: Outcome) -> str:
    all_of_them = objective_outcomes(state)
    done = sum(
        one == "completed" or (name in state.loops and _is_missing(state.loops[name]))
        for name, one in all_of_them.items()
    )
    done_text = f"{done} of {count(len(all_of_them), 'objective')} completed"
    if left := [loop for loop in state.loops.values() if loop.not_collected]:
        done_text = f"{done_text}, but the work of {name_loops(left)} could not be collected"
    if state.stopping is not None and (state.stopping.abort or outcome == "interrupted"):
        done_by = f"{'aborted' if state.stopping.abort else 'stopped'} by"
        done_text = f"{done_by} {sender_label(state.stopping.by)}: {done_text}"
    budget = state.plan.budget_usd
    if budget is None or not state.budget_percent:
        return done_text
    over = money(state.spent_usd - budget) if state.spent_usd > budget else money(0.0)
    used = f"{done_text}, {money(state.spent_usd)} of {money(budget)} used"
    return used if over == money(0.0) else f"{used}, {over} more than the budget"
