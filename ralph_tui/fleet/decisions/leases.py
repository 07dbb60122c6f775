"""When a host that is lost certainly runs nothing more, and what becomes of its loops.

Rule: a loop is never started elsewhere before its host's lease and a margin have passed since the
host was lost: until then it may go on there, and come back.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from ralph_tui.fleet.decisions.values import (
    CloseLoop,
    Decision,
    LoseLoop,
    RequeueLoop,
)
from ralph_tui.fleet.state import FleetState, HostState, LoopState

MOST_RESUMES = 2
"""So often a loop whose process was gone goes on in its tree."""
MOST_ATTEMPTS = 3
"""So many trees a loop gets that loses its host."""
LOST = "its host is lost"
STOPPED = "its host was stopped, and has not come back"


def margin_s(lease_s: float) -> float:
    """Seconds behind the lease: an orderly stop takes some, and so may finding out."""
    return min(60.0, max(10.0, lease_s / 10))


def gone_at(state: FleetState, host: HostState) -> datetime:
    """From then on nothing runs on a host that is not there, and it is waited for no longer.

    One that has left has stopped its loops: only that it may come back is waited for.
    """
    lease = state.plan.lease_s
    return host.since + timedelta(seconds=margin_s(lease) + (0.0 if host.left else lease))


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
            resume = not loop.never_began
            yield RequeueLoop(loop.spec.id, loop.reason or "its process was gone", resume)
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
    if loop.again:
        return True
    if loop.never_began:
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


def host_with_tree(state: FleetState, loop: LoopState) -> str:
    """The host that is there and has the tree of a loop, whatever it is called; empty: none."""
    for host in state.hosts.values():
        if host.here and has_tree(loop, host.name, host.home):
            return host.name
    return ""


def has_tree(loop: LoopState, host: str, home: str) -> bool:
    """Whether a host of this name and home has the tree of a loop.

    Hosts of one machine have each their own trees, and another machine may use a name again.
    """
    return home == loop.home if loop.home else host == loop.host


def _after_loss(state: FleetState, loop: LoopState) -> Decision:
    name = loop.spec.id
    if unwanted(state, loop) or state.stopping is not None or loop.stop_asked:
        return CloseLoop(name, "interrupted", LOST)
    if state.budget_percent:
        return CloseLoop(name, "limit_reached", f"{LOST}, and the fleet's budget is nearly used")
    if _attempts(loop) >= MOST_ATTEMPTS:
        return CloseLoop(name, "failed", f"{LOST}, and it was so {_attempts(loop)} times")
    resume = bool(loop.run_id and host_with_tree(state, loop) and loop.resumes < MOST_RESUMES)
    return RequeueLoop(name, LOST, resume)


def _tree_is_gone(state: FleetState, loop: LoopState, now: datetime) -> bool:
    """Whether the machine that has its tree does not come back."""
    host = state.hosts.get(loop.host)
    return host is None or (not host_with_tree(state, loop) and now >= gone_at(state, host))


def _until(loop: LoopState) -> datetime:
    assert loop.lost_until is not None
    return loop.lost_until
