"""The rows of the situation table, but for those of an episode: each looks for itself alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ralph_tui.events.oversight import Level, Subject
from ralph_tui.layers.control import (
    PROGRESS_ALARMS,
    Alarm,
    Budget,
    Evaluation,
    History,
    amount,
    below,
)
from ralph_tui.layers.oversight.behavior import Evidence, name_of
from ralph_tui.layers.oversight.circuit import Circuit
from ralph_tui.layers.oversight.trail import Trail
from ralph_tui.text.format import all_used, percent
from ralph_tui.text.sanitize import clip
from ralph_tui.text.terms import subject_words

Once = Literal["resource_burn", "budget_70", "budget_90_fits", "budget_90_short"]

SAME_ERRORS = 3
"""Sessions in a row that may fail in the same way."""
DEVIATIONS = 3
"""Iterations in a row that may leave the objective."""
SILENT = 3
"""Readings in a row that measure nothing."""
LISTED = 5
UNPROVEN = 99.9
"""Points: a gate that passed before iteration 1 reads this."""


@dataclass(frozen=True)
class Situation:
    """One row of the table that this iteration has entered."""

    level: Level
    about: Subject
    reason: str
    """One sentence with the evidence."""
    goes_on: bool = False
    """Of a PAUSE: without an answer the run continues, it does not end."""


def beside(others: Sequence[Situation]) -> list[str]:
    """What else was found, each by what it is about: its own level was not acted on."""
    return [f"{subject_words(other.about).upper()}: {other.reason}" for other in others]


def progress(evaluation: Evaluation) -> list[Alarm]:
    """The conditions that speak of progress, the most telling first."""
    found = {condition.alarm: condition for condition in evaluation.conditions}
    return [found[name] for name in PROGRESS_ALARMS if name in found]


def redirect(conditions: list[Alarm], trail: Trail, strayed: str | None) -> list[Situation]:
    """What opens an episode where none is: a condition, or work off the objective for too long."""
    for one in conditions:
        return [Situation("REDIRECT", name_of(one.alarm), one.reason)]
    if strayed and trail.deviations >= DEVIATIONS:
        reason = f"{trail.deviations} iterations in a row were off the objective. {strayed}"
        return [Situation("REDIRECT", "objective_deviation", reason)]
    return []


def circuit(before: Circuit, now: Circuit) -> list[Situation]:
    """Nothing happens any more: asked when that begins; after that the episode's clock asks."""
    if not now.tripped or before.tripped:
        return []
    return [Situation("PAUSE", "circuit", now.tripped)]


def pace(history: History, evaluation: Evaluation, window: int) -> list[Situation]:
    """Velocity, over `window` steps, below half of the run's mean."""
    mean = history.mean_step / 100
    since = history.since_rollback
    if since is not None and since < window:
        return []  # steps from before a rollback say nothing of the pace of what stands
    if history.iteration < 3 or mean <= 0 or not below(evaluation.signal.velocity, mean / 2):
        return []  # half of a negative mean lies above the mean
    reason = (
        f"The pace of {amount(100 * evaluation.signal.velocity)} points per iteration is below "
        f"{amount(50 * mean)}, half of the run's mean."
    )
    return [Situation("LOG", "pace", reason)]


def once(
    history: History, evaluation: Evaluation, budget: Budget, burn: str | None, *, lasting: bool
) -> dict[Once, Situation]:
    """The situations that speak once, by the name they are spent under."""
    used = budget.used_words(history.iteration)
    now = f"at {percent(history.reading)}"
    found: dict[Once, Situation] = {}
    if burn and lasting:
        found["resource_burn"] = Situation("PAUSE", "resource_burn", burn)
    if budget.has_used(7, history.iteration):
        found["budget_70"] = Situation("WARN", "budget", f"{used} {now}.")
    if not budget.has_used(9, history.iteration):
        return found
    if evaluation.signal.fits:
        reason = f"{used} {now}, and the pace is enough to finish within it."
        found["budget_90_fits"] = Situation("WARN", "budget", reason)
    elif lasting:
        reason = f"{used} {now}, and the pace is not enough to finish within it."
        found["budget_90_short"] = Situation("PAUSE", "budget", reason, goes_on=True)
    return found


def conflicts(before: Trail, paths: Sequence[str], *, lasting: bool) -> list[Situation]:
    """Unresolved git conflicts, when they appear."""
    if not paths or before.conflicted or not lasting:
        return []
    more = f" and {len(paths) - LISTED} more" if len(paths) > LISTED else ""
    listed = ", ".join(clip(path, 60) for path in paths[:LISTED])
    return [Situation("PAUSE", "conflicts", f"Unresolved git conflicts in {listed}{more}.")]


def unmeasured(evidence: Evidence, *, lasting: bool) -> list[Situation]:
    """What measured the work gives no counts any more."""
    if evidence.unmeasured != SILENT or not lasting:
        return []
    reason = f"Nothing was measured in the last {SILENT} iterations: {evidence.silence}."
    return [Situation("PAUSE", "unmeasured", reason)]


def failure(trail: Trail, error: str) -> list[Situation]:
    """The same agent error again and again."""
    if trail.errors < SAME_ERRORS:
        return []
    reason = f"{trail.errors} sessions in a row failed in the same way: {clip(error, 300)}"
    return [Situation("ABORT", "agent_error", reason)]


def no_progress(history: History, iterations: int, *, lasting: bool) -> list[Situation]:
    """The last iteration is over, and nothing was gained."""
    # From a gate that was green there is nothing to gain but its owner's word.
    if lasting or history.ever_gained or not below(history.baseline, UNPROVEN):
        return []
    # An estimate measures activity: that it shows no progress proves nothing.
    level: Level = "WARN" if history.estimated else "ABORT"
    reason = (
        f"{all_used(iterations).capitalize()}, and the best, "
        f"{percent(history.best, history.baseline)}, "
        f"stands less than {amount(history.gain(history.baseline))} points above the start, "
        f"{percent(history.baseline, history.best)}."
    )
    return [Situation(level, "no_progress", reason)]
