"""The engine as the loop sees it: time, jobs, the inbox, and the source of commands."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol, TypeVar

from ralph_tui.commands import Command
from ralph_tui.events import Event

T = TypeVar("T")
Emit = Callable[[Event], None]
"""Puts an unstamped event into the engine's inbox; callable from any thread."""


class Clock(Protocol):
    """Injected source of time."""

    def now(self) -> datetime:
        """Return the wall time as an aware datetime in UTC."""

    def monotonic(self) -> float:
        """Return seconds that never go backwards."""


@dataclass
class Job:
    """Work outside the engine thread that reports to its inbox when done."""

    name: str
    done: bool = False
    result: object = None
    error: BaseException | None = None
    then: Callable[["Job"], None] | None = field(default=None, repr=False)
    """Records the job's events if the loop does not wait for the job."""


class Accepted(NamedTuple):
    """The reply to a command that was accepted."""

    seq: int
    """Sequence number of the first event it caused."""


class Refused(NamedTuple):
    """The reply to a command that cannot be carried out now."""

    reason: str
    """One sentence."""


class CommandRequest(NamedTuple):
    """A command whose sender waits for an answer.

    `reply` is called once, in the engine's thread.
    """

    command: Command
    reply: Callable[[Accepted | Refused], None]


class Host(Protocol):
    """The engine's services for the loop: jobs, and the only place to wait."""

    @property
    def clock(self) -> Clock:
        pass

    def start(self, name: str, work: Callable[[], T]) -> "Job":
        """Run `work` in its own thread."""

    def receive(self, timeout: float) -> object | None:
        """Return the next Event, Command or finished Job in the inbox; None after `timeout`
        seconds.
        """

    def record(self, event: Event) -> object:
        """Write the event to the journal, apply it to the state and display it, in that order."""

    def emit(self, event: Event) -> None:
        """Put an event into the inbox; the `Emit` passed to agents and watchers."""
