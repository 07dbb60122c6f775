"""Hosts that are not there: until when they are waited for, and which one has the tree of a loop.

Pure.
"""

from datetime import datetime, timedelta

from ralph_tui.fleet.state import FleetState, HostState, LoopState


def margin_s(lease_s: float) -> float:
    """Seconds behind the lease: an orderly stop takes some, and so may finding out."""
    return min(60.0, max(10.0, lease_s / 10))


def gone_at(state: FleetState, host: HostState) -> datetime:
    """From then on nothing runs on a host that is not there, and it is waited for no longer.

    One that has left has stopped its loops: only that it may come back is waited for.
    """
    lease = state.plan.lease_s
    return host.since + timedelta(seconds=margin_s(lease) + (0.0 if host.left else lease))


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
