"""The progress chart: stacked strips above an axis of iterations. Pure.

The choice of strips and their heights depends only on the available space, so nothing jumps.
"""

from typing import NamedTuple

from ralph_tui.layers.control.advice import band_words
from ralph_tui.layers.control.law import BAND_BOUNDS
from ralph_tui.tui.draw.completion import completion
from ralph_tui.tui.draw.course import Course
from ralph_tui.tui.draw.field import Columns, Field
from ralph_tui.tui.draw.scale import Scale
from ralph_tui.tui.draw.spans import Line, Span, cells
from ralph_tui.tui.draw.terms import PACE, PARTS, lines_of
from ralph_tui.tui.draw.words import SPARKS, fraction

TITLE = "u"
LOUD, SOFT = "mean strong", "mean"
WIDEST = 2
"""Maximum width of a bar, in cells, on either side of its iteration."""
NAMED = 3
"""Minimum number of rows at which the bounds of the bands are labelled."""
SCALE = Scale(0.0, 1.0)


def push(course: Course, columns: Columns, rows: int) -> list[Line]:
    """Draw the control output u as one bar per iteration, from 0 to 1.

    With three rows or more, the lower bounds of the bands are labelled.
    """
    eighths = {
        column: max(1, round(output * rows * 8))
        for column, output in _heights(course, columns).items()
    }

    def cell(column: int, row: int) -> Span | None:
        left = eighths.get(column, 0) - (rows - 1 - row) * 8
        return (SPARKS[min(8, left) - 1], SOFT) if left > 0 else None

    shown = Field(columns, rows, cell)
    latest = next((p.signal for p in reversed(course.signals) if p.signal is not None), None)
    value = "" if latest is None else fraction(latest.output)
    if rows < NAMED:
        shown.left[rows - 1] = (TITLE, SOFT)
        if latest is None:
            shown.right[rows - 1] = [("not yet", "dim")]
        else:
            word = band_words(latest.band)
            full: Line = [(f"{word} ", SOFT), (value, LOUD)]
            fits = len(word) + len(value) + 1 < columns.right
            shown.right[rows - 1] = full if fits else full[1:]
        return shown.lines()
    for band, bound in BAND_BOUNDS.items():
        style = LOUD if latest is not None and latest.band == band else "dim"
        said = f"{fraction(bound).rstrip('0')} {band_words(band)}"
        shown.right[rows - 1 - _rows_below(bound, rows)] = [(said, style)]
    if latest is not None:
        shown.left[rows - 1 - _rows_below(min(1.0, max(0.0, latest.output)), rows)] = (value, LOUD)
    free = next(row for row in range(rows) if row not in shown.left)
    shown.left[free] = (TITLE, SOFT)
    return shown.lines()


def _rows_below(value: float, rows: int) -> int:
    """Return how many whole rows are below a value."""
    return min(rows - 1, int(value * rows + 1e-9))


def _heights(course: Course, columns: Columns) -> dict[int, float]:
    """Return the output for each column of cells; the highest if iterations share a column."""
    gap = columns.pitch / 2
    wide = min(WIDEST, max(0, int((gap - 2) / 2)))
    found: dict[int, float] = {}
    for point in course.signals:
        if point.signal is not None:
            at = columns.cell(point.iteration)
            for column in range(max(0, at - wide), min(columns.room, at + wide + 1)):
                found[column] = max(found.get(column, 0.0), SCALE.share(point.signal.output))
    return found


LEFT = 5
"""Width of the left labels in cells, including a blank."""
RIGHT = (14, 8)
"""Width of the right labels in cells, including a blank: the full and the minimum width."""


class Kind(NamedTuple):
    """Name and explanation of one of the lines."""

    letter: str
    name: str
    style: str
    sample: str
    """The line's pattern in the legend."""
    meaning: str


KINDS = (
    Kind("c", "completion", "accent", "━", "measured completion, scaled to its range"),
    Kind("⋰", "forecast", "dim", "┈", "projection at the current pace"),
    Kind("u", "output", "mean", "▄", "control output: kp·P + ki·I + kd·D"),
    Kind("P", "error", "error", "─", "remaining now: 1 − completion"),
    Kind("I", "mean", "text", "╌", "mean of P; recent iterations weigh more"),
    Kind("D", "change", "dim", "┈", "change of P; negative is progress"),
    Kind("v", "velocity", "owner", "─", "mean of recent steps; positive is progress"),
    Kind("σ", "volatility", "dim", "┈", "spread of those steps"),
)


