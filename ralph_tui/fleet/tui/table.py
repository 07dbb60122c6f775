"""The loops, a row each; one is selected."""

from collections.abc import Callable
from datetime import datetime
from functools import cache

from ralph_tui.fleet.tui import words
from ralph_tui.fleet.tui.view import FleetView, LoopRow
from ralph_tui.text.terms import WARNING
from ralph_tui.tui.draw.columns import Cell, Column, ColumnSets
from ralph_tui.tui.draw.list_table import ListTable
from ralph_tui.tui.draw.spans import Line, cells, clip, flat


def _state(row: LoopRow, now: datetime, width: int) -> Line:
    """Glyph and word, and how long that lasts, where it is known."""
    term, style = words.state_of(row)
    left = words.left(row, now)
    labels = [f"{label} {left}" for label in (term.label, term.short_label) if left]
    labels += [term.label, term.short_label, term.glyph]
    return [(next((each for each in labels if cells([(each, "")]) <= width), term.glyph), style)]


def _objective(row: LoopRow, now: datetime, width: int) -> Line:
    loop = row.loop
    quiet = loop.over or loop.status == "queued" or row.gone
    mark, (placed, placed_style) = words.branch_mark(row), words.place(row)
    warned = bool(loop.conflicts or loop.not_collected or loop.verified is False)
    line: Line = [(mark, "faint")] if mark else []
    line += [(f"{WARNING.glyph} ", "warn")] if warned else []
    line += [(f"{placed}  ", placed_style)] if placed else []
    if row.number == 1:
        line.append((flat(loop.spec.objective), "text" if quiet else "strong"))
    else:
        told = words.agent(row) or "the same"
        line.append((f"attempt {row.number} of {row.tries}: {flat(told)}", "dim"))
    return line


def _course(row: LoopRow, now: datetime, width: int) -> Line:
    room = width - 6
    drawn, number = words.readings(row, room), words.completion(row)
    return [(f"{drawn:<{room}}", "output"), (f"{number:>6}", "text")]


def _plain(say: Callable[[LoopRow], str], style: str = "text") -> Cell[LoopRow]:
    return lambda row, now, width: [(clip(flat(say(row)), width), style)]


def _asked(row: LoopRow, now: datetime, width: int) -> Line:
    """What it asks; of any other, how it stands."""
    loop = row.loop
    if row.asks:
        return [(clip(flat(loop.question), width), "warn")]
    told = loop.reason if loop.over else loop.verdict
    return [(clip(flat(told), width), "dim")]


def _id(row: LoopRow, now: datetime, width: int) -> Line:
    """Where it is too long, its beginning and its end: names are often alike in front."""
    name = flat(row.id)
    if len(name) > width:  # letters, digits, - and _
        behind = max(1, width // 2)
        name = f"{name[: width - behind - 1]}…{name[-behind:]}"
    return [(name, "text")]


def _lasted(row: LoopRow, now: datetime, width: int) -> Line:
    return [(words.lasted(row, now), "dim")]


WIDE_STATE = Column("state", 26, _state)
STATE = Column("state", 17, _state)
SHORT_STATE = Column("state", 11, _state)
SIGN = Column("", 1, _state)
OBJECTIVE = Column("objective", 0, _objective)
ASKED = Column("how it stands", 40, _asked)
ITERATIONS = Column("iterations", 10, _plain(words.iterations), right=True)
NARROW_ITERATIONS = Column("iter", 5, _plain(words.iterations), right=True)
WIDE_COURSE = Column("completion", 18, _course, right=True)
NARROW_COURSE = Column("completion", 11, _course, right=True)
COMPLETION = Column("done", 6, _plain(words.completion), right=True)
COST = Column("cost", 7, _plain(words.cost), right=True)
HOST = Column("host", 10, _plain(words.host, "dim"))
NARROW_HOST = Column("host", 6, _plain(words.host, "dim"))
LASTED = Column("time", 6, _lasted, right=True)


@cache
def columns_for(longest: int, *, hosts: bool = True) -> ColumnSets[LoopRow]:
    """With room for loops' names of so many characters, within reason: every command takes them.

    What a plan calls its loops stays, so nothing moves while one looks. `hosts`: there is more than
    this machine; else none is named, and the objectives have the room.
    """
    here = () if hosts else (HOST, NARROW_HOST)
    wide = Column("loop", min(max(12, longest), 24), _id)
    loop = Column("loop", min(max(5, longest), 16), _id)
    narrow = Column("loop" if longest > 3 else "", min(max(3, longest), 12), _id)
    sets: tuple[tuple[Column[LoopRow], ...], ...] = (
            (WIDE_STATE, wide, OBJECTIVE, ASKED, WIDE_COURSE, ITERATIONS, COST, HOST, LASTED),
            (STATE, loop, OBJECTIVE, WIDE_COURSE, ITERATIONS, COST, HOST, LASTED),
            (STATE, loop, OBJECTIVE, NARROW_COURSE, NARROW_ITERATIONS, COST, HOST, LASTED),
            (SHORT_STATE, narrow, OBJECTIVE, NARROW_COURSE, NARROW_ITERATIONS, COST,
             NARROW_HOST, LASTED),
            (SHORT_STATE, narrow, OBJECTIVE, COMPLETION, NARROW_ITERATIONS, COST, LASTED),
            (SHORT_STATE, narrow, OBJECTIVE, COMPLETION, COST),
            (SHORT_STATE, narrow, OBJECTIVE, COMPLETION),
            (SIGN, narrow, OBJECTIVE, COMPLETION),
            (SIGN, narrow, OBJECTIVE),
            (SIGN, OBJECTIVE),
    )  # fmt: skip
    return ColumnSets(
        tuple(tuple(column for column in each if column not in here) for each in sets),
        room=(40, 36, 22, 18, 14, 14, 12, 4, 3, 0),
    )


COLUMNS = columns_for(0)
"""Where names are numbers."""


class LoopTable(ListTable):
    """See above."""

    def __init__(self, view: FleetView) -> None:
        super().__init__("loops")
        self._view = view

    @property
    def _columns(self) -> ColumnSets[LoopRow]:
        longest = max((len(row.id) for row in self._view.rows), default=0)
        return columns_for(longest, hosts=self._view.several_hosts)

    @property
    def count(self) -> int:
        """See `ListTable`."""
        return len(self._view.rows)

    @property
    def selected(self) -> int:
        """See `ListTable`."""
        return self._view.selected

    def select(self, index: int) -> None:
        """See `ListTable`."""
        self._view.selected = max(0, index)

    def titles(self, width: int) -> Line:
        """See `ListTable`."""
        return self._columns.titles(width)

    def row(self, index: int, width: int) -> Line:
        """See `ListTable`."""
        return self._columns.line_of(self._view.rows[index], self._view.now, width)
