"""What every step of a run is given: what was asked for, the outside, the state, the scheduler."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, Protocol

from ralph_tui.events import Event, RunStarted
from ralph_tui.layers.control import ControlSettings
from ralph_tui.layers.governor import Governor
from ralph_tui.layers.intelligence import IntelligenceSettings
from ralph_tui.layers.oversight import OversightSettings
from ralph_tui.layers.sensor import Sensor
from ralph_tui.layers.settings import ContextSettings
from ralph_tui.loop.guard import Guard
from ralph_tui.loop.waiting.scheduler import Scheduler
from ralph_tui.ports import Ports
from ralph_tui.state import RunState

ProgressSource = Literal["auto", "tests", "plan", "agent", "estimate"]
"""Where completion is read from; ``auto`` takes the first source that can speak."""


@dataclass(frozen=True)
class WatchdogLimits:
    """When a silent agent is asked about, and how long the question waits."""

    silence_s: float = 600.0
    """Seconds without output or a changed file, after which it is asked about."""
    answer_s: float = 300.0
    """Seconds after which the default answers."""


@dataclass(frozen=True)
class Rules:
    """The settings the loop itself follows."""

    control: ControlSettings = field(default_factory=ControlSettings)
    oversight: OversightSettings = field(default_factory=OversightSettings)
    progress: ProgressSource = "auto"
    checkpoint_interval_s: float = 1800.0
    watchdog: WatchdogLimits = field(default_factory=WatchdogLimits)
    answer_s: float = 300.0
    """Seconds that a question of the agent waits for its answer."""
    memory: bool = True
    """Whether earlier runs teach this one, and it them."""
    intelligence: IntelligenceSettings = field(default_factory=IntelligenceSettings)
    context: ContextSettings = field(default_factory=ContextSettings)
    fallback_after_s: float = 1200.0
    """Seconds for which a refused agent is waited for before another one takes over."""
    after_limit_s: float = 0.0
    """Seconds after the known end of a limit in which somebody else says when to go on."""


class Remembers(Protocol):
    """What a layer remembers of a run is folded from events, live and again when it is resumed."""

    def recall(self, event: Event, state: RunState, /) -> object:
        """Take up one past event; `state` is the fold of those before it."""
        ...


@dataclass(frozen=True)
class Layers:
    """The layers of one run that remember its past."""

    sensor: Sensor
    governor: Governor
    guard: Guard
    """What of them fails is told from here."""

    @classmethod
    def of(cls, rules: Rules, command: str | None) -> "Layers":
        """As they are before the first reading; `command` is the completion command."""
        guard = Guard()
        governor = Governor(
            0.0,
            rules.control,
            rules.oversight,
            plans=rules.intelligence.enabled,
            attempt=guard.attempt,
        )
        return cls(Sensor(rules.progress, command or ""), governor, guard)

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
    rules: Rules
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
