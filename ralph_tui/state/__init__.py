"""The state of a run, folded from its events.

The live view, replay, resume, status and tests all use this one reducer, `RunState.apply`.

`RunState` delegates to folds, one per subject. They belong to the thread that applies events and
share nothing. Everything that grows with the agent's output is bounded.
"""

from collections.abc import Iterable
from datetime import datetime
from functools import cached_property

from ralph_tui.events import Event, RunResumed
from ralph_tui.events.base import EPOCH
from ralph_tui.state.actions import ActionsFold, DerivedAction
from ralph_tui.state.agent import AgentFold, AgentRow
from ralph_tui.state.context import ContextFold, ContextUse
from ralph_tui.state.control import ChartMark, ControlFold, SignalPoint
from ralph_tui.state.files import FilesFold
from ralph_tui.state.fold import Fold, Handler
from ralph_tui.state.foreign import ForeignFold
from ralph_tui.state.gate import GateFold
from ralph_tui.state.guidance import Guidance, GuidanceFold
from ralph_tui.state.intelligence import IntelligenceFold
from ralph_tui.state.log import LogEntry, LogFold, LogRow
from ralph_tui.state.memory import MemoryFold, SeenLearning
from ralph_tui.state.needs import NeedsFold
from ralph_tui.state.oversight import Intervention, OversightFold
from ralph_tui.state.plan_items import PlanItemsFold
from ralph_tui.state.requests import RequestsFold
from ralph_tui.state.roster import RosterFold
from ralph_tui.state.run import Phase, RunFold
from ralph_tui.state.service import ServiceFold
from ralph_tui.state.timeline import CheckpointPoint, IterationSpan, TimelineFold


class RunState:
    """Everything a screen shows and a loop remembers, folded from events."""

    def __init__(self) -> None:
        self.seq = 0
        """Number of the last event applied."""
        self.at: datetime = EPOCH
        """Time of the last event applied; a replay treats it as the current time."""
        self.run = RunFold()
        self.control = ControlFold()
        self.log = LogFold()
        self.timeline = TimelineFold()
        self.files = FilesFold()
        self.agent = AgentFold()
        self.actions = ActionsFold()
        self.gate = GateFold()
        self.guidance = GuidanceFold()
        self.needs = NeedsFold()
        self.roster = RosterFold()
        self.service = ServiceFold()
        self.asking = RequestsFold()
        self.oversight = OversightFold()
        self.memory = MemoryFold()
        self.intelligence = IntelligenceFold()
        self.context = ContextFold()
        self.plan_items = PlanItemsFold()
        self.foreign = ForeignFold()

    @cached_property
    def _handlers(self) -> dict[type[Event], list[tuple[Fold, Handler]]]:
        """Built on the first event: most states of a newly opened screen never get one."""
        handlers: dict[type[Event], list[tuple[Fold, Handler]]] = {}
        for fold in self.folds():
            for event_type, handler in fold.handlers():
                handlers.setdefault(event_type, []).append((fold, handler))
        return handlers

    @property
    def best_span(self) -> IterationSpan | None:
        """The iteration with the best measurement; the baseline until an iteration beats it."""
        spans = reversed(self.timeline.spans)
        return next((span for span in spans if span.number == self.run.best_iteration), None)

    def folds(self) -> tuple[Fold, ...]:
        """Return all folds in the order in which they receive an event."""
        return tuple(value for value in vars(self).values() if isinstance(value, Fold))

    def apply(self, event: Event) -> None:
        """Apply one event; events must arrive in the order of their `seq`."""
        self.seq = event.seq
        self.at = event.at
        if not isinstance(event, RunResumed):
            self.run.see(event.at)
        for fold, handler in self._handlers.get(type(event), ()):
            if handler(event) is not False:
                fold.revision += 1

    def apply_all(self, events: Iterable[Event]) -> "RunState":
        """Apply several events in order and return this state."""
        for event in events:
            self.apply(event)
        return self


__all__ = [
    "AgentRow",
    "ChartMark",
    "CheckpointPoint",
    "ContextUse",
    "DerivedAction",
    "Fold",
    "Guidance",
    "Intervention",
    "IterationSpan",
    "LogEntry",
    "LogRow",
    "Phase",
    "RunState",
    "SeenLearning",
    "SignalPoint",
]
