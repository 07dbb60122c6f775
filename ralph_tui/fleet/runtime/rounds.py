"""When the engine of a fleet asks what to do next.

Rule: when something has changed, and once a second, for time alone changes some of it (a lease, a
hold, the turn of a start). It takes the longer the more loops there are, so that after each round
it rests in proportion: of six loops for a millisecond, of a thousand for a twentieth of a second.
What they tell meanwhile is decided about at once.
"""

from collections.abc import Callable

LOOK_S = 1.0
"""The longest time between two rounds."""
RESTS = 20
"""So many times as long as it has taken to see that there is nothing to do."""


class Rounds:
    """Used by the engine's thread alone."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        """The first round is due at once."""
        self._monotonic = monotonic
        self._changed = True
        self._ended_at = self._rested_at = monotonic()

    def change(self) -> None:
        """Something has happened that may have to be decided about."""
        self._changed = True

    def due_in(self) -> float:
        """Seconds until the next round; 0: now."""
        due = self._rested_at if self._changed else self._ended_at + LOOK_S
        return max(0.0, due - self._monotonic())

    def end(self, took: float) -> None:
        """One is over; to see at its end that nothing is left to do took so many seconds of CPU."""
        self._changed = False
        self._ended_at = self._monotonic()
        self._rested_at = self._ended_at + min(LOOK_S, RESTS * took)
