"""How full a context window is, in four levels.

L0 works on, L1 warns, L2 hands over, L3 stops now. Percentages count from the tokens of the last
main-thread message; they are told rounded down, so that none seems to have reached a threshold that
it has not. Standard library only: the hook program runs it too. Pure.
"""

from typing import Literal, NamedTuple

from ralph_tui.text.format import percent_of

__all__ = ["DEFAULT", "LEVELS", "Level", "Thresholds", "above", "level_of", "percent_of", "whole"]

Level = Literal["L0", "L1", "L2", "L3"]
LEVELS: tuple[Level, ...] = ("L0", "L1", "L2", "L3")
"""The lowest first."""


class Thresholds(NamedTuple):
    """Percent of the window from which on a level is reached."""

    warn: float = 70.0
    checkpoint: float = 85.0
    stop: float = 95.0


DEFAULT = Thresholds()


def whole(percent: float) -> int:
    """The percentage as people read it."""
    return int(percent)


def level_of(percent: float | None, thresholds: Thresholds = DEFAULT) -> Level:
    """The highest level that is reached; the lowest where nothing is known."""
    if percent is None:
        return "L0"
    if percent >= thresholds.stop:
        return "L3"
    if percent >= thresholds.checkpoint:
        return "L2"
    return "L1" if percent >= thresholds.warn else "L0"


def above(level: Level, other: Level) -> bool:
    """Whether a level is higher than another."""
    return LEVELS.index(level) > LEVELS.index(other)
