"""The runs, a row each; one is selected. However many there are, only those in view are drawn.

Rule: it shows what it is given and reads nothing; a run whose row is not known yet stands there by
its name, and is among what is `wanted`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ralph_tui.analysis.run_row import NO_OBJECTIVE, RunRow
from ralph_tui.ports.runs import FleetGlance
from ralph_tui.text.terms import CRITICAL
from ralph_tui.tui.draw.columns import Cell, Column, ColumnSets
from ralph_tui.tui.draw.list_table import ListTable
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


_EARLIEST = datetime.fromtimestamp(0, UTC)


@dataclass
class Listing:
    """What home knows; it outlives its screen, so that one comes back to where one was."""

    names: Sequence[str] = ()
    """The newest first."""
    rows: dict[str, RunRow] = field(default_factory=dict)
    selected: int = 0
    loaded: bool = False
    """Whether all places where runs are recorded were looked at."""
    fleet: FleetGlance | None = None
    """The one that lives here, else the newest."""

    @property
    def name(self) -> str | None:
        """Of the selected run."""
        return self.names[self.selected] if self.names else None

    @property
    def row(self) -> RunRow | None:
        """Of the selected run; None while it is not known."""
        return self.rows.get(self.name or "")

    def order(self, found: Sequence[str], eager: int) -> None:
        """The first ones by what their records say, once all these are read; the live ones first.

        `found`: by when they were written to.
        """
        first = found[:eager]
        if all(name in self.rows for name in first):
            first = sorted(first, key=lambda name: _recent(self.rows[name]), reverse=True)
        self.put([*first, *found[eager:]])

    def put(self, names: Sequence[str]) -> None:
        """Other runs, or another order: the same one stays selected; if it is gone, the place."""
        name = self.name
        self.names = names
        if name in names:
            self.selected = names.index(name)
        self.selected = max(0, min(self.selected, len(names) - 1))


def _recent(row: RunRow) -> tuple[bool, datetime]:
    return row.live, row.updated or _EARLIEST


class RunTable(ListTable):
    """See above."""

    def __init__(self, listing: Listing) -> None:
        super().__init__("runs")
        self.listing = listing
        self.now = _EARLIEST

    @property
    def in_view(self) -> Sequence[str]:
        """The names of the runs in view."""
        return self.listing.names[self.top : self.top + self.page]

    def show(self, now: datetime, sentence: str = "") -> None:
        """Show what the listing holds now, or a sentence in place of it."""
        self.now = now
        self.follow(sentence)

    @property
    def count(self) -> int:
        """See `ListTable`."""
        return len(self.listing.names)

    @property
    def selected(self) -> int:
        """See `ListTable`."""
        return self.listing.selected

    def select(self, index: int) -> None:
        """See `ListTable`."""
        self.listing.selected = index

    def titles(self, width: int) -> Line:
        """See `ListTable`."""
        return COLUMNS.titles(width)

    def row(self, index: int, width: int) -> Line:
        """See `ListTable`."""
        name = self.listing.names[index]
        row = self.listing.rows.get(name)
        return [(name, "dim")] if row is None else COLUMNS.line_of(row, self.now, width)
