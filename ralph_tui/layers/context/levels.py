"""How full a context window is, in four levels.

L0 continues, L1 warns, L2 hands off, L3 stops at once. Percentages are based on the tokens of the
last main-thread message. They are displayed rounded down, so that no value seems to have reached a
threshold that it has not reached. Standard library only, because the hook program runs this too.
"""

from typing import Literal, NamedTuple

from ralph_tui.text.format import percent_of

__all__ = ["DEFAULT", "LEVELS", "Level", "Thresholds", "above", "level_of", "percent_of", "whole"]

Level = Literal["L0", "L1", "L2", "L3"]
LEVELS: tuple[Level, ...] = ("L0", "L1", "L2", "L3")
"""In ascending order."""


class Thresholds(NamedTuple):
    """Percentages of the window at which each level starts."""

    warn: float = 70.0
    checkpoint: float = 85.0
    stop: float = 95.0


DEFAULT = Thresholds()


def whole(percent: float) -> int:
    """Return the percentage for display, rounded down."""
    return int(percent)


def level_of(percent: float | None, thresholds: Thresholds = DEFAULT) -> Level:
    """Return the highest level reached; the lowest if the percentage is unknown."""
    if percent is None:
        return "L0"
    if percent >= thresholds.stop:
        return "L3"
    if percent >= thresholds.checkpoint:
        return "L2"
    return "L1" if percent >= thresholds.warn else "L0"


def above(level: Level, other: Level) -> bool:
    """True if `level` is higher than `other`."""
    return LEVELS.index(level) > LEVELS.index(other)
