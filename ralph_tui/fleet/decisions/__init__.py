"""What a fleet does next, decided from how it stands and what time it is. Pure.

What is decided is a fact of the fleet: record the events that ``decide(state, now)`` gives, one
after the other, and carry each out (`runtime.carrying_out`); ask again until it gives none, then
when an event has been folded, or when time has passed: at least once a second. On the fold of an
event the same is not decided again: the event is the memory.
"""

from collections.abc import Callable, Iterator
from datetime import datetime

from ralph_tui.fleet.decisions.going_on import (
    interrupted_loops,
    lost_loops,
    never_begun,
    reached,
    stopped,
)
from ralph_tui.fleet.decisions.placing import limits, placed
from ralph_tui.fleet.decisions.results import collected, finished, winners
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.state import FleetState


def decide(state: FleetState, now: datetime) -> list[FleetEvent]:
    """What is to be done now, in order; empty: nothing until something happens, or time passes.

    The decisions of one call are of one subject, and do not contradict each other: what follows
    from them is decided by the next call.
    """
    if state.started is None or state.finished is not None:
        return []
    subjects: tuple[Callable[[], Iterator[FleetEvent]], ...] = (
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
