"""What every step of a run is given: what was asked for, the outside, the state, the scheduler."""

from dataclasses import dataclass, field
from typing import Literal

from ralph_tui.events import RunStarted
from ralph_tui.layers.control.settings import ControlSettings
from ralph_tui.layers.oversight import OversightSettings
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


@dataclass(frozen=True)
class Run:
    """One run, as its steps see it."""

    start: RunStarted
    rules: Rules
    ports: Ports
    state: RunState
    """The fold of what is recorded; the host keeps it current while the loop runs."""
    scheduler: Scheduler

    @property
    def headless(self) -> bool:
        """Whether it was started with nobody to ask."""
        return self.start.mode == "headless"
