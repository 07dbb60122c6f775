"""How home says what a row holds. Rule: pure functions of their arguments."""

from datetime import datetime

from ralph_tui.analysis.run_row import RunRow
from ralph_tui.text.format import day_and_clock, duration, money, percent
from ralph_tui.text.terms import (
    ENDLESS,
    NEEDS_YOU,
    OUTCOME_TONES,
    OUTCOMES,
    PHASES,
    Term,
    in_words,
)
from ralph_tui.tui.draw.words import since, spark

LIVE = "live"
_HELD = {"paused": "paused", "limited": "waits"}
"""Phases in which a live run does not work, in a word."""
_SHORT = {"limit_reached": "limit"}
"""Where the whole word has no room."""


def state_of(row: RunRow) -> tuple[Term, str]:
    """Glyph and word of its state, and the style they have."""
    if row.question:
        return NEEDS_YOU, "warn strong"
    if row.live:
        term = PHASES.get(row.status, Term(PHASES["agent"].glyph, in_words(row.status)))
        return Term(term.glyph, term.word, _HELD.get(row.status, LIVE)), "accent"
    if row.status in OUTCOMES:
        term = OUTCOMES[row.status]
        return term._replace(short=_SHORT.get(row.status, "")), OUTCOME_TONES[row.status]
    if row.status in ENDLESS:
        return ENDLESS[row.status], "bad"
    return Term(PHASES["finished"].glyph, in_words(row.status)), "dim"


def iterations(row: RunRow) -> str:
    """``4/10``; ``4`` where no number was granted."""
    return str(row.iterations) + (f"/{row.max_iterations}" if row.max_iterations else "")


def completion(row: RunRow) -> str:
    """The last reading; ``—`` where nothing was measured."""
    return percent(100 * row.completions[-1]) if row.completions else "—"


def readings(row: RunRow, width: int) -> str:
    """The course of the completion."""
    return spark([100 * each for each in row.completions], width)


def interventions(row: RunRow) -> str:
    """How many; nothing for none, ``—`` where they were not counted."""
    return "—" if row.interventions is None else str(row.interventions or "")


def cost(row: RunRow) -> str:
    """Dollars; ``—`` where the agent does not tell."""
    return money(row.cost_usd or 0.0, known=row.cost_usd is not None, estimated=row.cost_estimated)


def lasted(row: RunRow, now: datetime) -> str:
    """How long it took; of a live run, how long it has been at it."""
    going = (now - row.updated).total_seconds() if row.live and row.updated else 0.0
    return duration(row.seconds + max(0.0, going))


def ago(row: RunRow, now: datetime) -> str:
    """``now``, ``5m ago``, ``3d ago``."""
    if row.live:
        return "now"
    return "—" if row.updated is None else f"{since(row.updated, now)} ago"


def when(row: RunRow, now: datetime) -> str:
    """``now``, ``14:05``, ``2026-11-20 14:05``."""
    if row.live:
        return "now"
    return "—" if row.updated is None else day_and_clock(row.updated, now)
