"""When a host that is lost certainly runs nothing more, and what becomes of its loops.

Rule: a loop is never started elsewhere before its host's lease and a margin have passed since the
host was lost: until then it may go on there, and come back.
"""

from collections.abc import Iterator
from datetime import datetime

from ralph_tui.fleet.decisions.values import (
    CloseLoop,
    Decision,
    LoseLoop,
    RequeueLoop,
)
from ralph_tui.fleet.lost_hosts import gone_at, host_with_tree
from ralph_tui.fleet.state import FleetState, LoopState

MOST_RESUMES = 2
"""So often a loop whose process was gone goes on in its tree."""
MOST_ATTEMPTS = 3
"""So many trees a loop gets that loses its host."""
LOST = "its host is lost"
PRUNED = "its clone was removed by 'ralph-tui fleet prune'"
STOPPED = "its host was stopped, and has not come back"


def lost_loops(state: FleetState, now: datetime) -> Iterator[Decision]:
    """Loops whose host is lost: first that they are, then what becomes of them."""
    for loop in state.loops.values():
        host = state.hosts.get(loop.host)
        if loop.status in ("placing", "running") and host is not None and not host.here:
            yield LoseLoop(loop.spec.id, gone_at(state, host))
        elif loop.status == "lost" and (unwanted(state, loop) or now >= _until(loop)):
            yield _after_loss(state, loop)


def interrupted_loops(state: FleetState, now: datetime) -> Iterator[Decision]:
    """Loops whose process was gone, and that nobody has stopped: they go on."""
    for loop in state.loops.values():
        if goes_on(state, loop):
            resume = not loop.never_began and not loop.tree_removed
            why = PRUNED if loop.tree_removed else loop.reason or "its process was gone"
            yield RequeueLoop(loop.spec.id, why, resume)
        elif loop.status == "queued" and loop.resuming and loop.tree_removed:
            yield RequeueLoop(loop.spec.id, PRUNED, resume=False)
        elif loop.status == "queued" and loop.resuming and _tree_is_gone(state, loop, now):
            host = state.hosts.get(loop.host)
            why = STOPPED if host is not None and host.left else LOST
            yield RequeueLoop(loop.spec.id, why, resume=False)


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


def _after_loss(state: FleetState, loop: LoopState) -> Decision:
    name = loop.spec.id
    if unwanted(state, loop) or state.stopping is not None or loop.stop_asked:
        return CloseLoop(name, "interrupted", LOST)
    if state.budget_percent:
        return CloseLoop(name, "limit_reached", f"{LOST}, and the fleet's budget is nearly used")
    if _attempts(loop) >= MOST_ATTEMPTS:
        return CloseLoop(name, "failed", f"{LOST}, and it was so {_attempts(loop)} times")
    if loop.tree_removed:
        return RequeueLoop(name, PRUNED, resume=False)
    resume = bool(loop.run_id and host_with_tree(state, loop) and loop.resumes < MOST_RESUMES)
    return RequeueLoop(name, LOST, resume)


def _tree_is_gone(state: FleetState, loop: LoopState, now: datetime) -> bool:
    """Whether the machine that has its tree does not come back."""
    host = state.hosts.get(loop.host)
    return host is None or (not host_with_tree(state, loop) and now >= gone_at(state, host))


def _until(loop: LoopState) -> datetime:
    assert loop.lost_until is not None
    return loop.lost_until
