"""The table of loops: the words and columns of its rows, and its widget."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache

from ralph_tui.fleet.tui.view import FleetView, LoopRow
from ralph_tui.fleet.wording import elsewhere
from ralph_tui.text import terms
from ralph_tui.text.format import duration, money
from ralph_tui.tui.draw.spans import Line, clip, flat
from ralph_tui.tui.draw.words import short_duration
from ralph_tui.tui.lists.table import Column, ColumnSets, ListTable, RunColumns, text_cell, used_of

# words of a row ---------------------------------------------------------------------------------

_SHORT = {"limit_reached": "limit"}
"""Short words for outcomes."""
_WAITING = {"paused": "paused", "limited": "waits"}


def state_of(row: LoopRow) -> tuple[terms.Term, str]:
    """Return glyph and word of the loop's state, and their style."""
    loop = row.loop
    if row.is_asking:
        return terms.NEEDS_YOU._replace(short="asks"), "warn strong"
    if loop.status == "ended":
        return _end_term(row)
    if row.gone and loop.attempt and loop.status not in ("queued", "skipped"):
        return (
            terms.LOOPS["lost"] if elsewhere(loop) else terms.ENDLESS[row.lost or "died"]
        ), "bad"
    if loop.status == "running":
        if loop.pause_requested and loop.phase not in _WAITING:
            return terms.PHASES["paused"]._replace(word="pausing"), "warn"
        phase = terms.PHASES.get(
            loop.phase,
            terms.Term(terms.PHASES["agent"].glyph, terms.in_words(loop.phase) or "runs"),
        )
        word = _WAITING.get(loop.phase) or phase.short or "runs"
        return phase._replace(short=word), "warn" if loop.phase in _WAITING else "accent"
    term = terms.LOOPS.get(loop.status, terms.Term("·", terms.in_words(loop.status)))
    if loop.status == "placing" and loop.stage:
        term = terms.Term(
            term.glyph, terms.STAGES.get(loop.stage, terms.in_words(loop.stage)), loop.stage
        )
    return term, {"placing": "accent", "lost": "bad"}.get(loop.status, "dim")


def _end_term(row: LoopRow) -> tuple[terms.Term, str]:
    loop = row.loop
    if loop.verifying and not row.gone:
        return terms.PHASES["verifying"], "accent"
    outcome = loop.outcome or "interrupted"
    term = terms.OUTCOMES.get(outcome, terms.Term("■", terms.in_words(outcome)))
    short = "no start" if loop.never_began else _SHORT.get(outcome, "")
    return term._replace(short=short), terms.OUTCOME_TONES.get(outcome, "dim")


def time_left(row: LoopRow, now: datetime) -> str:
    """Return the time until a default, a limit's end or a host's loss; empty if none is pending."""
    loop = row.loop
    until = loop.lost_until if loop.status == "lost" else loop.until
    if until is None or row.gone or loop.over or until <= now:
        return ""
    return short_duration((until - now).total_seconds())


def place_text(row: LoopRow) -> tuple[str, str]:
    """Return the attempt's result in the choice of a winner, and its style; empty if undecided."""
    if row.loop.place == "chosen":
        return terms.CHOSEN.label, "good strong"
    beaten = row.loop.place == "beaten" and not row.loop.not_needed
    return (terms.BEATEN.word, "dim") if beaten else ("", "")


def branch_mark(row: LoopRow) -> str:
    """Return the line that connects attempts at one objective."""
    if row.attempts < 2:
        return ""
    return "┌ " if row.number == 1 else "└ " if row.number == row.attempts else "├ "


def _iterations_text(row: LoopRow) -> str:
    """Return ``4/10``, or ``4`` without a maximum."""
    loop = row.loop
    if not loop.began_at:
        return ""
    return used_of(loop.iteration, loop.max_iterations)


def _cost_text(row: LoopRow) -> str:
    """Return the cost of all attempts; ``—`` if the agent does not report it."""
    loop = row.loop
    known = loop.cost_reported
    return money(loop.spent_usd, known=known) if loop.began_at or known else ""


def run_time(row: LoopRow, now: datetime) -> str:
    """Return how long the loop ran or has been running, excluding the time away."""
    loop = row.loop
    began, placing = loop.began_at or loop.placed_at, loop.status == "placing" and loop.began_at
    if began is None or loop.status == "queued" or placing:
        return ""
    whole = ((loop.ended_at or now) - began).total_seconds()
    return duration(max(0.0, whole - loop.away_s))


def agent(row: LoopRow) -> str:
    """Return text like ``claude sonnet``; empty if the user's own settings choose the agent."""
    settings = row.loop.spec.settings
    named = settings.get("agent.name") or settings.get("agent.command", "")
    return " ".join(filter(None, (named, settings.get("agent.model", ""))))


