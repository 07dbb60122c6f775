"""The control signal chart: one point per measurement, and marks where alarms fired."""

from dataclasses import dataclass
from typing import NamedTuple

from ralph_tui.events import AlarmCleared, AlarmRaised, LimitsChanged, ReadingTaken, SignalComputed
from ralph_tui.events.control import AlarmName
from ralph_tui.state.fold import Fold
from ralph_tui.text.terms import LEVELS, SEVERITIES


@dataclass(slots=True)
class SignalPoint:
    """Measurement and control signal of one iteration; fractions 0-1.

    The baseline is iteration 0.
    """

    iteration: int
    completion: float
    error: float
    signal: SignalComputed | None = None
    """None for the baseline, or until the control law has been computed."""


class ChartMark(NamedTuple):
    """An event in an iteration, shown as a glyph on the chart."""

    iteration: int
    glyph: str
    """▲ for a warning, ◆ for critical or emergency."""
    name: str
    severity: str


class ControlFold(Fold):
    """State of the chart."""

    def __init__(self) -> None:
        self.points: list[SignalPoint] = []
        self.marks: list[ChartMark] = []
        self.alarms: dict[AlarmName, AlarmRaised] = {}
        """Alarms that are active."""
        self.outgrown: set[AlarmName] = set()
        """Active alarms about limits that have since changed, until the next measurement."""

    @property
    def latest(self) -> SignalComputed | None:
        """The latest control signal; None before the first."""
        return next((p.signal for p in reversed(self.points) if p.signal is not None), None)

    def on_reading_taken(self, event: ReadingTaken) -> None:
        fraction = event.completion / 100
        self.points.append(SignalPoint(event.iteration, fraction, 1 - fraction))
        self.outgrown.clear()

    def on_signal_computed(self, event: SignalComputed) -> None:
        if self.points and self.points[-1].iteration == event.iteration:
            self.points[-1].signal = event

    def on_alarm_raised(self, event: AlarmRaised) -> None:
        self.alarms[event.alarm] = event
        glyph = LEVELS[SEVERITIES[event.severity]].glyph
        self.marks.append(ChartMark(event.iteration, glyph, event.alarm, event.severity))

    def on_limits_changed(self, _: LimitsChanged) -> None:
        self.outgrown = {name for name in self.alarms if name == "BUDGET_EXCEEDED"}

    def on_alarm_cleared(self, event: AlarmCleared) -> None:
        self.alarms.pop(event.alarm, None)
