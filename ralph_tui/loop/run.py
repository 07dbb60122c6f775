"""The objects every step of a run shares: request, settings, ports, layers, scheduler, state."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from ralph_tui.config.settings import Settings
from ralph_tui.events import Event, RunStarted
from ralph_tui.layers.governor import Governor
from ralph_tui.layers.sensor.sensor import Sensor
from ralph_tui.loop.guard import Guard
from ralph_tui.loop.waiting.scheduler import Scheduler
from ralph_tui.ports.outside import Ports
from ralph_tui.state import RunState


class ReplayedLayer(Protocol):
    """A layer whose memory of a run is folded from events, both live and on resume."""

    def recall(self, event: Event, state: RunState, /) -> object:
        """Process one past event; `state` is the fold of the events before it."""


@dataclass(frozen=True)
class Layers:
    """The layers that remember the past of one run."""

    sensor: Sensor
    governor: Governor
    guard: Guard
    """Keeps failures of these layers until they can be recorded."""

    @classmethod
    def of(cls, settings: Settings, command: str | None) -> "Layers":
        """Return new layers, before the first measurement, for a completion command."""
        guard = Guard()
        governor = Governor(
            0.0, settings.control, settings.oversight, settings.intelligence, attempt=guard.attempt
        )
        return cls(Sensor(settings.progress, command or ""), governor, guard)

    def recall(self, events: Iterable[Event]) -> RunState:
        """Replay a run's past events into the layers, in one pass; return the folded state."""
        remembering: tuple[tuple[str, ReplayedLayer], ...] = (
            ("sensor", self.sensor),
            ("control", self.governor),
        )
        state = RunState()
        for event in events:
            for name, layer in remembering:
                self.guard.attempt(
                    name,
                    partial(layer.recall, event, state),
                    lambda: None,
                    instead="its memory of this run is incomplete",
                )
            state.apply(event)
        return state


@dataclass(frozen=True)
class Run:
    """The objects of one run, shared by its steps."""

    start: RunStarted
    settings: Settings
    ports: Ports
    layers: Layers
    scheduler: Scheduler

    @property
    def state(self) -> RunState:
        """The fold of all recorded events; the host keeps it current while the loop runs."""
        return self.scheduler.state

    def record(self, *events: Event) -> None:
        """Journal and fold these events before the next line runs."""
        for event in events:
            self.scheduler.record(event)

    @property
    def goal(self) -> RunStarted:
        """The completion goal: the start event with your later decisions applied."""
        return self.state.run.started or self.start

    @property
    def headless(self) -> bool:
        """True if the run was started without a user to ask."""
        return self.start.mode == "headless"
