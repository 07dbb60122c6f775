"""Linear mapping of values to rows, so that a label is in the row of its value. Pure."""

from collections.abc import Iterable
from math import ceil, floor, isfinite
from typing import NamedTuple

MIN_RANGE = 8.0
"""Smallest range in points; below it, the noise of single tests would look dramatic."""
SEEN_SHARE = 8
"""Measurements fill at least 1/8 of the height; a forecast gets the rest."""
DOTS = 4
"""Rows of dots per row of cells."""


def within(points: float) -> float:
    """Clamp points to 0-100; infinity and NaN become 0."""
    return min(100.0, max(0.0, points)) if isfinite(points) else 0.0


class Scale(NamedTuple):
    """A range of values over rows; the highest value is at the top of row 0."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """Return the height above the lower end, 0-1; values outside the range are clamped."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def dot(self, value: float, rows: int) -> int:
        """Return the row of dots, counted from the top."""
        return floor((1 - self.share(value)) * (rows * DOTS - 1) + 0.5)

    def row(self, value: float, rows: int) -> int:
        """Return the row of cells, counted from the top."""
        return self.dot(value, rows) // DOTS


def seen(readings: Iterable[float], ahead: float | None = None) -> Scale:
    """Return the range of these points, 0-100, at least `MIN_RANGE` wide.

    It extends up to `ahead`, the end of a forecast, as far as `SEEN_SHARE` allows.
    """
    drawn = [within(points) for points in readings] or [0.0]
    low, high = min(drawn), max(drawn)
    if ahead is not None and ahead > high:
        high = min(ahead, low + SEEN_SHARE * max(high - low, MIN_RANGE / 4))
    if high - low < MIN_RANGE:
        middle = (low + high) / 2
        low = floor(min(max(0.0, middle - MIN_RANGE / 2), 100 - MIN_RANGE))
        high = max(low + MIN_RANGE, min(100.0, ceil(max(high, middle + MIN_RANGE / 2))))
    return Scale(low, high)
