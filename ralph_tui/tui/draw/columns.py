"""Columns of a list at each width: the richest of a few sets in which the one that gives has room.

Rule: what a column is called and how wide it is depends on the width of the screen alone, so
nothing moves while one looks. Pure.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from ralph_tui.tui.draw.spans import Line, cells, clip, clip_line

R = TypeVar("R")
"""What stands in a row."""

Cell = Callable[[R, datetime, int], Line]
"""What stands in a cell of so many columns."""

CLOSE = 96
"""Below this width one cell stands between two columns, else two."""


@dataclass(frozen=True)
class Column(Generic[R]):
    """One column; its title is dim above it."""

    title: str
    width: int
    """Cells; 0: what the others leave."""
    cell: Cell[R]
    right: bool = False
    """Numbers end below one another."""


@dataclass(frozen=True)
class ColumnSets(Generic[R]):
    """The sets, from the richest to the poorest."""

    sets: Sequence[Sequence[Column[R]]]
    room: Sequence[int]
    """Cells that the column without a width has at least, in each set."""

    def at(self, width: int) -> list[tuple[Column[R], int]]:
        """The columns, each with its cells."""
        for chosen, room in zip(self.sets, self.room, strict=True):
            rest = width - sum(each.width for each in chosen) - _gap(width) * (len(chosen) - 1)
            if rest >= room:
                break
        return [(each, each.width or max(0, rest)) for each in chosen]

    def titles(self, width: int) -> Line:
        """The row above."""
        named = [(each, room, [(clip(each.title, room), "title")]) for each, room in self.at(width)]
        return _laid(named, _gap(width))

    def line_of(self, row: R, now: datetime, width: int) -> Line:
        """A row in its columns."""
        told = [(each, room, each.cell(row, now, room)) for each, room in self.at(width)]
        return _laid(told, _gap(width))


def _gap(width: int) -> int:
    return 1 if width < CLOSE else 2


def _laid(parts: Sequence[tuple[Column[R], int, Line]], gap: int) -> Line:
    line: Line = []
    for index, (column, room, cell) in enumerate(parts):
        spans = clip_line(cell, room)
        space = " " * (room - cells(spans))
        line += [(" " * gap, "")] if index else []
        line += [(space, ""), *spans] if column.right else [*spans, (space, "")]
    return [span for span in line if span[0]]
