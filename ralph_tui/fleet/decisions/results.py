"""What is fetched of ended loops, and which of several tries counts."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from ralph_tui.events.base import EPOCH
from ralph_tui.fleet.decisions.leases import LOST, goes_on, unwanted
from ralph_tui.fleet.decisions.values import (
    ChooseWinner,
    CollectLoop,
    Decision,
    LeaveWork,
    VerifyWinner,
)
from ralph_tui.fleet.lost_hosts import gone_at
from ralph_tui.fleet.state import FleetState, LoopState


def collected(state: FleetState, now: datetime) -> Iterator[Decision]:
    """The work of loops that have ended: asked for where their host is there, else waited for."""
    for loop in state.loops.values():
        if not awaits_collection(state, loop) or loop.collecting:
            continue
        host = state.hosts.get(loop.host)
        if host is not None and host.here:
            yield CollectLoop(loop.spec.id)
        elif host is None or unwanted(state, loop) or now >= gone_at(state, host):
            yield LeaveWork(loop.spec.id, _where_left(loop))


def _where_left(loop: LoopState) -> str:
    on = f" on {loop.machine}" if loop.machine and loop.machine != loop.host else ""
    where = f": its work stays there, in {loop.folder}" if loop.folder else ""
    return f"{LOST}, {loop.host}{on}{where}"


def awaits_collection(state: FleetState, loop: LoopState) -> bool:
    """Whether there is work that is neither fetched nor given up."""
    began = loop.status == "ended" and bool(loop.run_id)
    return began and not loop.collected and not loop.not_collected and not goes_on(state, loop)


def winners(state: FleetState) -> Iterator[Decision]:
    """For each objective with several tries: the next to be verified, or the winner."""
    for common, tries in state.tried.items():
        if common not in state.chosen:
            decision = _winner(state, common, tries)
            if decision is not None:
                yield decision


def being_decided(state: FleetState, common: str) -> bool:
    """Whether one try may have won already: no further one is begun."""
    tries = state.tries(common)
    return _choice(tries) == "first" and any(_may_win(loop) for loop in tries)


def ranked(tries: Sequence[LoopState]) -> list[LoopState]:
    """The completed ones, the best first; what is not known ranks last."""
    done = [loop for loop in tries if loop.outcome == "completed"]
    if _choice(tries) == "first":
        return sorted(done, key=lambda loop: loop.ended_at or EPOCH)
    return sorted(done, key=_worth)


def _winner(state: FleetState, common: str, tries: list[LoopState]) -> Decision | None:
    open_ = [one for one in tries if not one.over or goes_on(state, one)]
    best = ranked(tries)
    if _choice(tries) == "all" and (open_ or any(awaits_collection(state, one) for one in best)):
        return None  # how much each has changed is known when it is collected
    for place, loop in enumerate(best):
        if not _may_win(loop):
            continue
        if not loop.collected or loop.verifying:
            return None  # its work is on the way, or being looked at
        if loop.spec.command is not None and loop.verified is None:
            return VerifyWinner(loop.spec.id)
        return ChooseWinner(common, loop.spec.id, _why_best(tries, best, place))
    if open_ or state.stopping is not None:
        return None
    return ChooseWinner(common, "", _why_none(tries, best))


def _may_win(loop: LoopState) -> bool:
    done = loop.status == "ended" and loop.outcome == "completed"
    return done and loop.verified is not False and not loop.not_collected


def _choice(tries: Sequence[LoopState]) -> str:
    return tries[0].spec.choice if tries else "first"


def _worth(loop: LoopState) -> tuple[float, float, float]:
    unknown = float("inf")
    completion = loop.completions[-1] if loop.completions else 0.0
    lines = unknown if loop.changed_lines is None else float(loop.changed_lines)
    return -completion, lines, unknown if loop.cost_usd is None else loop.spent_usd


def _why_best(tries: Sequence[LoopState], best: Sequence[LoopState], place: int) -> str:
    loop = best[place]
    passed_over = [one.spec.id for one in best[:place]]
    but = f"; not {', '.join(passed_over)}: see there" if passed_over else ""
    if _choice(tries) == "first":
        return f"it completed first{but}"
    rest = best[place + 1 :]
    if not rest:
        return f"only it completed{but}" if not passed_over else f"it completed{but}"
    mine, next_one = _worth(loop), _worth(rest[0])
    if mine[0] != next_one[0]:
        return f"its completion is the best of {len(best)}{but}"
    if mine[1] != next_one[1]:
        return f"{len(best)} completed, and it changed the fewest lines, {loop.changed_lines}{but}"
    if mine[2] != next_one[2]:
        return f"{len(best)} completed, and it cost the least{but}"
    return f"{len(best)} completed alike, and it comes first{but}"


def _why_none(tries: Sequence[LoopState], best: Sequence[LoopState]) -> str:
    if not best:
        return f"none of {len(tries)} attempts completed"
    why = "; ".join(f"{one.spec.id}: {_why_not_it(one)}" for one in best)
    return f"none that completed could be confirmed: {why}"


def _why_not_it(loop: LoopState) -> str:
    return loop.not_collected or loop.verified_why or "its command failed in a fresh clone"
