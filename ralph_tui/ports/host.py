"""The engine as the loop sees it: time, jobs, the inbox, and who gives orders."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeVar

from ralph_tui.commands import Command
from ralph_tui.events import Event

T = TypeVar("T")
Emit = Callable[[Event], None]
"""Puts an unstamped event into the engine's inbox; callable from any thread."""


class Clock(Protocol):
    """Time, injected."""

    def now(self) -> datetime:
        """Wall time, UTC, aware."""

    def monotonic(self) -> float:
        """Seconds that never go back."""


@dataclass
class Job:
    """Work that runs beside the engine thread and reports to its inbox when it is done."""

    name: str
    done: bool = False
    result: object = None
    error: BaseException | None = None
    then: Callable[["Job"], None] | None = field(default=None, repr=False)
    """Tells the events of a job that nobody waits for."""


@dataclass(frozen=True)
class Accepted:
    """A command was obeyed."""

    seq: int
    """Of the first event that it caused."""


@dataclass(frozen=True)
class Refused:
    """A command could not be obeyed now."""

    reason: str
    """One sentence."""


@dataclass(frozen=True)
class CommandRequest:
    """A command whose giver waits for an answer; `reply` is called once, in the engine's thread."""

    command: Command
    reply: Callable[[Accepted | Refused], None]


class Host(Protocol):
    """What the engine gives the loop: jobs, and the only place to wait."""

    @property
    def clock(self) -> Clock:
        """The time."""

    def start(self, name: str, work: Callable[[], T]) -> "Job":
        """Run `work` in a thread of its own."""

    def receive(self, timeout: float) -> object | None:
        """The next Event, Command or finished Job in the inbox; None after `timeout` seconds."""

    def record(self, event: Event) -> object:
        """Journal the event, fold it into the state of the run and show it: in this order."""

    def emit(self, event: Event) -> None:
        """The `Emit` that agents and watchers are given."""
