"""Budget classes: how much of a context window a plan item takes.

A tag gives an item's class: either its name in brackets (``[complex]``, ``(very complex)``), or a
number of lines (``~120 lines``, ``~120 LOC``). An item without a tag is estimated from the untagged
items that this run has finished, or as medium while there are fewer than three. Finished items also
narrow the range of their class but never leave it, so an outlier has little effect. Standard
library only.
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

Size = Literal["trivial", "simple", "medium", "complex", "very complex"]
Basis = Literal["tag", "history", "default"]
"""The basis for a class."""
ItemUse = tuple[Size, Basis, float]
"""A finished item: its class, the basis for that class, and the points of the window it used."""


class Budget(NamedTuple):
    """A row of the table."""

    size: Size
    lines: int | None
    """Maximum number of lines that such an item changes; None for any number."""
    low: float
    """Minimum number of points of the window that it uses."""
    high: float
    per_iteration: str
    """Number of such items that one iteration takes on."""


TABLE = (
    Budget("trivial", 49, 5.0, 10.0, "8-10 items"),
    Budget("simple", 150, 10.0, 20.0, "4-5 items"),
    Budget("medium", 300, 20.0, 40.0, "2-3 items"),
    Budget("complex", None, 40.0, 60.0, "1 item"),
    Budget("very complex", None, 60.0, 100.0, "must be split"),
)
"""In ascending order; only a tag can put an item in a class above complex."""
_TAGGED = TABLE[-1]
BUDGETS: dict[Size, Budget] = {row.size: row for row in TABLE}
DEFAULT: Size = "medium"
ENOUGH = 3
"""Minimum number of finished items that an estimate can be based on."""
RECENT = 20
"""Number of most recently finished items of a kind that an estimate is based on."""
LOW, HIGH = 0.25, 0.9
"""Quantiles of finished items that bound the estimate, so that few later items exceed it."""

_TAG = re.compile(
    r"[\[(]\s*(trivial|simple|medium|complex|very[ _-]complex)\s*[\])]", re.IGNORECASE
)
_LINES = re.compile(r"~\s?(\d{1,6}) ?(?:lines?|loc)\b", re.IGNORECASE)


class Estimate(NamedTuple):
    """The points of the window that an item is expected to take."""

    size: Size
    low: float
    high: float
    basis: Basis


def estimate(item: str, taken: Sequence[ItemUse] = ()) -> Estimate:
    """Estimate an item from its words and from finished items."""
    if (tagged := tag_of(item)) is not None:
        return _narrow(tagged, "tag", [points for size, _, points in taken if size == tagged])
    untagged = [points for _, basis, points in taken if basis != "tag"][-RECENT:]
    if len(untagged) < ENOUGH:
        row = BUDGETS[DEFAULT]
        return Estimate(row.size, row.low, row.high, "default")
    return _narrow(_class_of(_quantile(sorted(untagged), 0.5)), "history", untagged)


def tag_of(item: str) -> Size | None:
    """Return the class given by an item's last tag; None without a tag."""
    words: list[Size] = []
    for tag in _TAG.finditer(item):
        said = re.sub("[_-]", " ", tag[1].lower())
        words += [row.size for row in TABLE if row.size == said]
    if words:
        return words[-1]
    lines = _LINES.findall(item)
    return by_lines(int(lines[-1])) if lines else None


def by_lines(lines: int) -> Size:
    """Return the class for a change of this many lines."""
    return next(row.size for row in TABLE if row.lines is None or lines <= row.lines)


def _class_of(points: float) -> Size:
    return next((row.size for row in TABLE if points <= row.high and row is not _TAGGED), "complex")


def _narrow(size: Size, basis: Basis, points: Sequence[float]) -> Estimate:
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
