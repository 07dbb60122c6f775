"""A run in this process: its events come through a deque, its commands go to its engine.

`poll` runs on the UI thread at 15 Hz and must be fast. A source never touches a widget.
"""

from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from ralph_tui.commands import Command
from ralph_tui.events import Event
from ralph_tui.ports.player import Player
from ralph_tui.ports.source import Files, OnDisk
from ralph_tui.state import RunState

PER_POLL = 5000
"""Maximum number of events folded per poll, so that a flood does not delay keys."""


def _wall_clock() -> datetime:
    return datetime.now(UTC)


class Live:
    """A run of this process: its engine's thread fills the deque, the UI thread empties it."""

    live = True
    elsewhere = False
    name = "you"
    lost: bool | str = False
    restores_ended = False
    broken = False
    overtaken = ""
    player: Player | None = None
    files: Files | None = None
    record: OnDisk | None = None

    def __init__(
        self,
        inbox: deque[Event],
        send: Callable[[Command], None],
        folder: Path | None = None,
        *,
        wall_clock: Callable[[], datetime] = _wall_clock,
    ) -> None:
        self.folder = folder
        self.note = ""
        self.refused: deque[tuple[Command, str]] = deque()
        self._inbox = inbox
        self._send = send
        self._wall_clock = wall_clock

    def start(self) -> None:
        pass

    def poll(self, state: RunState, now: float) -> RunState:
        inbox = self._inbox
        for _ in range(min(len(inbox), PER_POLL)):
            state.apply(inbox.popleft())
        return state

    def clock(self, state: RunState) -> datetime:
        return self._wall_clock()

    def send(self, command: Command) -> None:
        self._send(command)

    def stop(self) -> None:
        pass
