"""Decide a fleet's next steps from its state and the time. Pure.

Each decision is an event of the fleet. Record the events that ``decide(state, now)`` returns, one
after the other, and carry out each (`runtime.executor`). Call it again until it returns none.
After that, call it whenever an event has been folded, and at least once a second. Once an event has
been folded, the state contains it, so the same decision is not made again.
"""

from collections.abc import Callable, Iterator
from datetime import datetime

from ralph_tui.fleet.decisions.continuing import (
    handle_lost,
    mark_budget,
    requeue_loops,
    skip_loops,
    stop_loops,
)
from ralph_tui.fleet.decisions.placing import handle_limits, place_loops
from ralph_tui.fleet.decisions.results import choose_winners, collect_loops, finish_fleet
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.state import FleetState


def decide(state: FleetState, now: datetime) -> list[FleetEvent]:
    """Return the events to record now, in order; empty until something happens or time passes.

    All decisions of one call concern the same subject and do not contradict each other. The next
    call handles their consequences.
    """
    if state.started is None or state.finished is not None:
        return []
    subjects: tuple[Callable[[], Iterator[FleetEvent]], ...] = (
        lambda: mark_budget(state),
        lambda: handle_lost(state, now),
        lambda: choose_winners(state),
        lambda: stop_loops(state),
        lambda: requeue_loops(state, now),
        lambda: skip_loops(state),
        lambda: collect_loops(state, now),
        lambda: handle_limits(state, now),
        lambda: place_loops(state, now),
        lambda: finish_fleet(state),
    )
    return next((found for subject in subjects if (found := list(subject()))), [])
