"""A strip of the progress chart: a grid of cells with labels on both sides. Pure.

Rule: strips are stacked over the same iterations, and each strip draws only its own data. A label
is in the row of its value.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from math import floor

from ralph_tui.tui.draw.spans import Line, Span, clip_line


@dataclass(frozen=True)
class Columns:
    """Horizontal layout of a strip: widths in cells of the margins and the grid."""

    left: int
    room: int
    right: int
    end: int
    """The last iteration on the axis."""

    @cached_property
    def pitch(self) -> float:
        """Dots between iterations; rounded to whole cells or dots if little space is wasted."""
        room = self.room * 2 - (6 if self.room > 20 else 1)
        exact = room / self.end
        whole = [size for size in (exact // 2 * 2, exact // 1) if size * self.end > room * 7 / 8]
        return whole[0] if whole else exact

    def dot(self, iteration: float) -> int:
        """Return an iteration's column of dots; the last one avoids the edge if possible."""
        return floor(iteration * self.pitch + 0.5)

    def cell(self, iteration: float) -> int:
        """Return an iteration's column of cells."""
        return self.dot(iteration) // 2


@dataclass
class Field:
    """Rows of cells with labels on both sides."""

    columns: Columns
    rows: int
    cell: Callable[[int, int], Span | None] = lambda column, row: None
    over: dict[tuple[int, int], Span] = field(default_factory=dict)
    """Cells drawn over everything else, by column and row."""
    fill: dict[int, Span] = field(default_factory=dict)
    """Background of a row's empty cells."""
    left: dict[int, Span] = field(default_factory=dict)
    right: dict[int, Line] = field(default_factory=dict)

    def lines(self) -> list[Line]:
        """Return the rows, each at most as wide as the columns."""
        return [self._line(row) for row in range(self.rows)]

    def _line(self, row: int) -> Line:
        at = self.columns
        label, style = self.left.get(row, ("", ""))
        spans: Line = [(f"{label[: at.left - 1]:>{at.left - 1}} ", style)] if at.left else []
        text, last = "", ""
        empty = self.fill.get(row, (" ", ""))
        for column in range(at.room):
            glyph, style = self.over.get((column, row)) or self.cell(column, row) or empty
            if style != last and text:
                spans.append((text, last))
                text = ""
            text, last = text + glyph, style
        spans.append((text, last))
        beside = self.right.get(row, [])
        return [*spans, (" ", ""), *clip_line(beside, at.right - 1)] if at.right > 1 else spans
