"""Sessions of agents, as tests begin and watch them."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from ralph_tui.adapters.agents import AgentContext
from ralph_tui.config.settings import AgentSettings
from ralph_tui.events import Event, SessionFinished, SessionStarted
from ralph_tui.ports.agents import Permissions, Turn
from tests.waiting import PATIENCE_S

GRACE_S = PATIENCE_S
T = TypeVar("T", bound=Event)


class Heard:
    """An `Emit` that can be waited on."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._news = threading.Condition()

    def __call__(self, event: Event) -> None:
        with self._news:
            self.events.append(event)
            self._news.notify_all()

    def wait_for(self, wanted: Callable[[Event], bool]) -> Event:
        def found() -> Event | None:
            return next(filter(wanted, self.events), None)

        with self._news:
            event = self._news.wait_for(found, GRACE_S)
        assert event is not None, self.events
        return event

    def finished(self) -> SessionFinished:
        """Wait for the end of the session and return its event."""
        event = self.wait_for(lambda event: isinstance(event, SessionFinished))
        assert isinstance(event, SessionFinished)
        assert self.events[-1] is event
        assert isinstance(self.events[0], SessionStarted)
        return event

    def of(self, kind: type[T]) -> list[T]:
        return [event for event in self.events if isinstance(event, kind)]


def context_in(root: Path, **fields: Any) -> AgentContext:
    """Fields of the context, or settings of the section ``agent``."""
    settings = {name: fields.pop(name) for name in AgentSettings.model_fields if name in fields}
    return AgentContext(AgentSettings(**settings), root, run_id="test-run", **fields)


def numbered_turn(tmp: Path, number: int, **fields: Any) -> Turn:
    """The turn of an iteration whose results have a folder below `tmp`."""
    folder = tmp / "attempt" / "results" / f"iter-{number:03}"
    folder.mkdir(parents=True)
    usual: dict[str, Any] = {
        "prompt": "Do the work",
        "session_id": f"11111111-0000-4000-8000-{number:012}",
        "command": "true",
        "permissions": Permissions("skip"),
    }
    return Turn(
        iteration=number,
        transcript=folder / "transcript.jsonl",
        stderr=folder / "stderr.log",
        **usual | fields,
    )


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
