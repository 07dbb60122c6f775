"""The time of a replay: that of the run, its silences shortened.

Rule: a longer silence passes faster; it is never jumped over, so that clocks, ages and countdowns
run through it. A long run is shortened further, to half a minute at the highest speed.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise

WHOLE_S = 30.0
"""Seconds in which a replay that plays from its beginning shows the run."""
TOP_SPEED = 64
LONGEST_GAP_S = 2.0
"""Seconds that a silence lasts at most, at the speed of life."""
TOLD_GAP_S = 60.0
"""A silence of so many seconds is called a wait."""


class FilmTime:
    """Seconds of film at each event; the list that it is given may grow."""

    def __init__(self, at: list[float]) -> None:
        """`at`: seconds since the epoch, of each event."""
        self._at = at
        self._longest = _longest(at)
        self._times: list[float] = []
        self.follow()

    def follow(self) -> None:
        """Take in what has changed in the list."""
        del self._times[len(self._at) :]
        first = max(1, len(self._times))
        gaps = (
            min(self._longest, max(0.0, later - before))
            for before, later in zip(self._at[first - 1 :], self._at[first:], strict=False)
        )
        if not self._times:
            self._times = list(accumulate(gaps, initial=0.0)) if self._at else []
        else:
            self._times += list(accumulate(gaps, initial=self._times[-1]))[1:]

    def of(self, position: int) -> float:
        """Seconds of film until an event, counted from 1."""
        return self._times[position - 1] if self._times else 0.0

    def position(self, seconds: float, length: int) -> int:
        """The last event that has happened by then, of the first `length`."""
        return min(length, max(1, bisect_right(self._times, seconds, hi=length)))

    def clock(self, position: int, seconds: float) -> float:
        """What a clock in the run shows `seconds` of film after an event: seconds of the epoch."""
        if not 0 < position <= len(self._times):
            return 0.0
        before = self._at[position - 1]
        if position == len(self._times):
            return before + min(seconds, LONGEST_GAP_S)
        film, run = self._gap(position)
        return before + (run * min(1.0, seconds / film) if film else 0.0)

    def wait(self, position: int) -> float:
        """Seconds of the wait that begins with an event, where it is shown shortened; else 0."""
        if not 0 < position < len(self._times):
            return 0.0
        film, run = self._gap(position)
        return run if run >= TOLD_GAP_S and run > 2 * film else 0.0

    def _gap(self, position: int) -> tuple[float, float]:
        """Seconds until the next event, of film and of the run."""
        film = self._times[position] - self._times[position - 1]
        return film, max(0.0, self._at[position] - self._at[position - 1])


def _longest(at: Sequence[float]) -> float:
    """Seconds that a silence of this run lasts at most."""
    gaps = [min(LONGEST_GAP_S, b - a) for a, b in pairwise(at) if b > a]
    room = TOP_SPEED * WHOLE_S
    if sum(gaps) <= room:
        return LONGEST_GAP_S
    shorter, left = 0.0, len(gaps)
    for gap in sorted(gaps):
        if shorter + gap * left > room:
            break
        shorter += gap
        left -= 1
    return (room - shorter) / left
