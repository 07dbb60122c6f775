"""Budget classes: how much of a window an item of the plan takes. Pure.

An item's class is told by its tag: a class in brackets (``[complex]``, ``(very complex)``), or its
lines (``~120 lines``, ``~120 LOC``). One without a tag is as the untagged items were that this run
has finished, once there are three of them; until then it is medium. What finished items took also
narrows the range of their class, and never leaves it: a wild number does not rule. Standard library
only.
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

Size = Literal["trivial", "simple", "medium", "complex", "very complex"]
Basis = Literal["tag", "history", "default"]
"""What a class was told by."""
Taken = tuple[Size, Basis, float]
"""A finished item: its class, what told it, and the points of the window that it took."""


class Budget(NamedTuple):
    """A row of the table."""

    size: Size
    lines: int | None
    """The most that an item of it changes; None: any number."""
    low: float
    """Points of the window that it takes at least."""
    high: float
    per_iteration: str
    """How many of them one iteration takes on."""


TABLE = (
    Budget("trivial", 49, 5.0, 10.0, "8-10 items"),
    Budget("simple", 150, 10.0, 20.0, "4-5 items"),
    Budget("medium", 300, 20.0, 40.0, "2-3 items"),
    Budget("complex", None, 40.0, 60.0, "1 item"),
    Budget("very complex", None, 60.0, 100.0, "must be split"),
)
"""The smallest first. That an item is more than complex only its tag can say."""
_TAGGED = TABLE[-1]
BUDGETS: dict[Size, Budget] = {row.size: row for row in TABLE}
DEFAULT: Size = "medium"
ENOUGH = 3
"""Finished items, below which nothing is learned of them."""
RECENT = 20
"""Finished items of a kind that are learned of, the last ones."""
LOW, HIGH = 0.25, 0.9
"""Quantiles of what they took that become the range: few of the next take more."""

_TAG = re.compile(
    r"[\[(]\s*(trivial|simple|medium|complex|very[ _-]complex)\s*[\])]", re.IGNORECASE
)
_LINES = re.compile(r"~\s?(\d{1,6}) ?(?:lines?|loc)\b", re.IGNORECASE)


class Estimate(NamedTuple):
    """What an item is expected to take."""

    size: Size
    low: float
    high: float
    basis: Basis


def estimate(item: str, taken: Sequence[Taken] = ()) -> Estimate:
    """The class of an item by its words, and by what finished ones took."""
    if (tagged := tag_of(item)) is not None:
        return _narrowed(tagged, "tag", [points for size, _, points in taken if size == tagged])
    untagged = [points for _, basis, points in taken if basis != "tag"][-RECENT:]
    if len(untagged) < ENOUGH:
        row = BUDGETS[DEFAULT]
        return Estimate(row.size, row.low, row.high, "default")
    return _narrowed(_class_of(_quantile(sorted(untagged), 0.5)), "history", untagged)


def tag_of(item: str) -> Size | None:
    """The class that an item says it has; None where it says none. The last tag counts."""
    words: list[Size] = []
    for tag in _TAG.finditer(item):
        said = re.sub("[_-]", " ", tag[1].lower())
        words += [row.size for row in TABLE if row.size == said]
    if words:
        return words[-1]
    lines = _LINES.findall(item)
    return by_lines(int(lines[-1])) if lines else None


def by_lines(lines: int) -> Size:
    """The class of a change of so many lines."""
    return next(row.size for row in TABLE if row.lines is None or lines <= row.lines)


def _class_of(points: float) -> Size:
    return next((row.size for row in TABLE if points <= row.high and row is not _TAGGED), "complex")


def _narrowed(size: Size, basis: Basis, points: Sequence[float]) -> Estimate:
    row, known = BUDGETS[size], sorted(points[-RECENT:])
    if len(known) < ENOUGH:
        return Estimate(size, row.low, row.high, basis)
    low, high = (min(max(_quantile(known, q), row.low), row.high) for q in (LOW, HIGH))
    return Estimate(size, low, high, basis)


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
