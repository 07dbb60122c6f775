"""Outline of a whole run: the time of each event, its iterations, and its alarms and interventions.

Rule: only events of the few relevant kinds are parsed, because a run may have 100,000 events.
"""

from collections.abc import Callable
from typing import NamedTuple

from ralph_tui.events import AlarmRaised, Event, InterventionMade, IterationStarted

ACTING = ("REDIRECT", "PAUSE", "ABORT")
"""Intervention levels that stop the run."""

PARSED_KINDS = frozenset({"iteration_started", "alarm_raised", "intervention_made"})
"""Kinds of events that are parsed; for the others, only the time matters."""


class Mark(NamedTuple):
    """An alarm, or an intervention that stopped the run."""

    position: int
    """Position of its event, from 1; the screen shows the mark once that event is applied."""
    severity: str
    name: str
    """The alarm or the intervention's level, as in ``stuck`` or ``REDIRECT``."""
    iteration: int


class Outline:
    """An outline, built event by event."""

    def __init__(self) -> None:
        self.at: list[float] = []
        """Seconds since the epoch, one per event."""
        self.marks: list[Mark] = []
        self.iterations: list[tuple[int, int]] = []
        """Position of the event that begins an iteration, and the iteration's number."""

    def add(self, kind: str, at: float, event: Callable[[], Event]) -> None:
        """Add one event; `event` parses it if its kind matters."""
        self.at.append(at)
        if kind in PARSED_KINDS:
            self._note(len(self.at), event())

    def cut(self, length: int) -> None:
        """Forget all events after the first `length`."""
        del self.at[length:]
        self.marks = [mark for mark in self.marks if mark.position <= length]
        self.iterations = [begin for begin in self.iterations if begin[0] <= length]

    def _note(self, position: int, event: Event) -> None:
        if isinstance(event, IterationStarted):
            self.iterations.append((position, event.iteration))
        elif isinstance(event, AlarmRaised):
            self.marks.append(Mark(position, event.severity, event.alarm, event.iteration))
        elif isinstance(event, InterventionMade) and event.level in ACTING:
            self.marks.append(Mark(position, "critical", event.level, event.iteration))
