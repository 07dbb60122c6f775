"""Actions derived for an agent that does not report its tools: sessions and the files they changed.

`Derivation` turns events into actions. It is used by the overseer, which counts them, and by the
records, which list them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from ralph_tui import events as ev
from ralph_tui.events.agent import NO_FAULT
from ralph_tui.events.workspace import FileChange
from ralph_tui.state.fold import Fold, Handlers, on

NO_ANSWER = "no answer"
"""The result of an action whose end was never reported."""
DERIVED_FROM = (
    ev.SessionStarted,
    ev.SessionFinished,
    ev.FilesChanged,
    ev.IterationStarted,
    ev.IterationFinished,
    ev.RunResumed,
    ev.RunFinished,
    ev.RunCrashed,
)


class DerivedAction(NamedTuple):
    """A session (`path` is empty) or a file that it changed."""

    at: datetime
    iteration: int
    kind: Literal["task", "write", "edit"]
    agent: str
    path: str
    ok: bool
    said: str


@dataclass
class Derivation:
    """Derives actions from the events of `DERIVED_FROM`, which must arrive in order."""

    _open: ev.SessionStarted | None = None
    """The running session, unless its agent reports its tools."""
    _last: ev.SessionStarted | None = None
    """The latest session of this iteration, unless its agent reports its tools."""
    _known: dict[str, FileChange] = field(default_factory=dict)
    """Changes of this iteration already yielded, by path."""

    def take(self, event: ev.Event) -> Iterator[DerivedAction]:
        """Yield the actions that this event completes."""
        match event:
            case ev.FilesChanged():
                yield from self._changed(event)
            case ev.SessionFinished():
                yield from self._close(ok=event.outcome in NO_FAULT, said=event.reason)
            case _ if isinstance(event, DERIVED_FROM):
                yield from self._close(ok=False, said=NO_ANSWER)
        match event:
            case ev.SessionStarted():
                self._open = self._last = None if event.tells_tools else event
            case ev.IterationStarted():
                self._last = None
                self._known.clear()

    def _close(self, *, ok: bool, said: str) -> Iterator[DerivedAction]:
        session, self._open = self._open, None
        if session is not None:
            yield DerivedAction(
                session.at, session.iteration, "task", session.agent, path="", ok=ok, said=said
            )

    def _changed(self, event: ev.FilesChanged) -> Iterator[DerivedAction]:
        if event.live or self._last is None or self._last.iteration != event.iteration:
            return
        for change in event.changes:
            if self._known.get(change.path) == change:  # already reported after an earlier session
                continue
            self._known[change.path] = change
            kind: Literal["write", "edit"] = "write" if change.status == "added" else "edit"
            lines = f"+{change.added} −{change.removed}"
            said = "deleted" if change.status == "deleted" else lines
            yield DerivedAction(
                event.at, event.iteration, kind, self._last.agent, change.path, ok=True, said=said
            )


class ActionsFold(Fold):
    """Number of derived actions."""

    def __init__(self) -> None:
        self.derived = 0
        self.iteration_derived = 0
        self._derivation = Derivation()

    def handlers(self) -> Handlers:
        return tuple(on(event_type, self._take) for event_type in DERIVED_FROM)

    def _take(self, event: ev.Event) -> bool:
        if isinstance(event, ev.IterationStarted):
            self.iteration_derived = 0
        number = sum(1 for _ in self._derivation.take(event))
        self.derived += number
        self.iteration_derived += number
        return False
