"""The columns of home at each width: the richest of a few sets in which the objective has room.

Rule: what a column is called and how wide it is depends on the width of the screen alone, so
nothing moves while one looks. Pure.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from ralph_tui.analysis.run_row import NO_OBJECTIVE, RunRow
from ralph_tui.text.terms import CRITICAL
from ralph_tui.tui.draw.spans import Line, cells, clip, clip_line, flat
from ralph_tui.tui.home import words

Cell = Callable[[RunRow, datetime, int], Line]
"""What stands in a cell of so many columns."""

CLOSE = 100
"""Below this width one cell stands between two columns, else two."""


@dataclass(frozen=True)
class Column:
    """One column; its title is dim above it."""

    title: str
    width: int
    """Cells; 0: what the others leave."""
    cell: Cell
    right: bool = False
    """Numbers end below one another."""


def _state(row: RunRow, now: datetime, width: int) -> Line:
    term, style = words.state_of(row)
    labels = (term.label, term.short_label, term.glyph)
    return [(next((each for each in labels if len(each) <= width), term.glyph), style)]


def _objective(row: RunRow, now: datetime, width: int) -> Line:
    readable = row.imported and not row.problem
    text = flat(row.objective) or (NO_OBJECTIVE if readable else "(its record cannot be read)")
    style = "strong" if row.live else "text" if row.objective else "dim"
    return [(clip(text, width), style)]


def _course(row: RunRow, now: datetime, width: int) -> Line:
    room = width - 6
    drawn, number = words.readings(row, room), words.completion(row)
    return [(f"{drawn:<{room}}", "output"), (f"{number:>6}", "text")]


def _plain(say: Callable[[RunRow], str], style: str = "text") -> Cell:
    return lambda row, now, width: [(clip(say(row), width), style)]


def _timed(say: Callable[[RunRow, datetime], str]) -> Cell:
    return lambda row, now, width: [(clip(say(row, now), width), "accent" if row.live else "dim")]


WIDE_STATE = Column("state", 22, _state)
STATE = Column("state", 15, _state)
NARROW_STATE = Column("state", 11, _state)
SIGN = Column("", 1, _state)
OBJECTIVE = Column("objective", 0, _objective)
ITERATIONS = Column("iterations", 10, _plain(words.iterations), right=True)
NARROW_ITERATIONS = Column("iter", 5, _plain(words.iterations), right=True)
WIDE_COURSE = Column("completion", 18, _course, right=True)
COURSE = Column("completion", 14, _course, right=True)
NARROW_COURSE = Column("completion", 11, _course, right=True)
COMPLETION = Column("done", 6, _plain(words.completion), right=True)
INTERVENTIONS = Column("interventions", 13, _plain(words.interventions, "warn"), right=True)
NARROW_INTERVENTIONS = Column(CRITICAL.glyph, 2, _plain(words.interventions, "warn"), right=True)
COST = Column("cost", 7, _plain(words.cost), right=True)
LASTED = Column("time", 6, _timed(words.lasted), right=True)
AGO = Column("when", 7, _timed(words.ago), right=True)
WHEN = Column("when", 16, _timed(words.when), right=True)


SETS: tuple[tuple[Column, ...], ...] = (
    (WIDE_STATE, OBJECTIVE, ITERATIONS, WIDE_COURSE, INTERVENTIONS, COST, LASTED, WHEN),
    (STATE, OBJECTIVE, ITERATIONS, WIDE_COURSE, INTERVENTIONS, COST, LASTED, AGO),
    (STATE, OBJECTIVE, ITERATIONS, COURSE, NARROW_INTERVENTIONS, COST, LASTED, AGO),
    (NARROW_STATE, OBJECTIVE, NARROW_ITERATIONS, NARROW_COURSE, NARROW_INTERVENTIONS, COST,
     LASTED, AGO),
    (NARROW_STATE, OBJECTIVE, NARROW_ITERATIONS, COMPLETION, COST, AGO),
    (NARROW_STATE, OBJECTIVE, COMPLETION, AGO),
    (SIGN, OBJECTIVE, COMPLETION),
    (SIGN, OBJECTIVE),
)  # fmt: skip
"""From the richest to the poorest."""
ROOM = (50, 36, 20, 14, 14, 12, 8, 0)
"""Cells that the objective has at least in each set."""


def columns(width: int) -> list[tuple[Column, int]]:
    """The columns, each with its cells."""
    for chosen, room in zip(SETS, ROOM, strict=True):
        rest = width - sum(each.width for each in chosen) - _gap(width) * (len(chosen) - 1)
        if rest >= room:
            break
    return [(each, each.width or max(0, rest)) for each in chosen]


def titles(width: int) -> Line:
    """The row above."""
    named = [(each, room, [(clip(each.title, room), "title")]) for each, room in columns(width)]
    return _laid(named, _gap(width))


def line_of(row: RunRow, now: datetime, width: int) -> Line:
    """A run in its columns."""
    told = [(each, room, each.cell(row, now, room)) for each, room in columns(width)]
    return _laid(told, _gap(width))


def _gap(width: int) -> int:
    return 1 if width < CLOSE - 4 else 2


def _laid(parts: list[tuple[Column, int, Line]], gap: int) -> Line:
    line: Line = []
    for index, (column, room, cell) in enumerate(parts):
        spans = clip_line(cell, room)
        space = " " * (room - cells(spans))
        line += [(" " * gap, "")] if index else []
        line += [(space, ""), *spans] if column.right else [*spans, (space, "")]
    return [span for span in line if span[0]]
