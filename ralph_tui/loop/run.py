"""What every step of a run is given: what was asked for, the outside, the state, the scheduler."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from ralph_tui.config.settings import Settings
from ralph_tui.events import Event, RunStarted
from ralph_tui.layers.governor import Governor
from ralph_tui.layers.sensor import Sensor
from ralph_tui.loop.guard import Guard
from ralph_tui.loop.waiting.scheduler import Scheduler
from ralph_tui.ports.outside import Ports
from ralph_tui.state import RunState


class Remembers(Protocol):
    """What a layer remembers of a run is folded from events, live and again when it is resumed."""

    def recall(self, event: Event, state: RunState, /) -> object:
        """Take up one past event; `state` is the fold of those before it."""


@dataclass(frozen=True)
class Layers:
    """The layers of one run that remember its past."""

    sensor: Sensor
    governor: Governor
    guard: Guard
    """What of them fails is told from here."""

    @classmethod
    def of(cls, settings: Settings, command: str | None) -> "Layers":
        """As they are before the first reading; `command` is the completion command."""
        guard = Guard()
        governor = Governor(
            0.0,
            settings.control,
            settings.oversight,
            plans=settings.intelligence.enabled,
            attempt=guard.attempt,
        )
        return cls(Sensor(settings.progress, command or ""), governor, guard)

    def recall(self, events: Iterable[Event]) -> RunState:
        """Take up the past of a run, in one pass; gives back its fold."""
        remembering: tuple[tuple[str, Remembers], ...] = (
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
                    instead="what it remembers of this run is not whole",
                )
            state.apply(event)
        return state


@dataclass(frozen=True)
class Run:
    """One run, as its steps see it."""

    start: RunStarted
    settings: Settings
    ports: Ports
    layers: Layers
    scheduler: Scheduler

    @property
    def state(self) -> RunState:
        """The fold of what is recorded; the host keeps it current while the loop runs."""
        return self.scheduler.state

    def record(self, *events: Event) -> None:
        """Journal and fold these before the next line runs."""
        for event in events:
            self.scheduler.record(event)

    @property
    def goal(self) -> RunStarted:
        """What completes the run: its start, with what you decided about that since."""
        return self.state.run.started or self.start

    @property
    def headless(self) -> bool:
        """Whether it was started with nobody to ask."""
        return self.start.mode == "headless"
