"""What a fleet does next, decided from how it stands and what time it is. Pure.

Usage: carry out what ``decide(state, now)`` gives, one after the other, record the event of each,
and ask again until it gives nothing; then when an event has been folded, or when time has passed:
at least once a second.
"""

from collections.abc import Callable, Iterator
from datetime import datetime

from ralph_tui.fleet.decisions.accounts import limits
from ralph_tui.fleet.decisions.accounts import patience_s as patience_s
from ralph_tui.fleet.decisions.budget import reached
from ralph_tui.fleet.decisions.ending import finished
from ralph_tui.fleet.decisions.leases import interrupted_loops, lost_loops
from ralph_tui.fleet.decisions.queue import placed
from ralph_tui.fleet.decisions.results import collected, winners
from ralph_tui.fleet.decisions.stops import never_begun, stopped
from ralph_tui.fleet.decisions.values import *  # noqa: F403
from ralph_tui.fleet.decisions.values import Decision as Decision
from ralph_tui.fleet.state import FleetState


def decide(state: FleetState, now: datetime) -> list[Decision]:
    """What is to be done now, in order; empty: nothing until something happens, or time passes.

    The decisions of one call are of one subject, and do not contradict each other: what follows
    from them is decided by the next call.
    """
    if state.started is None or state.finished is not None:
        return []
    subjects: tuple[Callable[[], Iterator[Decision]], ...] = (
        lambda: reached(state),
        lambda: lost_loops(state, now),
        lambda: winners(state),
        lambda: stopped(state),
        lambda: interrupted_loops(state, now),
        lambda: never_begun(state),
        lambda: collected(state, now),
        lambda: limits(state, now),
        lambda: placed(state, now),
        lambda: finished(state),
    )
    return next((found for subject in subjects if (found := list(subject()))), [])
