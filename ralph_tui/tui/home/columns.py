"""The columns of home at each width. Pure; see `tui.draw.columns`."""

from collections.abc import Callable
from datetime import datetime

from ralph_tui.analysis.run_row import NO_OBJECTIVE, RunRow
from ralph_tui.text.terms import CRITICAL
from ralph_tui.tui.draw.columns import Cell, Column, ColumnSets
from ralph_tui.tui.draw.spans import Line, clip, flat
from ralph_tui.tui.home import words


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


def _plain(say: Callable[[RunRow], str], style: str = "text") -> Cell[RunRow]:
    return lambda row, now, width: [(clip(say(row), width), style)]


def _timed(say: Callable[[RunRow, datetime], str]) -> Cell[RunRow]:
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


COLUMNS = ColumnSets(
    (
        (WIDE_STATE, OBJECTIVE, ITERATIONS, WIDE_COURSE, INTERVENTIONS, COST, LASTED, WHEN),
        (STATE, OBJECTIVE, ITERATIONS, WIDE_COURSE, INTERVENTIONS, COST, LASTED, AGO),
        (STATE, OBJECTIVE, ITERATIONS, COURSE, NARROW_INTERVENTIONS, COST, LASTED, AGO),
        (NARROW_STATE, OBJECTIVE, NARROW_ITERATIONS, NARROW_COURSE, NARROW_INTERVENTIONS, COST,
         LASTED, AGO),
        (NARROW_STATE, OBJECTIVE, NARROW_ITERATIONS, COMPLETION, COST, AGO),
        (NARROW_STATE, OBJECTIVE, COMPLETION, AGO),
        (SIGN, OBJECTIVE, COMPLETION),
        (SIGN, OBJECTIVE),
    ),
    room=(50, 36, 20, 14, 14, 12, 8, 0),
)  # fmt: skip
