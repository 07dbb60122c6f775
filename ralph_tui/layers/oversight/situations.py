"""Rows of the situation table, except those of an episode; each row is independent."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ralph_tui.events.oversight import Level, Subject
from ralph_tui.layers.control.alarms import PROGRESS_ALARMS, Alarm, amount
from ralph_tui.layers.control.evaluation import Evaluation
from ralph_tui.layers.control.history import History, below
from ralph_tui.layers.control.law import Budget
from ralph_tui.layers.oversight.behavior import Evidence, name_of
from ralph_tui.layers.oversight.circuit import Circuit
from ralph_tui.layers.oversight.trail import Trail
from ralph_tui.text.format import all_used, percent
from ralph_tui.text.sanitize import clip
from ralph_tui.text.terms import subject_words

Once = Literal["resource_burn", "budget_70", "budget_fits", "budget_short"]

SAME_ERRORS = 3
"""Number of consecutive sessions with the same error that aborts the run."""
DEVIATIONS = 3
"""Number of consecutive iterations off the objective that causes a redirect."""
INVALID = 3
"""Iterations in a row with the same validation error and no new best that cause a redirect."""
SILENT = 3
"""Number of consecutive measurements without a value that causes a pause."""
LISTED = 5
UNPROVEN = 99.9
"""Baseline, in points, of a completion command that passed before iteration 1."""


@dataclass(frozen=True)
class Situation:
    """One row of the table that applies to this iteration."""

    level: Level
    about: Subject
    reason: str
    """One sentence with the evidence."""
    continues: bool = False
    """For a PAUSE: True if the run continues without an answer."""
    would: Level | None = None
    """The original level, if an overseer that only warns reduced it to WARN."""

    def as_warning(self) -> "Situation":
        """Return the situation for an overseer that only warns."""
        if self.level in ("LOG", "WARN"):
            return self
        reason = f"would {self.level.lower()}: {self.reason}"
        return replace(self, level="WARN", would=self.level, reason=reason)


def beside(others: Sequence[Situation]) -> list[str]:
    """Describe the situations that did not act, each with its subject."""
    return [f"{subject_words(other.about).upper()}: {other.reason}" for other in others]


def progress(evaluation: Evaluation) -> list[Alarm]:
    """Return the conditions about progress, the most telling first."""
    found = {condition.alarm: condition for condition in evaluation.conditions}
    return [found[name] for name in PROGRESS_ALARMS if name in found]


def redirect(
    conditions: list[Alarm],
    trail: Trail,
    deviated: str | None,
    evidence: Evidence,
    *,
    pause_on_critical: bool,
) -> list[Situation]:
    """Return the situation that begins an episode.

    It is an alarm, a long deviation from the objective, or a recurring validation error.
    """
    for one in conditions:
        level: Level = "PAUSE" if pause_on_critical and one.severity == "critical" else "REDIRECT"
        return [Situation(level, name_of(one.alarm), one.reason)]
    if deviated and trail.deviations >= DEVIATIONS:
        reason = f"{trail.deviations} iterations in a row were off the objective. {deviated}"
        return [Situation("REDIRECT", "objective_deviation", reason)]
    for name, text in evidence.invalid:
        if trail.recurred(name) >= INVALID:
            reason = f"{trail.recurred(name)} iterations in a row had the same error: {text}"
            return [Situation("REDIRECT", "validation", reason)]
    return []


def validation(before: Trail, evidence: Evidence, *, strict: bool) -> list[Situation]:
    """Return a WARN about new validation errors, or a PAUSE about all if validation is `strict`."""
    known = () if strict else dict(before.invalid)
    text = " ".join(text for name, text in evidence.invalid if name not in known)
    return [Situation("PAUSE" if strict else "WARN", "validation", text)] if text else []


def circuit(before: Circuit, now: Circuit) -> list[Situation]:
    """Return a PAUSE when the circuit trips; after that the episode's schedule decides."""
    if not now.tripped or before.tripped:
        return []
    return [Situation("PAUSE", "circuit", now.tripped)]


