"""The one reducer: live view, replay, resume, status and tests all fold with `RunState.apply`.

`RunState` delegates to one fold per pane. Folds are private to the thread that applies; nothing in
here is shared. Everything that grows with the agent's output is bounded.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Protocol

from ralph_tui.events import Event, UnknownEvent
from ralph_tui.events.base import EPOCH
from ralph_tui.state.agent import AgentFold, AgentRow
from ralph_tui.state.control import ControlFold, Mark, SignalPoint
from ralph_tui.state.files import FilesFold
from ralph_tui.state.gate import GateFold
from ralph_tui.state.guidance import Guidance, GuidanceFold
from ralph_tui.state.log import LogFold, LogRow
from ralph_tui.state.needs import NeedsFold
from ralph_tui.state.oversight import Intervention, OversightFold
from ralph_tui.state.run import Phase, RunFold
from ralph_tui.state.timeline import CheckpointPoint, IterationSpan, TimelineFold


class Fold(Protocol):
    """State of one pane: a table from event kind to the method that takes it in."""

    revision: int
    """Grows whenever something visible changed; panes compare it and skip their work."""

    def handlers(self) -> dict[str, Callable[[Any], None]]:
        """Which event kinds concern this fold."""
        ...


class RunState:
    """Everything a screen shows and a loop remembers, folded from events."""

    def __init__(self) -> None:
        self.seq = 0
        """The last event applied."""
        self.at: datetime = EPOCH
        """Its time; in a replay this is 'now'."""
        self.run = RunFold()
        self.control = ControlFold()
        self.log = LogFold()
        self.timeline = TimelineFold()
        self.files = FilesFold()
        self.agent = AgentFold()
        self.gate = GateFold()
        self.guidance = GuidanceFold()
        self.needs = NeedsFold()
        self.oversight = OversightFold()
        self._handlers: dict[str, list[Callable[[Any], None]]] = {}
        for fold in self.folds():
            for kind, handler in fold.handlers().items():
                self._handlers.setdefault(kind, []).append(handler)

    def folds(self) -> tuple[Fold, ...]:
        """One per pane."""
        return (
            self.run,
            self.control,
            self.log,
            self.timeline,
            self.files,
            self.agent,
            self.gate,
            self.guidance,
            self.needs,
            self.oversight,
        )

    def apply(self, event: Event) -> None:
        """Take one event in; events come in the order of their `seq`."""
        self.seq = event.seq
        self.at = event.at
        for handler in self._handlers.get(event.kind, ()):
            handler(event)
        if isinstance(event, UnknownEvent):
            self.log.unknown(event)

    def apply_all(self, events: Iterable[Event]) -> "RunState":
        """Take many in; returns itself."""
        for event in events:
            self.apply(event)
        return self


__all__ = [
    "AgentRow",
    "CheckpointPoint",
    "Fold",
    "Guidance",
    "Intervention",
    "IterationSpan",
    "LogRow",
    "Mark",
    "Phase",
    "RunState",
    "SignalPoint",
]