# columns ----------------------------------------------------------------------------------------


def _objective_cell(row: LoopRow, now: datetime, width: int) -> Line:
    loop = row.loop
    quiet = loop.over or loop.status == "queued" or row.gone
    mark, (placed, placed_style) = branch_mark(row), place_text(row)
    warned = bool(loop.conflicts or loop.not_collected or loop.verified is False)
    line: Line = [(mark, "faint")] if mark else []
    line += [(f"{terms.WARNING.glyph} ", "warn")] if warned else []
    line += [(f"{placed}  ", placed_style)] if placed else []
    if row.number == 1:
        line.append((flat(loop.spec.objective), "text" if quiet else "strong"))
    else:
        text = agent(row) or "the same"
        line.append((f"attempt {row.number} of {row.attempts}: {flat(text)}", "dim"))
    return line


def _question_cell(row: LoopRow, now: datetime, width: int) -> Line:
    """Return the loop's question, or else its verdict or reason."""
    loop = row.loop
    if row.is_asking:
        return [(clip(flat(loop.question), width), "warn")]
    text = loop.reason if loop.over else loop.verdict
    return [(clip(flat(text), width), "dim")]


def _id_cell(row: LoopRow, now: datetime, width: int) -> Line:
    """Shorten a long name in the middle, because names often begin alike."""
    name = flat(row.id)
    if len(name) > width:  # letters, digits, - and _
        behind = max(1, width // 2)
        name = f"{name[: width - behind - 1]}…{name[-behind:]}"
    return [(name, "text")]


LOOP = RunColumns[LoopRow](
    state_of,
    _objective_cell,
    _iterations_text,
    lambda row: row.loop.completions,
    _cost_text,
    time_left,
)
ASKED = Column("status", 40, _question_cell)
HOST: Column[LoopRow] = Column("host", 10, text_cell(lambda row: row.loop.host, "dim"))
NARROW_HOST: Column[LoopRow] = Column("host", 6, text_cell(lambda row: row.loop.host, "dim"))
LASTED: Column[LoopRow] = Column(
    "time", 6, lambda row, now, width: [(run_time(row, now), "dim")], right=True
)


@cache
def columns_for(longest: int, *, hosts: bool = True) -> ColumnSets[LoopRow]:
    """Return columns with room for names of `longest` characters, within limits.

    Names are shown in full because every command takes them. They never change, so the columns do
    not move. Without `hosts`, there is no host column, and its space goes to the objectives.
    """
    absent = () if hosts else (HOST, NARROW_HOST)
    wide = Column("loop", min(max(12, longest), 24), _id_cell)
    loop = Column("loop", min(max(5, longest), 16), _id_cell)
    narrow = Column("loop" if longest > 3 else "", min(max(3, longest), 12), _id_cell)
    named, short = (LOOP.state(17), loop, LOOP.objective), (LOOP.state(11), narrow, LOOP.objective)
    rest = (LOOP.cost, HOST, LASTED)
    sets: tuple[tuple[Column[LoopRow], ...], ...] = (
        (LOOP.state(26), wide, LOOP.objective, ASKED, LOOP.course(18), LOOP.iterations, *rest),
        (*named, LOOP.course(18), LOOP.iterations, *rest),
        (*named, LOOP.course(11), LOOP.narrow_iterations, *rest),
        (*short, LOOP.course(11), LOOP.narrow_iterations, LOOP.cost, NARROW_HOST, LASTED),
        (*short, LOOP.completion, LOOP.narrow_iterations, LOOP.cost, LASTED),
        (*short, LOOP.completion, LOOP.cost),
        (*short, LOOP.completion),
        (LOOP.sign, narrow, LOOP.objective, LOOP.completion),
        (LOOP.sign, narrow, LOOP.objective),
        (LOOP.sign, LOOP.objective),
    )
    return ColumnSets(
        tuple(tuple(column for column in each if column not in absent) for each in sets),
        room=(40, 36, 22, 18, 14, 14, 12, 4, 3, 0),
    )


COLUMNS = columns_for(0)
"""Columns for loops whose names are numbers."""


class LoopTable(ListTable):
    """The table of a fleet's loops."""

    def __init__(self, view: FleetView) -> None:
        super().__init__("loops", view)
        self._view = view

    @property
    def _columns(self) -> ColumnSets[LoopRow]:
        longest = max((len(row.id) for row in self._view.rows), default=0)
        return columns_for(longest, hosts=self._view.several_hosts)

    def titles(self, width: int) -> Line:
        return self._columns.titles(width)

    def entry(self, index: int, width: int) -> Sequence[Line]:
        return [self._columns.line_of(self._view.rows[index], self._view.now, width)]
