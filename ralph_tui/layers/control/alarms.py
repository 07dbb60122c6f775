"""The four pathologies, each a condition on the readings alone. None holds at 100.

Progress means a new best: a loop that moves without ever standing higher does not progress.
"""

from dataclasses import dataclass
from itertools import pairwise

from ralph_tui.events.control import AlarmName, Severity
from ralph_tui.layers.control.budget import Budget, Patience
from ralph_tui.layers.control.history import SMALL_STEP, History
from ralph_tui.layers.control.settings import ControlSettings
from ralph_tui.layers.control.tolerance import below

PROGRESS_ALARMS: tuple[AlarmName, ...] = ("REGRESSING", "OSCILLATING", "STUCK")
"""The alarms about progress, the most telling first."""

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


@dataclass(frozen=True)
class Alarm:
    """A condition that holds at a reading."""

    alarm: AlarmName
    severity: Severity
    reason: str
    """One sentence with the evidence."""
    interventions: tuple[str, ...]


def conditions(history: History, budget: Budget, settings: ControlSettings) -> tuple[Alarm, ...]:
    """Every alarm whose condition holds at the latest reading, with its evidence."""
    if history.complete:
        return ()
    reasons: dict[AlarmName, str | None] = {
        "STUCK": _stuck(history, Patience.of(budget, settings)),
        "OSCILLATING": _oscillating(history, budget),
        "REGRESSING": _regressing(history, budget),
        "BUDGET_EXCEEDED": _budget_exceeded(history, budget),
    }
    return tuple(
        Alarm(name, _severity(name, history), reason, _INTERVENTIONS[name])
        for name, reason in reasons.items()
        if reason is not None
    )


def points(value: float) -> str:
    """Points for people: ``31``, ``31.5``."""
    return f"{value:.1f}".removesuffix(".0")


def _severity(name: AlarmName, history: History) -> Severity:
    """An estimate measures activity: what it says of progress is a warning at most."""
    if history.estimated and name in PROGRESS_ALARMS:
        return "warning"
    return _SEVERITIES[name]


def _stuck(history: History, patience: Patience) -> str | None:
    start = history.best_before(patience.short)
    if start is not None and history.calm >= patience.short and not history.rose_since(start):
        return (
            f"The last {patience.short} steps were each under 5 points, "
            f"and the best, {points(start)}, did not rise."
        )
    start = history.best_before(patience.long)
    if start is not None and history.calm >= patience.long and not history.gained_since(start):
        return f"The last {patience.long} steps were each under 5 points: {_rise(history, start)}."
    start = history.best_before(2 * patience.long)
    if start is not None and not history.gained_since(start):
        return f"In {2 * patience.long} iterations {_rise(history, start)}."
    return None


def _oscillating(history: History, budget: Budget) -> str | None:
    start = history.best_before(3)
    if start is None or history.gained_since(start):
        return None
    size = max(SMALL_STEP, budget.grain)
    moves = [step for step in history.alarm_steps(6) if not below(abs(step), size)]
    turns = sum((earlier > 0) != (later > 0) for earlier, later in pairwise(moves))
    if turns < 3:
        return None
    listed = ", ".join(f"{step:+.0f}" for step in moves)
    return (
        f"Completion changed direction {turns} times in the last 6 steps ({listed}): "
        f"{_rise(history, start)} in 3 iterations."
    )


def _regressing(history: History, budget: Budget) -> str | None:
    steps = history.alarm_steps(2)
    if len(steps) < 2:
        return None
    lost = -sum(steps)
    if all(below(step, 0) for step in steps) and not below(lost, SMALL_STEP):
        return f"The last 2 steps lost {points(lost)} points together."
    deep = max(15.0, budget.grain)
    fell = not below(history.previous_loss, deep) and not below(history.loss, deep)
    if fell and below(steps[-1], SMALL_STEP):
        return (
            f"The last 2 readings were at least {points(deep)} points below the best, "
            f"{points(history.best)}, and the last step gained under 5."
        )
    return None


def _budget_exceeded(history: History, budget: Budget) -> str | None:
    if not budget.has_used(9, history.iteration):
        return None
    return (
        f"{budget.used(history.iteration):.0%} of the budget is used "
        f"at {points(history.reading)} points."
    )


def _rise(history: History, start: float) -> str:
    """What became of the best since the window's start, and what would have been enough."""
    rise = history.best - start
    needed = f"a rise of {history.gain(start):.3g} would count"
    if rise <= 0:
        return f"the best stayed at {points(start)} ({needed})"
    return f"the best rose by only {rise:.3g} from {points(start)} ({needed})"
