"""From values to rows: linear, so that a label stands in the row of its value. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, isfinite

LEAST_RANGE = 8.0
"""Points that a scale spans at least: within them one test more or less is noise, not drama."""
SEEN_SHARE = 8
"""What was measured has at least one part in so many of the height; a forecast has the rest."""
DOTS = 4
"""Rows of dots in a row of cells."""


def within(points: float) -> float:
    """Points as they can be drawn: 0-100, and 0 for what is no number."""
    return min(100.0, max(0.0, points)) if isfinite(points) else 0.0


@dataclass(frozen=True)
class Scale:
    """A range of values over rows; the highest value is the top of row 0."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """How far above the lower end, 0-1; what lies beyond an end stays on it."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def dot(self, value: float, rows: int) -> int:
        """The row of dots, from the top."""
        return floor((1 - self.share(value)) * (rows * DOTS - 1) + 0.5)

    def row(self, value: float, rows: int) -> int:
        """The row of cells, from the top."""
        return self.dot(value, rows) // DOTS


def seen(readings: Iterable[float], ahead: float | None = None) -> Scale:
    """The range of these points, 0-100, at least `LEAST_RANGE` wide.

    It reaches up to `ahead`, where a forecast ends, as far as that leaves the readings their share.
    """
    drawn = [within(points) for points in readings] or [0.0]
    low, high = min(drawn), max(drawn)
    if ahead is not None and ahead > high:
        high = min(ahead, low + SEEN_SHARE * max(high - low, LEAST_RANGE / 4))
    if high - low < LEAST_RANGE:
        middle = (low + high) / 2
        low = floor(min(max(0.0, middle - LEAST_RANGE / 2), 100 - LEAST_RANGE))
        high = max(low + LEAST_RANGE, min(100.0, ceil(max(high, middle + LEAST_RANGE / 2))))
    return Scale(low, high)
