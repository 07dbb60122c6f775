"""The control signal as braille: pure functions from points to rows of spans.

Every line has its own pattern and its own letter at its end, so that it is told apart without
colour. A cell shows the dots of all lines that cross it, in the colour of the foremost.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isfinite

from ralph_tui.state import ChartMark, SignalPoint
from ralph_tui.text.terms import BEST, ROLLED_BACK, WARNING
from ralph_tui.tui.draw.spans import Line

_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
LABEL_WIDTH = 4
"""Cells of the axis labels, with their blank."""
LETTERS = 4
"""Cells kept free at the right for the letters of lines that end there."""


@dataclass(frozen=True)
class Kind:
    """How one of the four lines is drawn and explained."""

    letter: str
    name: str
    style: str
    pattern: tuple[int, int]
    """Dots on and dots off."""
    thick: bool
    """Two dots high."""
    sample: str
    """The pattern as the legend shows it."""
    meaning: str


KINDS = (
    Kind("u", "output", "output", (1, 0), True, "━", "the controller's answer: kp·P + ki·I + kd·D"),
    Kind("P", "error", "error", (5, 3), False, "╌", "what is missing: 1 − completion"),
    Kind(
        "I",
        "mean",
        "mean",
        (1, 2),
        False,
        "┈",
        "mean error of all iterations, late ones weigh more",
    ),
    Kind("c", "completion", "done", (1, 0), False, "─", "measured completion, on the same scale"),
)
"""Foremost first."""


@dataclass
class Series:
    """One line's points: iteration and value."""

    kind: Kind
    points: list[tuple[int, float]] = field(default_factory=list)

    @property
    def last(self) -> float | None:
        """The current value."""
        return self.points[-1][1] if self.points else None


def series_of(points: Sequence[SignalPoint]) -> list[Series]:
    """The four lines of a run, foremost first; values are kept within 0-1."""
    lines = [Series(kind) for kind in KINDS]
    output, error, mean, done = (line.points for line in lines)
    for point in points:
        error.append((point.iteration, _within(point.error)))
        done.append((point.iteration, _within(point.completion)))
        if point.signal is not None:
            output.append((point.iteration, _within(point.signal.output)))
            mean.append((point.iteration, _within(point.signal.integral_mean)))
    return lines


def _within(value: float) -> float:
    return min(1.0, max(0.0, value)) if isfinite(value) else 0.0


