"""Readings as bars: one per iteration, its points on top and its number below. Pure."""

from collections.abc import Sequence
from math import ceil, isfinite

from ralph_tui.text.format import points as in_points
from ralph_tui.text.terms import BEST
from ralph_tui.tui.draw.spans import Line
from ralph_tui.tui.draw.words import SPARKS

COLUMN = 5
"""Cells of one bar and the gap beside it."""
BAR = 3

Bar = tuple[int, float]
"""Iteration and points, 0-100."""


def bars(readings: Sequence[Bar], *, best: int | None, width: int, height: int) -> list[Line]:
    """The latest readings that fit `width` cells; 100 points are `height` rows high."""
    readings = [(index, _within(points)) for index, points in readings]
    shown = readings[-max(1, (width - 2) // COLUMN) :]
    if not shown:
        return []
    all_points = [points for _, points in readings]
    written = [in_points(points, *all_points) for _, points in shown]
    lead: Line = [("… " if len(shown) < len(readings) else "  ", "dim")]
    styles = [_style(index, best, index == shown[-1][0]) for index, _ in shown]
    rows: list[Line] = []
    for row in range(height, -1, -1):
        line: Line = [("  ", "")]
        for (_, points), words, (bar, number) in zip(shown, written, styles, strict=True):
            text, is_bar = _cell(points, words, row, height)
            line.append((f"{text:<{COLUMN}}", bar if is_bar else number))
        if rows or any(text.strip() for text, _ in line):
            rows.append(line)
    labels = [
        (f"{_label(index, best):<{COLUMN}}", style)
        for (index, _), (_, style) in zip(shown, styles, strict=True)
    ]
    return [*rows, [*lead, *labels]]


def _within(points: float) -> float:
    return min(100.0, max(0.0, points)) if isfinite(points) else 0.0


def _style(iteration: int, best: int | None, latest: bool) -> tuple[str, str]:  # noqa: FBT001
    """Of a bar, and of the words around it."""
    if iteration == best:
        return "good", "good strong"
    return ("output", "strong") if latest else ("mean", "dim")


def _label(iteration: int, best: int | None) -> str:
    label = f"{iteration}{BEST.glyph}" if iteration == best else str(iteration)
    return label.center(BAR)


def _cell(points: float, written: str, row: int, height: int) -> tuple[str, bool]:
    """What stands in one row of one column, and whether it is a piece of the bar."""
    eighths = max(1, round(points / 100 * height * 8))
    full, rest = divmod(eighths, 8)
    if row < full:
        return SPARKS[-1] * BAR, True
    if rest and row == full:
        return SPARKS[rest - 1] * BAR, True
    if row == ceil(eighths / 8):
        return written.center(BAR), False
    return "", False