class Heights(NamedTuple):
    """Rows of each strip, from top to bottom."""

    completion: int
    push: int
    parts: int
    pace: int
    axis: int
    gap: int = 0
    """Empty rows between two strips."""

    @property
    def not_drawn(self) -> str:
        """Letters of the lines without a strip at this size."""
        terms = ((PARTS, self.parts), (PACE, self.pace))
        return "".join(term.letter for strip, size in terms if not size for term in strip)


def heights(rows: int, *, zoomed: bool = False) -> Heights:
    """Return the strips' heights: completion and axis, plus more strips if `zoomed`.

    The number of added strips depends on `rows`.
    """
    axis = 1 if rows >= 2 else 0
    pushed = parts = pace = 0
    if zoomed:
        pushed = 5 if rows >= 24 else 3 if rows >= 16 else 1
        parts = 6 if rows >= 24 else 4 if rows >= 10 else 0
        pace = 4 if rows >= 24 else 3 if rows >= 16 else 0
    gap = 1 if rows >= 24 else 0
    below = sum(size + gap for size in (pushed, parts, pace) if size) + axis
    return Heights(max(1, rows - below), pushed, parts, pace, axis, gap)


def columns_of(width: int, end: int) -> Columns:
    """Return the grid and its margins; a narrow grid has no margins."""
    left = LEFT if width >= 4 * LEFT else 0
    right = next((size for size in RIGHT if width >= size * 7 // 2), 0)
    return Columns(left, max(2, width - left - right), right, max(1, end))


def plot(course: Course, *, width: int, height: int, zoomed: bool = False) -> list[Line]:
    """Draw the chart in `height` rows, at least two, of at most `width` cells."""
    rows = heights(height, zoomed=zoomed)
    columns = columns_of(width, course.end)
    drawn = completion(course, columns, rows.completion)
    strips = [push(course, columns, rows.push)] if rows.push else []
    for terms, size in ((PARTS, rows.parts), (PACE, rows.pace)):
        strips += [lines_of(terms, course, columns, size)] if size else []
    for strip in strips:
        drawn += [[] for _ in range(rows.gap)] + strip
    return [*drawn, _axis(course, columns)] if rows.axis else drawn


def _axis(course: Course, columns: Columns) -> Line:
    """Draw iteration numbers under their columns, each with its event glyphs.

    Iterations with events are placed first, then both ends, then the numbers that fit in between.
    """
    width = columns.room + columns.right
    marks = course.marks
    last = course.now[0] if course.now else 0
    step = _step(columns)
    numbers = {0, last, course.end, *range(0, course.end + 1, step)}
    wanted = sorted(
        (i for i in {*marks, *numbers} if 0 <= i <= course.end),
        key=lambda i: (i not in marks, i not in (0, last, course.end), i),
    )
    taken = [False] * (width + 1)
    placed: list[tuple[int, Line]] = []
    for iteration in wanted:
        glyphs: list[Span] = marks.get(iteration, [])
        number: Span = (str(iteration), "text" if iteration == last else "dim")
        for parts in ([number, *glyphs], glyphs):
            size = cells(parts)
            start = min(columns.cell(iteration), width - size)
            if size and start >= 0 and not any(taken[max(0, start - 1) : start + size + 1]):
                taken[start : start + size] = [True] * size
                placed.append((start, parts))
                break
    spans: Line = [(" " * columns.left, "")]
    at = 0
    for start, parts in sorted(placed, key=lambda item: item[0]):
        spans += [(" " * (start - at), ""), *parts]
        at = start + cells(parts)
    return spans


def _step(columns: Columns) -> int:
    """Return the interval between labelled iterations: 1, 2, 5, 10, 20, 50, ..."""
    need = (len(str(columns.end)) + 2) * 2 / columns.pitch
    step = 1
    while step < need:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return step
