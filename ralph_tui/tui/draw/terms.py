"""The terms of the control output, as strips of their own in a zoomed chart. Pure."""

from collections.abc import Callable
from typing import NamedTuple

from ralph_tui.events import SignalComputed
from ralph_tui.tui.draw.course import Course, Point
from ralph_tui.tui.draw.field import Columns, Field
from ralph_tui.tui.draw.raster import Ink, Raster, thinned
from ralph_tui.tui.draw.scale import Scale
from ralph_tui.tui.draw.spans import Line
from ralph_tui.tui.draw.words import fraction


class Term(NamedTuple):
    """One line of the chart: its letter, its colour and pattern, and its value."""

    letter: str
    ink: Ink
    value: Callable[[SignalComputed], float]


PARTS = (
    Term("P", Ink("error"), lambda signal: signal.proportional),
    Term("I", Ink("text", 4, 3), lambda signal: signal.integral_mean),
    Term("D", Ink("dim", 1, 2), lambda signal: signal.derivative),
)
"""Terms that add up to the control output."""
PACE = (
    Term("v", Ink("owner"), lambda signal: signal.velocity),
    Term("σ", Ink("dim", 1, 2), lambda signal: signal.volatility),
)
"""Mean and variation of the pace of progress."""


def lines_of(terms: tuple[Term, ...], course: Course, columns: Columns, rows: int) -> list[Line]:
    """Draw the terms over their range, which includes zero; letters mark the latest values."""
    drawn: list[tuple[Term, list[Point]]] = []
    for term in terms:
        points = [(p.iteration, term.value(p.signal)) for p in course.signals if p.signal]
        drawn.append((term, points))
    values = [value for _, points in drawn for _, value in points] or [0.0]
    low, high = min(0.0, *values), max(0.0, *values)
    scale = Scale(low, high if high - low > 0.1 else low + 0.1)
    raster = Raster(columns.room, rows)
    shown = Field(columns, rows, raster.cell)
    shown.left = {rows - 1: (signed(scale.low), "dim"), 0: (signed(scale.high), "dim")}
    shown.left[scale.row(0.0, rows)] = ("0", "dim")
    for term, points in reversed(drawn):
        kept = thinned([(columns.dot(iteration), value) for iteration, value in points])
        raster.polyline([(column, scale.dot(value, rows)) for column, value in kept], term.ink)
    for term, points in drawn:
        if points:
            row = scale.row(points[-1][1], rows)
            beside = shown.right.setdefault(row, [])
            beside += [(" ", "")] if beside else []
            beside.append((f"{term.letter} {signed(points[-1][1])}", f"{term.ink.style} strong"))
    return shown.lines()


def signed(value: float) -> str:
    """Format a signed value: ``.12``, ``−.05``, ``.00``."""
    text = fraction(abs(value))
    return f"−{text}" if value < 0 and text != ".00" else text
