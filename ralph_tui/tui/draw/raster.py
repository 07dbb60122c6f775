"""Lines of braille dots, two by four dots per cell. Pure."""

from collections.abc import Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_BRAILLE = 0x2800

Dot = tuple[int, int]
"""Column and row of dots; rows count downwards."""


class Ink(NamedTuple):
    """How a line is drawn; pattern and weight distinguish lines without colour."""

    style: str
    on: int = 1
    off: int = 0
    """Number of dots to skip after each `on` drawn dots."""
    thick: bool = False
    """True to draw the line two dots high."""


class Raster:
    """A grid of cells; crossing lines share a cell, drawn in the last one's style."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = max(1, width), max(1, height)
        self._bits = [[0] * self.width for _ in range(self.height)]
        self._styles = [[""] * self.width for _ in range(self.height)]

    def cell(self, column: int, row: int) -> tuple[str, str] | None:
        """Return a cell's glyph and style; None if no line crosses it."""
        bits = self._bits[row][column]
        return (chr(_BRAILLE + bits), self._styles[row][column]) if bits else None

    def dot(self, x: int, y: int, style: str) -> None:
        """Draw a dot; dots outside the grid are ignored."""
        column, row = x >> 1, y >> 2
        if 0 <= column < self.width and 0 <= row < self.height:
            self._bits[row][column] |= _DOTS[x & 1][y & 3]
            self._styles[row][column] = style

    def polyline(self, points: Sequence[Dot], ink: Ink) -> None:
        """Join points with straight lines in the ink's pattern; the points are always drawn."""
        period, step = ink.on + ink.off, 0
        for x, y in points:
            self._draw(x, y, ink)
        for (x0, y0), (x1, y1) in pairwise(points):
            length = max(abs(x1 - x0), abs(y1 - y0))
            for i in range(1, length):
                step += 1
                if step % period < ink.on:
                    x = x0 + round((x1 - x0) * i / length)
                    y = y0 + round((y1 - y0) * i / length)
                    self._draw(x, y, ink)

    def _draw(self, x: int, y: int, ink: Ink) -> None:
        self.dot(x, y, ink.style)
        if ink.thick:
            self.dot(x, y + 1 if y + 1 < self.height * 4 else y - 1, ink.style)


def thinned(points: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return at most the first, lowest, highest and last value of each dot column, in order."""
    kept: list[tuple[int, float]] = []
    for column, group in groupby(points, key=itemgetter(0)):
        values = [value for _, value in group]
        kept += [
            (column, value)
            for value in dict.fromkeys((values[0], min(values), max(values), values[-1]))
        ]
    return kept
