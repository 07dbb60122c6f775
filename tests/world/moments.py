"""Moments at which a run can be cut off or receive a request."""

from collections.abc import Sequence
from itertools import pairwise

from ralph_tui.events import Event


def moments(events: Sequence[Event]) -> list[int]:
    """Event counts after which a run is in a state of its own.

    Each pair of successive event kinds gives two, its first and its last occurrence.
    """
    places: dict[tuple[str, str], tuple[int, int]] = {}
    for number, (before, after) in enumerate(pairwise(events), start=1):
        place = (before.kind, after.kind)
        first, _ = places.get(place, (number, number))
        places[place] = (first, number)
    return sorted({number for both in places.values() for number in both})
