"""The control output u, below the completion it answers: a bar per iteration, on bands. Pure."""

from ralph_tui.layers.control import BAND_BOUNDS, push_words
from ralph_tui.tui.draw.course import Course
from ralph_tui.tui.draw.field import Columns, Field
from ralph_tui.tui.draw.scale import Scale
from ralph_tui.tui.draw.spans import Line, Span
from ralph_tui.tui.draw.words import SPARKS, fraction

TITLE = "push"
LOUD, SOFT = "mean strong", "mean"
WIDEST = 2
"""Cells of a bar on either side of its iteration."""
NAMED = 3
"""From so many rows on each bound of a band is named in its row."""
SCALE = Scale(0.0, 1.0)


def push(course: Course, columns: Columns, rows: int) -> list[Line]:
    """Bars over 0-1; from three rows on the lower bounds of the bands are named in their rows."""
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
            word = push_words(latest.band)
            full: Line = [(f"{word} ", SOFT), (value, LOUD)]
            fits = len(word) + len(value) + 1 < columns.right
            shown.right[rows - 1] = full if fits else full[1:]
        return shown.lines()
    for band, bound in BAND_BOUNDS.items():
        style = LOUD if latest is not None and latest.band == band else "dim"
        said = f"{fraction(bound).rstrip('0')} {push_words(band)}"
        shown.right[rows - 1 - _below(bound, rows)] = [(said, style)]
    if latest is not None:
        shown.left[rows - 1 - _below(min(1.0, max(0.0, latest.output)), rows)] = (value, LOUD)
    free = next(row for row in range(rows) if row not in shown.left)
    shown.left[free] = (TITLE, SOFT)
    return shown.lines()


def _below(value: float, rows: int) -> int:
    """How many whole rows lie below a value."""
    return min(rows - 1, int(value * rows + 1e-9))


def _heights(course: Course, columns: Columns) -> dict[int, float]:
    """The output at each column of cells; the highest where iterations share one."""
    gap = columns.pitch / 2
    wide = min(WIDEST, max(0, int((gap - 2) / 2)))
    found: dict[int, float] = {}
    for point in course.signals:
        if point.signal is not None:
            at = columns.cell(point.iteration)
            for column in range(max(0, at - wide), min(columns.room, at + wide + 1)):
                found[column] = max(found.get(column, 0.0), SCALE.share(point.signal.output))
    return found
