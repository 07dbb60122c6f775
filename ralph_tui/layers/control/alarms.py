"""The four alarms, each a condition on the measurements alone; none holds at 100 points.

Progress means a new best: a loop that moves without reaching a new best makes no progress.
"""

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ralph_tui.events.control import AlarmName, Severity
from ralph_tui.layers.control.history import SMALL_STEP, History, below
from ralph_tui.layers.control.law import Budget, Patience
from ralph_tui.text.format import count, percent, plain_points, points

if TYPE_CHECKING:
    from ralph_tui.layers.settings import ControlSettings

DEEP = 15.0
"""Number of points below the best that counts as a loss at any noise level."""
NOISY = 4.0
"""A swing is at least this multiple of the usual fall."""

PROGRESS_ALARMS: tuple[AlarmName, ...] = ("REGRESSING", "OSCILLATING", "STUCK")
"""Alarms about progress, most telling first."""

_SEVERITIES: dict[AlarmName, Severity] = {
    "STUCK": "warning",
    "OSCILLATING": "critical",
    "REGRESSING": "critical",
    "BUDGET_EXCEEDED": "emergency",
}
_INTERVENTIONS: dict[AlarmName, tuple[str, str]] = {
    "STUCK": ("pivot_strategy", "simplify_scope"),
    "OSCILLATING": ("stabilize", "constrain_scope"),
    "REGRESSING": ("review_changes", "consider_rollback"),
    "BUDGET_EXCEEDED": ("pause", "escalate"),
}


class Alarm(NamedTuple):
    """A condition that holds at a measurement."""

    alarm: AlarmName
    severity: Severity
    reason: str
    """One sentence that states the evidence."""
    work: str
    """The same sentence for the agent: the effect on its work, without control-layer terms."""
    interventions: tuple[str, ...]


def conditions(history: History, budget: Budget, settings: "ControlSettings") -> tuple[Alarm, ...]:
    """Return every alarm whose condition holds at the latest measurement, with its evidence."""
    if history.complete:
        return ()
    reasons: dict[AlarmName, str | None] = {
        "STUCK": _stuck(history, budget, settings),
        "OSCILLATING": _oscillating(history, budget, settings.oscillations),
        "REGRESSING": _regressing(history, budget, settings.falls),
        "BUDGET_EXCEEDED": _budget_exceeded(history, budget, settings.budget_warning),
    }
    return tuple(
        Alarm(
            name,
            _severity(name, history),
            reason,
            _work(name, history, reason, settings.falls),
            _INTERVENTIONS[name],
        )
        for name, reason in reasons.items()
        if reason is not None
    )


def amount(value: float) -> str:
    """Format a difference of points for display: ``31``, ``31.5``."""
    return f"{value:.1f}".removesuffix(".0")


def _severity(name: AlarmName, history: History) -> Severity:
    """Return the severity; an estimate measures only activity, so it yields at most a warning."""
    if history.estimated and name in PROGRESS_ALARMS:
        return "warning"
    return _SEVERITIES[name]


def _work(name: AlarmName, history: History, reason: str, falls: int) -> str:
    match name:
        case "STUCK":
            new_tests = reason.startswith("New")
            if history.rose_since(history.risen):
                since = f"{count(history.since_rise, 'iteration')}: from"
                risen = percent(history.risen, history.best)
                best = percent(history.best, history.risen)
                what = "New tests pass, but completion" if new_tests else "Completion"
                return f"{what} has hardly risen in {since} {risen} to {best}."
            since = f"iteration {history.best_at}" if history.best_at else "the run began"
            what = "New tests pass, but no new best" if new_tests else "No new best"
            return f"{what} since {since}."
        case "OSCILLATING":
            return f"Completion goes up and down: {_last(7, history)}. {_best(history)}"
        case "REGRESSING" if history.falls >= falls:
            return f"Completion fell: {_last(min(7, history.falls + 1), history)}."
        case "REGRESSING":
            return f"Completion fell and has not recovered: {_last(2, history)}. {_best(history)}"
        case _:
            return reason


def _last(number: int, history: History) -> str:
    readings = history.readings(number)
    return f"{', '.join(points(one, *readings) for one in readings)} %"


def _best(history: History) -> str:
    where = f", after iteration {history.best_at}" if history.best_at else ", at the start"
    return f"Best: {percent(history.best)}{where}."


def _stuck(history: History, budget: Budget, settings: "ControlSettings") -> str | None:
    patience = Patience.of(history, budget, settings)
    waiting = history.since_new >= patience.short
    if not waiting and history.since_rise < 3 * patience.short:
        return None
    if history.calm < patience.short and not _hardly_rises(history, patience):
        return None
    rise = "no new best"
    if history.rose_since(history.risen):
        rise = f"hardly any rise ({plain_points(history.best - history.risen)})"
    said = rise.capitalize() if waiting else f"New tests pass, but {rise}"
    if not history.rises:
        return f"{said} in the first {count(history.since_rise, 'iteration')}."
    return (
        f"{said} for {count(history.since_rise, 'iteration')}; the longest gap between gains so "
        f"far was {history.longest_wait}."
    )


def _hardly_rises(history: History, patience: Patience) -> bool:
    """True if there was no rise in 2N iterations, or less than half of the run's own pace."""
    start = history.best_before(2 * patience.long)
    if start is None:
        return False
    enough = min(history.gain(start), patience.long * history.pace / 2)
    return not history.rose_since(start) or below(history.best - start, enough)


def _swing(history: History, budget: Budget) -> float:
    """h: the step size, in points, that exceeds this run's noise."""
    return min(_deep(budget), max(SMALL_STEP, budget.grain, NOISY * history.noise))


def _deep(budget: Budget) -> float:
    return max(DEEP, budget.grain)


def _oscillating(history: History, budget: Budget, enough: int) -> str | None:
    start = history.best_before(3)
    if start is None or history.gained_since(start):
        return None
    size = _swing(history, budget)
    steps = history.alarm_steps(6)
    moves = [step for step in steps if not below(abs(step), size)]
    turns = sum((earlier > 0) != (later > 0) for earlier, later in pairwise(moves))
    if turns < enough or all(below(abs(step), size) for step in steps[-2:]):
        return None
    gained = history.best - start
    brought = f"little ({amount(gained)} points)" if history.rose_since(start) else "nothing"
    return (
        f"Completion changed direction {count(turns, 'time')} in {count(len(steps), 'iteration')} "
        f"by {amount(size)} points or more and gained {brought}."
    )


def _regressing(history: History, budget: Budget, falls: int) -> str | None:
    deep = _deep(budget)
    enough = min(deep, max(_swing(history, budget), budget.max_iterations / 20))
    if history.falls >= falls and not below(history.fallen, enough):
        what = f"{history.falls} falls in a row" if history.falls > 1 else "1 fall"
        return f"{what} cost {amount(history.fallen)} points."
    if history.length < 2 or any(below(history.below_best(back), deep) for back in (0, 1)):
        return None
    if not below(history.alarm_steps(1)[0], SMALL_STEP):
        return None
    return (
        f"The last 2 measurements were at least {amount(deep)} points below the best, "
        f"{amount(history.best)}, and the last one gained less than 5."
    )


def _budget_exceeded(history: History, budget: Budget, share: float) -> str | None:
    if not budget.has_used(share, history.iteration):
        return None
    used = budget.used_words(history.iteration)
    return f"{used}, and completion is at {percent(history.reading)}."
