"""Where a run can be cut off, or asked for something."""

from collections.abc import Sequence
from itertools import pairwise

from ralph_tui.events import Event


def moments(events: Sequence[Event]) -> list[int]:
    """Numbers of events after which a run stands at a place of its own.

    Between two kinds of events that follow each other it stands once an iteration: the first time
    and the last time are looked at.
    """
    places: dict[tuple[str, str], tuple[int, int]] = {}
    for number, (before, after) in enumerate(pairwise(events), start=1):
        place = (before.kind, after.kind)
        first, _ = places.get(place, (number, number))
        places[place] = (first, number)
    return sorted({number for both in places.values() for number in both})
