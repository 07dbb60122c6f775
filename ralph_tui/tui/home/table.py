"""The runs, one per row, with one selected; only the rows in view are drawn.

Rule: it reads nothing itself. A run whose row has not been read yet is shown by its name, and
`HomeScreen` reads it next.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ralph_tui.ports.runs import NO_OBJECTIVE, FleetGlance, RunRow
from ralph_tui.text import terms
from ralph_tui.text.format import day_and_clock, duration, money
from ralph_tui.tui.draw.spans import Line, clip, flat
from ralph_tui.tui.draw.words import since
from ralph_tui.tui.lists.table import (
    Cell,
    Column,
    ColumnSets,
    ListTable,
    RunColumns,
    text_cell,
    used_of,
)

# words in a row -----------------------------------------------------------------------------------

LIVE = "live"
_IDLE = {"paused": "paused", "limited": "waits"}
"""Short words for phases in which a live run is not working."""
_SHORT = {"limit_reached": "limit"}
"""Short words for outcomes."""


def state_of(row: RunRow) -> tuple[terms.Term, str]:
    """Return the glyph and word of a run's state, and their style."""
    if row.question:
        return terms.NEEDS_YOU, "warn strong"
    if row.live:
        term = terms.PHASES.get(
            row.status, terms.Term(terms.PHASES["agent"].glyph, terms.in_words(row.status))
        )
        return terms.Term(term.glyph, term.word, _IDLE.get(row.status, LIVE)), "accent"
    if row.status in terms.OUTCOMES:
        term = terms.OUTCOMES[row.status]
        return term._replace(short=_SHORT.get(row.status, "")), terms.OUTCOME_TONES[row.status]
    if row.status in terms.ENDLESS:
        return terms.ENDLESS[row.status], "bad"
    return terms.Term(terms.PHASES["finished"].glyph, terms.in_words(row.status)), "dim"


def _objective(row: RunRow, now: datetime, width: int) -> Line:
    readable = row.imported and not row.problem
    text = flat(row.objective) or (NO_OBJECTIVE if readable else "(unreadable record)")
    style = "strong" if row.live else "text" if row.objective else "dim"
    return [(clip(text, width), style)]


def _interventions(row: RunRow) -> str:
    """Return the number of interventions; empty for none, ``—`` if they were not counted."""
    return "—" if row.interventions is None else str(row.interventions or "")


def _cost(row: RunRow) -> str:
    """Return the cost in dollars; ``—`` if the agent does not report it."""
    return money(row.cost_usd or 0.0, known=row.cost_usd is not None, estimated=row.cost_estimated)


def _duration(row: RunRow, now: datetime) -> str:
    """Return the run's duration; for a live run, up to now."""
    going = (now - row.updated).total_seconds() if row.live and row.updated else 0.0
    return duration(row.seconds + max(0.0, going))


def _ago(row: RunRow, now: datetime) -> str:
    """Describe the last activity as ``now``, ``5m ago`` or ``3d ago``."""
    if row.live:
        return "now"
    return "—" if row.updated is None else f"{since(row.updated, now)} ago"


def _when(row: RunRow, now: datetime) -> str:
    """Describe the last activity as ``now``, ``14:05`` or ``2026-11-20 14:05``."""
    if row.live:
        return "now"
    return "—" if row.updated is None else day_and_clock(row.updated, now)


def _timed(describe: Callable[[RunRow, datetime], str]) -> Cell[RunRow]:
    return lambda row, now, width: [
        (clip(describe(row, now), width), "accent" if row.live else "dim")
    ]


# columns ------------------------------------------------------------------------------------------

RUN = RunColumns[RunRow](
    state_of,
    _objective,
    iterations=lambda row: used_of(row.iterations, row.max_iterations),
    completions=lambda row: row.completions,
    cost=_cost,
    stale=lambda row: row.stale,
)
INTERVENTIONS = Column("interventions", 13, text_cell(_interventions, "warn"), right=True)
NARROW_INTERVENTIONS = Column(
    terms.CRITICAL.glyph, 2, text_cell(_interventions, "warn"), right=True
)
DURATION = Column("time", 6, _timed(_duration), right=True)
AGO = Column("when", 7, _timed(_ago), right=True)
WHEN = Column("when", 16, _timed(_when), right=True)

