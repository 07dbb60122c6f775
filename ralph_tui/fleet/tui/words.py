"""How the fleet's screen says what a loop's row holds. Rule: pure functions of their arguments."""

from datetime import datetime

from ralph_tui.fleet.tui.view import LoopRow
from ralph_tui.fleet.wording import elsewhere
from ralph_tui.text.format import duration, money, percent
from ralph_tui.text.terms import (
    BEATEN,
    CHOSEN,
    DIED,
    LOOPS,
    NEEDS_YOU,
    OUTCOME_TONES,
    OUTCOMES,
    PHASES,
    STAGES,
    Term,
    in_words,
)
from ralph_tui.tui.draw.words import short_duration, spark

_SHORT = {"limit_reached": "limit"}
"""Where the whole word has no room."""
_HELD = {"paused": "paused", "limited": "waits"}


def state_of(row: LoopRow) -> tuple[Term, str]:
    """Glyph and word of how it stands, and the style they have."""
    loop = row.loop
    if row.asks:
        return NEEDS_YOU._replace(short="asks"), "warn strong"
    if loop.status == "ended":
        return _ended(row)
    if row.gone and loop.attempt and loop.status not in ("queued", "skipped"):
        return (LOOPS["lost"] if elsewhere(loop) else DIED), "bad"
    if loop.status == "running":
        phase = PHASES.get(loop.phase, Term(PHASES["agent"].glyph, in_words(loop.phase) or "runs"))
        word = _HELD.get(loop.phase, "runs")
        return phase._replace(short=word), "warn" if loop.phase in _HELD else "accent"
    term = LOOPS.get(loop.status, Term("·", in_words(loop.status)))
    if loop.status == "placing" and loop.stage:
        term = Term(term.glyph, STAGES.get(loop.stage, in_words(loop.stage)), loop.stage)
    return term, {"placing": "accent", "lost": "bad"}.get(loop.status, "dim")


def _ended(row: LoopRow) -> tuple[Term, str]:
    loop = row.loop
    if loop.verifying and not row.gone:
        return PHASES["verifying"], "accent"
    outcome = loop.outcome or "interrupted"
    term = OUTCOMES.get(outcome, Term("■", in_words(outcome)))
    short = "no start" if loop.never_began else _SHORT.get(outcome, "")
    return term._replace(short=short), OUTCOME_TONES.get(outcome, "dim")


def left(row: LoopRow, now: datetime) -> str:
    """Until its question's default is taken, a limit ends or its host is given up; else nothing."""
    loop = row.loop
    until = loop.lost_until if loop.status == "lost" else loop.until
    if until is None or row.gone or loop.over or until <= now:
        return ""
    return short_duration((until - now).total_seconds())


def place(row: LoopRow) -> tuple[str, str]:
    """Among several tries, in a word, and its style; empty while nothing is decided."""
    if row.loop.place == "chosen":
        return CHOSEN.label, "good strong"
    beaten = row.loop.place == "beaten" and not row.loop.not_needed
    return (BEATEN.word, "dim") if beaten else ("", "")


def branch_mark(row: LoopRow) -> str:
    """How a try hangs together with the others at its objective."""
    if row.tries < 2:
        return ""
    return "┌ " if row.number == 1 else "└ " if row.number == row.tries else "├ "


def iterations(row: LoopRow) -> str:
    """``4/10``; ``4`` where no number was granted."""
    loop = row.loop
    if not loop.began_at:
        return ""
    return str(loop.iteration) + (f"/{loop.max_iterations}" if loop.max_iterations else "")


def completion(row: LoopRow) -> str:
    """The last reading; ``—`` where nothing was measured."""
    readings = row.loop.completions
    return percent(100 * readings[-1]) if readings else "—"


def readings(row: LoopRow, width: int) -> str:
    """The course of the completion."""
    return spark([100 * each for each in row.loop.completions], width)


def cost(row: LoopRow) -> str:
    """Dollars of all its attempts; ``—`` where its agent does not tell."""
    loop = row.loop
    known = loop.cost_usd is not None or loop.earlier_cost_usd > 0
    return money(loop.spent_usd, known=known) if loop.began_at or known else ""


def host(row: LoopRow) -> str:
    """Where it runs, or ran."""
    return row.loop.host


def lasted(row: LoopRow, now: datetime) -> str:
    """How long it took; of one that runs, how long it has been at it, as its own screen says."""
    loop = row.loop
    began, goes_on = loop.began_at or loop.placed_at, loop.status == "placing" and loop.began_at
    if began is None or loop.status == "queued" or goes_on:
        return ""
    whole = ((loop.ended_at or now) - began).total_seconds()
    return duration(max(0.0, whole - loop.away_s))


def agent(row: LoopRow) -> str:
    """``claude sonnet``; empty where the user's own setting says it."""
    settings = row.loop.spec.settings
    named = settings.get("agent.name") or settings.get("agent.command", "")
    return " ".join(filter(None, (named, settings.get("agent.model", ""))))
