"""The runs, a row each; one is selected. However many there are, only those in view are drawn.

Rule: it shows what it is given and reads nothing; a run whose row is not known yet stands there by
its name, and is among what is `wanted`.
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
    granted,
    saying,
)

# what a row holds, in words -----------------------------------------------------------------------

LIVE = "live"
_HELD = {"paused": "paused", "limited": "waits"}
"""Phases in which a live run does not work, in a word."""
_SHORT = {"limit_reached": "limit"}
"""Where the whole word has no room."""


def state_of(row: RunRow) -> tuple[terms.Term, str]:
    """Glyph and word of its state, and the style they have."""
    if row.question:
        return terms.NEEDS_YOU, "warn strong"
    if row.live:
        term = terms.PHASES.get(
            row.status, terms.Term(terms.PHASES["agent"].glyph, terms.in_words(row.status))
        )
        return terms.Term(term.glyph, term.word, _HELD.get(row.status, LIVE)), "accent"
    if row.status in terms.OUTCOMES:
        term = terms.OUTCOMES[row.status]
        return term._replace(short=_SHORT.get(row.status, "")), terms.OUTCOME_TONES[row.status]
    if row.status in terms.ENDLESS:
        return terms.ENDLESS[row.status], "bad"
    return terms.Term(terms.PHASES["finished"].glyph, terms.in_words(row.status)), "dim"


def _objective(row: RunRow, now: datetime, width: int) -> Line:
    readable = row.imported and not row.problem
    text = flat(row.objective) or (NO_OBJECTIVE if readable else "(its record cannot be read)")
    style = "strong" if row.live else "text" if row.objective else "dim"
    return [(clip(text, width), style)]


def _interventions(row: RunRow) -> str:
    """How many; nothing for none, ``—`` where they were not counted."""
    return "—" if row.interventions is None else str(row.interventions or "")


def _cost(row: RunRow) -> str:
    """Dollars; ``—`` where the agent does not tell."""
    return money(row.cost_usd or 0.0, known=row.cost_usd is not None, estimated=row.cost_estimated)


def _lasted(row: RunRow, now: datetime) -> str:
    """How long it took; of a live run, how long it has been at it."""
    going = (now - row.updated).total_seconds() if row.live and row.updated else 0.0
    return duration(row.seconds + max(0.0, going))


def _ago(row: RunRow, now: datetime) -> str:
    """``now``, ``5m ago``, ``3d ago``."""
    if row.live:
        return "now"
    return "—" if row.updated is None else f"{since(row.updated, now)} ago"


def _when(row: RunRow, now: datetime) -> str:
    """``now``, ``14:05``, ``2026-11-20 14:05``."""
    if row.live:
        return "now"
    return "—" if row.updated is None else day_and_clock(row.updated, now)


def _timed(say: Callable[[RunRow, datetime], str]) -> Cell[RunRow]:
    return lambda row, now, width: [(clip(say(row, now), width), "accent" if row.live else "dim")]


# its columns --------------------------------------------------------------------------------------

RUN = RunColumns[RunRow](
    state_of,
    _objective,
    iterations=lambda row: granted(row.iterations, row.max_iterations),
    completions=lambda row: row.completions,
    cost=_cost,
)
INTERVENTIONS = Column("interventions", 13, saying(_interventions, "warn"), right=True)
NARROW_INTERVENTIONS = Column(terms.CRITICAL.glyph, 2, saying(_interventions, "warn"), right=True)
LASTED = Column("time", 6, _timed(_lasted), right=True)
AGO = Column("when", 7, _timed(_ago), right=True)
WHEN = Column("when", 16, _timed(_when), right=True)

_NARROW = (RUN.state(11), RUN.objective)
COLUMNS = ColumnSets(
    (
        (RUN.state(22), RUN.objective, RUN.iterations, RUN.course(18), INTERVENTIONS, RUN.cost,
         LASTED, WHEN),
        (RUN.state(15), RUN.objective, RUN.iterations, RUN.course(18), INTERVENTIONS, RUN.cost,
         LASTED, AGO),
        (RUN.state(15), RUN.objective, RUN.iterations, RUN.course(14), NARROW_INTERVENTIONS,
         RUN.cost, LASTED, AGO),
        (*_NARROW, RUN.narrow_iterations, RUN.course(11), NARROW_INTERVENTIONS, RUN.cost, LASTED,
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
    def count(self) -> int:
        """How many runs."""
        return len(self.names)

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
        super().__init__("runs", listing)
        self.listing = listing
        self.now = _EARLIEST

    @property
    def in_view(self) -> Sequence[str]:
        """The names of the runs in view."""
        return self.listing.names[self.top : self.top + self.page]

    def times(self, now: datetime) -> Sequence[str]:
        """What changes with the time alone, of the rows in view."""
        known = [self.listing.rows[name] for name in self.in_view if name in self.listing.rows]
        return [say(row, now) for row in known for say in (_lasted, _ago, _when)]

    def show(self, now: datetime, sentence: str = "") -> None:
        """Show what the listing holds now, or a sentence in place of it."""
        self.now = now
        self.follow(sentence)

    def titles(self, width: int) -> Line:
        return COLUMNS.titles(width)

    def entry(self, index: int, width: int) -> Sequence[Line]:
        name = self.listing.names[index]
        row = self.listing.rows.get(name)
        return [[(name, "dim")] if row is None else COLUMNS.line_of(row, self.now, width)]