def pace(history: History, evaluation: Evaluation, window: int) -> list[Situation]:
    """Report a velocity over `window` steps below half of the run's mean."""
    mean = history.mean_step / 100
    since = history.since_rollback
    if since is not None and since < window:
        return []  # steps before a rollback say nothing about the pace since
    if history.iteration < 3 or mean <= 0 or not below(evaluation.signal.velocity, mean / 2):
        return []  # half of a negative mean is above the mean
    reason = (
        f"The pace of {amount(100 * evaluation.signal.velocity)} points per iteration is below "
        f"{amount(50 * mean)}, half of this run's average."
    )
    return [Situation("LOG", "pace", reason)]


def once(
    history: History,
    evaluation: Evaluation,
    budget: Budget,
    warning: float,
    burn: str | None,
    *,
    lasting: bool,
) -> dict[Once, Situation]:
    """Return the one-time situations by their names in `Oversight.spent`.

    `warning` is the used share of the budget at which the forecast counts.
    """
    used = budget.used_words(history.iteration)
    now = f"completion is at {percent(history.reading)}"
    found: dict[Once, Situation] = {}
    if burn and lasting:
        found["resource_burn"] = Situation("PAUSE", "resource_burn", burn)
    if budget.has_used(0.7, history.iteration):
        found["budget_70"] = Situation("WARN", "budget", f"{used}, and {now}.")
    if not budget.has_used(warning, history.iteration):
        return found
    if evaluation.signal.fits:
        reason = f"{used}, {now}, and the pace is fast enough to finish."
        found["budget_fits"] = Situation("WARN", "budget", reason)
    elif lasting:
        reason = f"{used}, {now}, and the pace is too slow to finish."
        found["budget_short"] = Situation("PAUSE", "budget", reason, continues=True)
    return found


def conflicts(before: Trail, paths: Sequence[str], *, lasting: bool) -> list[Situation]:
    """Return a PAUSE when unresolved git conflicts appear."""
    if not paths or before.conflicted or not lasting:
        return []
    more = f" and {len(paths) - LISTED} more" if len(paths) > LISTED else ""
    listed = ", ".join(clip(path, 60) for path in paths[:LISTED])
    return [Situation("PAUSE", "conflicts", f"Unresolved git conflicts in {listed}{more}.")]


def unmeasured(evidence: Evidence, *, lasting: bool) -> list[Situation]:
    """Return a PAUSE when the tests or plan used so far have given no value for too long."""
    if evidence.unmeasured != SILENT or not lasting:
        return []
    reason = f"Nothing was measured in the last {SILENT} iterations: {evidence.silence}."
    return [Situation("PAUSE", "unmeasured", reason)]


def failure(trail: Trail, error: str) -> list[Situation]:
    """Return an ABORT if the same agent error keeps recurring."""
    if trail.errors < SAME_ERRORS:
        return []
    reason = f"{trail.errors} sessions in a row failed in the same way: {clip(error, 300)}"
    return [Situation("ABORT", "agent_error", reason)]


def no_progress(history: History, iterations: int, *, lasting: bool) -> list[Situation]:
    """Report after the last iteration that nothing was gained."""
    # A command that passed from the start leaves no points to gain.
    if lasting or history.ever_gained or not below(history.baseline, UNPROVEN):
        return []
    # An estimate measures activity, so a lack of progress in it proves nothing.
    level: Level = "WARN" if history.estimated else "ABORT"
    reason = (
        f"{all_used(iterations).capitalize()}, and the best, "
        f"{percent(history.best, history.baseline)}, "
        f"is less than {amount(history.gain(history.baseline))} points above the start, "
        f"{percent(history.baseline, history.best)}."
    )
    return [Situation(level, "no_progress", reason)]
