"""The control signal chart: one point per reading, and marks where alarms fired."""

from dataclasses import dataclass

from ralph_tui.events import AlarmCleared, AlarmRaised, LimitsChanged, ReadingTaken, SignalComputed
from ralph_tui.events.control import AlarmName
from ralph_tui.state.fold import Fold
from ralph_tui.text.terms import LEVELS, SEVERITIES


@dataclass(slots=True)
class SignalPoint:
    """What is known of one iteration; fractions 0-1. The baseline is iteration 0."""

    iteration: int
    completion: float
    error: float
    signal: SignalComputed | None = None
    """None for the baseline, and until the control law has spoken."""


@dataclass(frozen=True, slots=True)
class ChartMark:
    """Something that happened at an iteration and deserves a glyph on the chart."""

    iteration: int
    glyph: str
    """▲ warning, ◆ critical or emergency."""
    name: str
    severity: str


class ControlFold(Fold):
    """What the chart draws."""

    def __init__(self) -> None:
        self.points: list[SignalPoint] = []
        self.marks: list[ChartMark] = []
        self.alarms: dict[AlarmName, AlarmRaised] = {}
        """Alarms that are up."""
        self.outgrown: set[AlarmName] = set()
        """Those about limits that have changed since; the next reading decides."""

    @property
    def latest(self) -> SignalComputed | None:
        """The last answer of the control law."""
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
