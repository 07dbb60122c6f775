"""What a screen needs of a fleet: its state as it grows, and somebody to take its commands.

Rule: a screen does not ask where the fleet runs; a finished one differs in its state alone.
"""

from collections import deque
from datetime import datetime
from typing import NamedTuple, Protocol

from ralph_tui.commands import Command
from ralph_tui.fleet.state import FleetState

ALL, FLEET = "all", ""
"""Whom a command is for that names no loop: each loop, or the fleet itself."""


class Asked(NamedTuple):
    """A command, and whom it is for."""

    loop: str
    """Its id, `ALL` or `FLEET`."""
    command: Command


class FleetSource(Protocol):
    """Every call is made on the UI thread, and none blocks."""

    name: str
    """How the commands of this screen are signed."""
    state: FleetState
    """As of the last poll; it is replaced where the journal is read from its start."""
    lost: bool
    """Its process is gone, and no end was recorded."""
    note: str
    """One sentence about the record itself, such as where it breaks off; mostly empty."""
    refused: deque[tuple[Asked, str]]
    """Refused commands, each with the reason; the screen takes them out and says why."""

    @property
    def loaded(self) -> bool:
        """All that was recorded at first is in the state."""
        ...

    @property
    def live(self) -> bool:
        """Its process works on it, as far as is known."""
        ...

    def start(self) -> None:
        """Begin to deliver commands; called once."""
        ...

    def poll(self, now: float) -> FleetState:
        """Bring the state up to date; `now` is monotonic."""
        ...

    def clock(self) -> datetime:
        """The present of what is shown: ages and countdowns are told against it."""
        ...

    def send(self, loop: str, command: Command) -> None:
        """Hand a command to a loop, to `ALL` or to the `FLEET`."""
        ...

    def stop(self) -> None:
        """The screen is gone."""
        ...
