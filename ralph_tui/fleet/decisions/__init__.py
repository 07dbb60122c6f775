"""Decide a fleet's next steps from its state and the time. Pure.

Each decision is an event of the fleet. Record the events that ``decide(state, now)`` returns, one
after the other, and carry out each (`runtime.carrying_out`). Call it again until it returns none.
Then call it when an event has been folded, and at least once a second. Once an event is folded, the
same decision is not made again: the event is the memory.
"""

from collections.abc import Callable, Iterator
from datetime import datetime

from ralph_tui.fleet.decisions.continuing import (
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
    """Return the events to record now, in order; empty until something happens or time passes.

    The decisions of one call have one subject and do not contradict each other. The next call
    decides on their consequences.
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
