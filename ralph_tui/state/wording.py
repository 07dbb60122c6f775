"""Layer 4 in the log: how its events are worded."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ralph_tui.events import (
    ConflictsFound,
    EffectObserved,
    EscalationDelivered,
    Event,
    HealthChecked,
    InterventionMade,
    LimitsChanged,
    QuestionHeld,
    RunResumed,
    WorktreeRestored,
)
from ralph_tui.state.fold import on
from ralph_tui.text.format import count, points_gained
from ralph_tui.text.terms import RowLevel, in_words


class Row(NamedTuple):
    """What the log says of an event."""

    level: RowLevel
    word: str
    """LOG, WARN, STUCK...: severity is never told by colour alone."""
    text: str
    detail: str = ""
    """Its evidence."""


Wording = Callable[[Any], Row | None]
"""From an event of one type to its row; None for what is not worth one."""

_LEVELS: dict[str, RowLevel] = {
    "LOG": "log",
    "WARN": "warn",
    "REDIRECT": "critical",
    "PAUSE": "critical",
}


def _intervention(e: InterventionMade) -> Row:
    parts = [*e.others, *(f"recommended: {what}" for what in e.recommendations)]
    text = f"{in_words(e.about)}: {e.reason}"
    return Row(_LEVELS.get(e.level, "critical"), e.level, text, "\n".join(parts))


def effect_words(e: EffectObserved) -> str:
    """``REDIRECT stuck at 4, approved by you: +14 points after 2``."""
    gained = points_gained(e.points)
    return f"{e.level} {in_words(e.about)} at {e.of}, {e.decision}: {gained} after {e.after}"


def _effect(e: EffectObserved) -> Row:
    return Row("good" if e.points >= 1 else "warn", "EFFECT", effect_words(e))


def _health(e: HealthChecked) -> Row | None:
    if e.ended is None:
        return None
    return Row("good", "ENDED", f"{in_words(e.ended)}: a new best ends it")


def _limits(e: LimitsChanged) -> Row:
    money = "" if e.budget_usd is None else f", ${e.budget_usd:,.2f}"
    why = f": the interrupted iteration {e.spared} is not spent" if e.spared else ""
    return Row("owner", "LIMITS", f"{e.max_iterations} iterations{money}, set by {e.by}{why}")


def _restored(e: WorktreeRestored) -> Row:
    kept = f", {len(e.kept)} left alone" if e.kept else ""
    detail = "\n".join([*e.paths, *(f"left alone: {path}" for path in e.kept)])
    text = (
        f"{count(e.files, 'file')} as in snapshot {e.snapshot}{kept}, by {e.by}; "
        f"snapshot {e.present} holds what was there"
    )
    return Row("owner", "ROLLBACK", text, detail)


def _conflicts(e: ConflictsFound) -> Row:
    return Row("warn", "CONFLICTS", f"unresolved in {', '.join(e.paths[:3])}", "\n".join(e.paths))


def _delivered(e: EscalationDelivered) -> Row:
    return Row("log" if e.ok else "warn", e.channel.upper(), e.text)


ROWS: dict[type[Event], Wording] = dict(
    [
        on(RunResumed, lambda e: Row("owner", "RESUMED", e.found or "the run goes on")),
        on(InterventionMade, _intervention),
        on(EffectObserved, _effect),
        on(HealthChecked, _health),
        on(LimitsChanged, _limits),
        on(WorktreeRestored, _restored),
        on(ConflictsFound, _conflicts),
        on(EscalationDelivered, _delivered),
        on(QuestionHeld, lambda e: Row("owner", "HELD", f"the countdown was stopped by {e.by}")),
    ]
)
"""One row for an event, or none."""
