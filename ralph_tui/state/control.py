"""The control signal chart: one point per reading, and marks where alarms fired."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ralph_tui.events import AlarmCleared, AlarmRaised, ReadingTaken, SignalComputed
from ralph_tui.events.control import AlarmName


@dataclass(slots=True)
class SignalPoint:
    """What is known of one iteration; fractions 0-1. The baseline is iteration 0."""

    iteration: int
    completion: float
    error: float
    signal: SignalComputed | None = None
    """None for the baseline, and until the control law has spoken."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened at an iteration and deserves a glyph on the chart."""

    iteration: int
    glyph: str
    """▲ warning, ◆ critical or emergency."""
    name: str
    severity: str


class ControlFold:
    """What the chart draws."""

    def __init__(self) -> None:
        self.revision = 0
        self.points: list[SignalPoint] = []
        self.marks: list[Mark] = []
        self.alarms: dict[AlarmName, AlarmRaised] = {}
        """Alarms that are up."""

    @property
    def latest(self) -> SignalComputed | None:
        """The last answer of the control law."""
        return next((p.signal for p in reversed(self.points) if p.signal is not None), None)

    def handlers(self) -> dict[str, Callable[[Any], None]]:
        """See `Fold`."""
        return {
            "reading_taken": self._reading_taken,
            "signal_computed": self._signal_computed,
            "alarm_raised": self._alarm_raised,
            "alarm_cleared": self._alarm_cleared,
        }

    def _reading_taken(self, event: ReadingTaken) -> None:
        self.revision += 1
        fraction = event.completion / 100
        self.points.append(SignalPoint(event.iteration, fraction, 1 - fraction))

    def _signal_computed(self, event: SignalComputed) -> None:
        self.revision += 1
        if self.points and self.points[-1].iteration == event.iteration:
            self.points[-1].signal = event

    def _alarm_raised(self, event: AlarmRaised) -> None:
        self.revision += 1
        self.alarms[event.alarm] = event
        glyph = "▲" if event.severity == "warning" else "◆"
        self.marks.append(Mark(event.iteration, glyph, event.alarm, event.severity))

    def _alarm_cleared(self, event: AlarmCleared) -> None:
        self.revision += 1
        self.alarms.pop(event.alarm, None)
