"""Events of layer 1: the control signal after each measurement, and alarms."""

from typing import Literal

from ralph_tui.events.base import Event, Row
from ralph_tui.events.text import Line, Plain
from ralph_tui.text.terms import SEVERITIES, in_words, remedy_words

__all__ = ["AlarmCleared", "AlarmRaised", "SignalComputed"]

Band = Literal["near_completion", "moderate", "significant", "critical"]
Profile = Literal["exploration", "focused", "aggressive", "damped"]
AlarmName = Literal["STUCK", "OSCILLATING", "REGRESSING", "BUDGET_EXCEEDED"]
Severity = Literal["warning", "critical", "emergency"]
Urgency = Literal["low", "normal", "high", "critical"]
Trend = Literal["improving", "flat", "oscillating", "regressing"]


def alarm_word(name: str) -> str:
    """Return an alarm's name as shown to users: ``stuck``, ``budget``."""
    return in_words(name).lower().removesuffix(" exceeded")


def clause(reason: str) -> str:
    """Return the first clause of a reason, as in ``No new best for 3 iterations``.

    The rest of the reason gives the figures.
    """
    return reason.partition(";")[0].rstrip(".")


class SignalComputed(Event):
    """The control law's output for an iteration's measurement; fractions 0-1 unless noted."""

    kind: Literal["signal_computed"] = "signal_computed"
    iteration: int
    completion: float
    proportional: float
    integral: float
    integral_mean: float
    derivative: float
    velocity: float
    volatility: float
    issue_load: float = 0.0
    forecast: float | None = None
    """Remaining iterations at the better of velocity and mean step; None if neither is positive."""
    fits: bool = False
    """True if the forecast fits in the remaining iterations."""
    trend: Trend | None = None
    """None in older journals."""
    best_at: int | None = None
    """The iteration that last set a new best; 0 for the start, None in older journals."""
    profile: Profile
    kp: float
    ki: float
    kd: float
    output: float
    band: Band
    urgency: Urgency = "normal"


class AlarmRaised(Event):
    """The measurements show a pathology."""

    durable = True
    kind: Literal["alarm_raised"] = "alarm_raised"
    iteration: int
    alarm: AlarmName
    severity: Severity
    reason: Plain
    """One sentence that states the evidence."""
    interventions: list[Line] = []

    def row(self) -> Row:
        remedies = remedy_words(self.interventions)
        detail = f"{self.reason}\nrecommended: {remedies}" if remedies else self.reason
        return Row(SEVERITIES[self.severity], self.alarm.split("_")[0], clause(self.reason), detail)

    def line(self) -> str:
        level = SEVERITIES[self.severity]
        name = level if level in ("warn", "log") else "alarm"
        return f"{name:<7} {alarm_word(self.alarm)}: {self.reason}"


class AlarmCleared(Event):
    """The condition behind an alarm has ended."""

    kind: Literal["alarm_cleared"] = "alarm_cleared"
    iteration: int
    alarm: AlarmName

    def line(self) -> str | None:
        word = alarm_word(self.alarm)
        return None if word == "budget" else f"alarm   no longer {word}"