def horizon(points: Sequence[SignalPoint], max_iterations: int) -> int:
    """The last iteration the axis shows: room to go, without squeezing what is there."""
    done = max((point.iteration for point in points), default=0)
    return max(1, done, min(max_iterations or 1, max(8, done + done // 2)))


class Raster:
    """Dots in a field of cells, two by four to a cell, and who drew foremost in each."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = max(1, width), max(1, height)
        self.bits = [[0] * self.width for _ in range(self.height)]
        self.styles = [[""] * self.width for _ in range(self.height)]

    def dot(self, x: int, y: int, style: str) -> None:
        """One dot; `y` grows downwards."""
        column, row = x >> 1, y >> 2
        if 0 <= column < self.width and 0 <= row < self.height:
            self.bits[row][column] |= _DOTS[x & 1][y & 3]
            self.styles[row][column] = style

    def polyline(self, points: Sequence[tuple[int, int]], kind: Kind) -> None:
        """Points joined by straight lines in the kind's pattern; points themselves always show."""
        on, off = kind.pattern
        period, step = on + off, 0

        def draw(x: int, y: int) -> None:
            self.dot(x, y, kind.style)
            if kind.thick:
                self.dot(x, y + 1 if y < self.height * 2 else y - 1, kind.style)

        for x, y in points:
            draw(x, y)
        for (x0, y0), (x1, y1) in pairwise(points):
            length = max(abs(x1 - x0), abs(y1 - y0))
            for i in range(1, length):
                step += 1
                if step % period < on:
                    x = x0 + round((x1 - x0) * i / length)
                    y = y0 + round((y1 - y0) * i / length)
                    draw(x, y)


def thinned(points: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """At most the first, lowest, highest and last point of each dot column, in order."""
    kept: list[tuple[int, int]] = []
    start = 0
    for end in range(1, len(points) + 1):
        if end < len(points) and points[end][0] == points[start][0]:
            continue
        group = points[start:end]
        ys = [y for _, y in group]
        x = group[0][0]
        kept += [(x, y) for y in dict.fromkeys((ys[0], min(ys), max(ys), ys[-1]))]
        start = end
    return kept


def plot(
    points: Sequence[SignalPoint],
    marks: Sequence[ChartMark],
    *,
    width: int,
    height: int,
    max_iterations: int,
    best: int | None = None,
) -> list[Line]:
    """The chart in `height` rows of at most `width` cells: the lines, then marks and axis.

    From ten rows on the marks have a row of their own.
    """
    own_marks = height >= 10
    rows = max(1, height - (2 if own_marks else 1))
    room = max(2, width - LABEL_WIDTH - LETTERS)
    lines = series_of(points)
    end = horizon(points, max_iterations)
    raster = Raster(room, rows)

    def across(iteration: int) -> int:
        return round(iteration / end * (room * 2 - 1))

    def down(value: float) -> int:
        return round((1 - value) * (rows * 4 - 1))

    for line in reversed(lines):
        raster.polyline(thinned([(across(i), down(v)) for i, v in line.points]), line.kind)
    guides = _guides(rows)
    letters = _letters(lines, across, down)
    drawn = [_plot_row(y, raster, guides, letters) for y in range(rows)]
    if height > 1:
        columns = {i: across(i) >> 1 for i in range(end + 1)}
        drawn += _axis(columns, marks, best, room, apart=own_marks)
    return drawn


def _guides(rows: int) -> dict[int, str]:
    """Rows of the band limits, with their labels; 0 and 1 at the edges."""
    labels = {0: "1.0", rows - 1: "0.0"} if rows > 1 else {}
    for value in (0.7, 0.3, 0.5):
        row = min(rows - 1, round((1 - value) * (rows * 4 - 1)) // 4)
        if row not in labels:
            labels[row] = f" {fraction_label(value)}"
    return labels


def fraction_label(value: float) -> str:
    """``.7``"""
    return f".{round(value * 10)}"


def _letters(
    lines: list[Series],
    across: Callable[[int], int],
    down: Callable[[float], int],
) -> dict[tuple[int, int], tuple[str, str]]:
    """A line's letter right of its end; where ends meet, the letters stand side by side."""
    placed: dict[tuple[int, int], tuple[str, str]] = {}
    for line in lines:
        if line.points:
            iteration, value = line.points[-1]
            row, column = down(value) >> 2, (across(iteration) >> 1) + 1
            while (row, column) in placed:
                column += 1
            placed[row, column] = (line.kind.letter, f"{line.kind.style} strong")
    return placed


def _plot_row(
    y: int,
    raster: Raster,
    guides: dict[int, str],
    letters: dict[tuple[int, int], tuple[str, str]],
) -> Line:
    label = guides.get(y, "")
    edge = label in ("1.0", "0.0")
    filler = "┈" if label and not edge else " "
    spans: Line = [(f"{label:>3} ", "dim")]
    run, style = "", ""
    for x in range(raster.width + LETTERS):
        letter = letters.get((y, x))
        bits = raster.bits[y][x] if x < raster.width else 0
        if letter is not None:
            glyph, new = letter
        elif bits:
            glyph, new = chr(0x2800 + bits), raster.styles[y][x]
        else:
            glyph, new = filler, "faint"
        if new != style and run:
            spans.append((run, style))
            run = ""
        run, style = run + glyph, new
    return [*spans, (run, style)]


def _axis(
    columns: dict[int, int],
    marks: Sequence[ChartMark],
    best: int | None,
    room: int,
    *,
    apart: bool,
) -> list[Line]:
    """Iteration numbers, and the glyphs of what happened there, on one row or two."""
    glyphs: dict[int, list[tuple[str, str]]] = {}
    for mark in marks:
        style = {WARNING.glyph: "warn", ROLLED_BACK.glyph: "owner"}.get(mark.glyph, "bad")
        held = glyphs.setdefault(mark.iteration, [])
        if (mark.glyph, style) not in held:
            held.append((mark.glyph, style))
    if best is not None:
        glyphs.setdefault(best, []).append((BEST.glyph, "good"))
    if not apart:
        labels = {i: [(str(i), "dim"), *glyphs.get(i, [])] for i in sorted(columns)}
        return [_labels(labels, columns, room, first=glyphs)]
    above = _labels(dict(glyphs), columns, room, first=glyphs)
    below = _labels({i: [(str(i), "dim")] for i in sorted(columns)}, columns, room, first={})
    return [above, below]


def _labels(
    labels: dict[int, list[tuple[str, str]]],
    columns: dict[int, int],
    room: int,
    *,
    first: dict[int, list[tuple[str, str]]],
) -> Line:
    """Labels under their columns; those with glyphs are placed before plain numbers."""
    taken = [False] * (room + LABEL_WIDTH + 8)
    placed: list[tuple[int, list[tuple[str, str]]]] = []
    last = max(columns, default=0)
    order = sorted(labels, key=lambda i: (i not in first, i not in (0, last), i))
    for iteration in order:
        if iteration not in columns:
            continue
        for parts in (labels[iteration], [p for p in labels[iteration] if p[1] != "dim"]):
            size = sum(len(text) for text, _ in parts)
            start = min(columns[iteration], room + LETTERS - size)
            if size and start >= 0 and not any(taken[max(0, start - 1) : start + size + 1]):
                taken[start : start + size] = [True] * size
                placed.append((start, parts))
                break
    spans: Line = [(" " * LABEL_WIDTH, "")]
    at = 0
    for start, parts in sorted(placed, key=lambda item: item[0]):
        spans.append((" " * (start - at), ""))
        spans += parts
        at = start + sum(len(text) for text, _ in parts)
    return spans
