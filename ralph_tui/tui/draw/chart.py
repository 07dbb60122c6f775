"""The progress chart: strips one above the other, and the iterations below them. Pure.

Which strips there are, and how high each is, depends on the room alone, so that nothing jumps while
one looks.
"""

from dataclasses import dataclass

from ralph_tui.tui.draw.completion import completion
from ralph_tui.tui.draw.course import Course
from ralph_tui.tui.draw.field import Columns
from ralph_tui.tui.draw.push import push
from ralph_tui.tui.draw.spans import Line, Span, cells
from ralph_tui.tui.draw.terms import PACE, PARTS, lines_of

LEFT = 5
"""Cells of the labels at the left, with their blank."""
RIGHT = (14, 8)
"""Cells of what stands at the right, with its blank: whole, and the least of it."""


@dataclass(frozen=True)
class Kind:
    """How one of the lines is named and explained."""

    letter: str
    name: str
    style: str
    sample: str
    """The pattern as the legend shows it."""
    meaning: str


KINDS = (
    Kind("c", "completion", "accent", "━", "what is measured, over the range so far"),
    Kind("⋰", "forecast", "dim", "┈", "where it leads at this pace"),
    Kind("u", "push", "mean", "▄", "the correction asked for: kp·P + ki·I + kd·D"),
    Kind("P", "error", "error", "─", "what is missing now: 1 − completion"),
    Kind("I", "mean", "text", "╌", "what was missing; late iterations weigh more"),
    Kind("D", "change", "dim", "┈", "of what is missing; − is progress"),
    Kind("v", "velocity", "owner", "─", "mean of the last steps; + is progress"),
    Kind("σ", "volatility", "dim", "┈", "how much those steps differ"),
)


@dataclass(frozen=True)
class Heights:
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
        """Letters of the lines that have no strip at this size."""
        terms = ((PARTS, self.parts), (PACE, self.pace))
        return "".join(term.letter for strip, size in terms if not size for term in strip)


def heights(rows: int, *, zoomed: bool = False) -> Heights:
    """Completion alone, with its axis; `zoomed`, the others are there from a readable size on."""
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
    """The field and its margins; a field of few cells has none."""
    left = LEFT if width >= 4 * LEFT else 0
    right = next((size for size in RIGHT if width >= size * 7 // 2), 0)
    return Columns(left, max(2, width - left - right), right, max(1, end))


def plot(course: Course, *, width: int, height: int, zoomed: bool = False) -> list[Line]:
    """The chart in `height` rows of at most `width` cells, two at least."""
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
    """Iterations under their columns, each with what happened there.

    What happened is placed first, then both ends, then the numbers that the gaps have room for.
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
    """Every so many iterations a number: 1, 2, 5, 10, 20, 50, ..."""
    need = (len(str(columns.end)) + 2) * 2 / columns.pitch
    step = 1
    while step < need:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return step