_NARROW = (RUN.state(11), RUN.objective)
COLUMNS = ColumnSets(
    (
        (RUN.state(22), RUN.objective, RUN.iterations, RUN.course(18), INTERVENTIONS, RUN.cost,
         DURATION, WHEN),
        (RUN.state(15), RUN.objective, RUN.iterations, RUN.course(18), INTERVENTIONS, RUN.cost,
         DURATION, AGO),
        (RUN.state(15), RUN.objective, RUN.iterations, RUN.course(14), NARROW_INTERVENTIONS,
         RUN.cost, DURATION, AGO),
        (*_NARROW, RUN.narrow_iterations, RUN.course(11), NARROW_INTERVENTIONS, RUN.cost, DURATION,
         AGO),
        (*_NARROW, RUN.narrow_iterations, RUN.completion, RUN.cost, AGO),
        (*_NARROW, RUN.completion, AGO),
        (RUN.sign, RUN.objective, RUN.completion),
        (RUN.sign, RUN.objective),
    ),
    room=(50, 36, 20, 14, 14, 12, 8, 0),
)  # fmt: skip

# the list -----------------------------------------------------------------------------------------

_EARLIEST = datetime.fromtimestamp(0, UTC)


@dataclass
class Listing:
    """The list of runs; it outlives its screen, so that home reopens at the same place."""

    names: Sequence[str] = ()
    """Newest first."""
    rows: dict[str, RunRow] = field(default_factory=dict)
    selected: int = 0
    loaded: bool = False
    """True once every place with recorded runs has been checked."""
    fleet: FleetGlance | None = None
    """The fleet running here, otherwise the newest one."""

    @property
    def count(self) -> int:
        return len(self.names)

    @property
    def name(self) -> str | None:
        """The selected run's name; None if there are no runs."""
        return self.names[self.selected] if self.names else None

    @property
    def row(self) -> RunRow | None:
        """The selected run's row; None until it has been read."""
        return self.rows.get(self.name or "")

    def order(self, found: Sequence[str], eager: int) -> None:
        """Sort the first `eager` runs by their records, live ones first, once all have been read.

        `found` holds all runs, most recently written first.
        """
        first = found[:eager]
        if all(name in self.rows for name in first):
            first = sorted(first, key=lambda name: _recent(self.rows[name]), reverse=True)
        self.put([*first, *found[eager:]])

    def put(self, names: Sequence[str]) -> None:
        """Replace or reorder the runs; keep the run selected, or its position if it is gone."""
        name = self.name
        self.names = names
        if name in names:
            self.selected = names.index(name)
        self.selected = max(0, min(self.selected, len(names) - 1))


def _recent(row: RunRow) -> tuple[bool, datetime]:
    return row.live, row.updated or _EARLIEST


class RunTable(ListTable):
    """The table of runs."""

    def __init__(self, listing: Listing) -> None:
        super().__init__("runs", listing)
        self.listing = listing
        self.now = _EARLIEST

    @property
    def in_view(self) -> Sequence[str]:
        """The names of the runs in view."""
        return self.listing.names[self.top : self.top + self.page]

    def times(self, now: datetime) -> Sequence[str]:
        """Return the visible texts that change merely because time passes."""
        known = [self.listing.rows[name] for name in self.in_view if name in self.listing.rows]
        return [describe(row, now) for row in known for describe in (_duration, _ago, _when)]

    def show(self, now: datetime, sentence: str = "") -> None:
        """Show the listing, or a sentence instead of it."""
        self.now = now
        self.follow(sentence)

    def titles(self, width: int) -> Line:
        return COLUMNS.titles(width)

    def entry(self, index: int, width: int) -> Sequence[Line]:
        name = self.listing.names[index]
        row = self.listing.rows.get(name)
        return [[(name, "dim")] if row is None else COLUMNS.line_of(row, self.now, width)]
