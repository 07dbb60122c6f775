"""A fleet's interface to its hosts: orders to them, and observations from them.

A host is a process, or part of the fleet's own process, that runs loops under keepers. `Dispatcher`
hides how orders and observations travel. Both are plain values that can be sent as JSON.
Observations come from other machines, so they are untrusted until these types have validated them.
"""

from collections import deque
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple, Protocol

from pydantic import Field

from ralph_tui.commands import Command
from ralph_tui.events.base import Fact
from ralph_tui.events.text import Line, Plain
from ralph_tui.fleet.state import FleetState, Lost
from ralph_tui.ports.clones import Base, Collected, Place


class Adopt(Fact):
    """Follow a loop that this host holds, from the event after `seen` in its journal."""

    kind: Literal["adopt"] = "adopt"
    loop: Line
    attempt: int
    seen: int


class SendCommand(Fact):
    """Pass a command to a loop's run; `CommandAnswered` is the answer."""

    kind: Literal["tell"] = "tell"
    id: Line
    loop: Line
    command: dict[str, Any]
    """In the command socket's format, including `by`."""


class End(Fact):
    """Stop a loop's run gracefully; `Ended` follows."""

    kind: Literal["end"] = "end"
    loop: Line
    attempt: int | None = None
    """The attempt to stop; None for every attempt."""


class Collect(Fact):
    """Put an ended loop's work on a branch and send it as `Collected`, or send `NotCollected`."""

    kind: Literal["collect"] = "collect"
    loop: Line
    attempt: int


class Remove(Fact):
    """Remove the clone of an ended loop whose work was collected or is not wanted."""

    kind: Literal["remove"] = "remove"
    loop: Line
    attempt: int


Order = Annotated[
    Place | Adopt | SendCommand | End | Collect | Remove | Base, Field(discriminator="kind")
]


StageName = Literal["fetching", "cloning", "copying", "setup", "checking", "starting"]
"""Stages of preparing a loop's clone."""


class LoopSummary(Fact):
    """A loop that a host holds: alive, or over and not yet removed."""

    loop: Line
    attempt: int
    alive: bool
    seq: int = 0
    """Number of the last event in its journal."""


class Joined(Fact):
    """A host connected, for the first time or again, and lists the loops it holds."""

    kind: Literal["joined"] = "joined"
    host: Line
    slots: int = Field(ge=1, le=1000)
    machine: Line = ""
    home: Line = ""
    """Identifies the folder of its clones; unique among hosts and machines."""
    version: Line = ""
    holds: tuple[LoopSummary, ...] = ()


class Leaving(Fact):
    """A host stops its loops and will leave when they have ended."""

    kind: Literal["leaving"] = "leaving"
    host: Line
    reason: Line = ""


class Disconnected(Fact):
    """The connection to a host has ended; observed by the dispatcher, not the host."""

    kind: Literal["gone"] = "gone"
    host: Line
    reason: Line = ""
    left: bool = False
    """True if the host announced that it was leaving."""


class Refused(Fact):
    """A host was not allowed to join; the dispatcher observes it, and the host gets the reason."""

    kind: Literal["refused"] = "refused"
    host: Line
    reason: Line


class Stage(Fact):
    """A host's progress in preparing a clone."""

    kind: Literal["stage"] = "stage"
    loop: Line
    attempt: int
    stage: StageName


class Began(Fact):
    """The run has recorded its first event."""

    kind: Literal["began"] = "began"
    loop: Line
    attempt: int
    run_id: Line
    run: Line
    folder: Line
    ports: tuple[int, int] | None = None


class Recorded(Fact):
    """Unchanged lines of the run's journal, in order and without gaps."""

    kind: Literal["recorded"] = "recorded"
    loop: Line
    attempt: int
    seq: int
    """Number of the first line's event."""
    lines: tuple[str, ...] = ()
    """Validated and sanitized when they are parsed as events."""


class StatusChanged(Fact):
    """Content of the run's ``status.json``; sent when it changes, at most once a second."""

    kind: Literal["stands"] = "stands"
    loop: Line
    attempt: int
    status: dict[str, Any] = {}


class Ended(Fact):
    """The run has ended or could not begin; none of its processes is alive."""

    kind: Literal["over"] = "over"
    loop: Line
    attempt: int
    outcome: Literal["completed", "limit_reached", "aborted", "failed", "interrupted"]
    reason: Line = ""
    """One sentence."""
    never_began: bool = False
    elsewhere: bool = False
    """True if it could not begin because of this host, so another host may be able to begin it."""
    seq: int = 0
    """Number of the last event in its journal."""


class CommandAnswered(Fact):
    """The answer to a command."""

    kind: Literal["told"] = "told"
    id: Line
    accepted: int | None = None
    """Number of the first event that it caused."""
    refused: Line = ""
    """Why it was refused, in one sentence; empty if it was accepted."""


class NotCollected(Fact):
    """A loop's work could not be sent; it stays on the host."""

    kind: Literal["not_collected"] = "not_collected"
    loop: Line
    attempt: int
    reason: Line
    never_began: bool = False
    """True if there is no work, because its run never began."""


class NeedsBase(Fact):
    """A host can get the commit neither from a path nor from the remote."""

    kind: Literal["needs_base"] = "needs_base"
    host: Line
    commit: Line


class HostNoticed(Fact):
    """A warning from a host, for instance that the completion command measures another folder."""

    kind: Literal["noted"] = "noted"
    host: Line = ""
    loop: Line = ""
    text: Plain
    level: Literal["log", "warn"] = "warn"


Observation = Annotated[
    Joined
    | Leaving
    | Disconnected
    | Refused
    | Stage
    | Began
    | Recorded
    | StatusChanged
    | Ended
    | CommandAnswered
    | Collected
    | NotCollected
    | NeedsBase
    | HostNoticed,
    Field(discriminator="kind"),
]


Observe = Callable[[Observation], None]
"""Receives an observation; called from any thread, so it must not block."""


class LoopHost(Protocol):
    """The loops of one host, however it is connected to a fleet; made with an `Observe`.

    Observations made without a connection are lost. After connecting, the host sends `Joined`, and
    the fleet uses `Adopt` to ask for what it missed.
    """

    home: str
    """Identifies the folder of its clones; unique."""

    def holds(self) -> tuple[LoopSummary, ...]:
        """Return the fleet's loops, alive or over and not removed, within 100 ms."""

    def obey(self, order: Order) -> None:
        """Carry out an order. Called from any thread, in order of arrival; must not block."""

    def on_fleet_lost(self) -> None:
        """Start the countdown of each loop's lease, because the connection is lost."""

    def on_fleet_found(self, fleet_id: str) -> None:
        """Stop the countdown of the leases of this fleet's loops.

        Loops of other fleets continue under their leases, and are not reported to this fleet.
        """

    def close(self) -> None:
        """Stop all loops gracefully; return when none of their processes is alive."""


class Dispatcher(Protocol):
    """Sends orders to hosts. No call blocks for over 100 ms; answers arrive as observations."""

    address: str
    """Address at which hosts can join; empty if none can."""

    def start(self, observe: Observe) -> None:
        """Start; raise ``RalphError`` if that is impossible."""

    def send(self, host: str, order: Order) -> None:
        """Queue an order for a host; if the host is lost, so is the order (see `Disconnected`)."""

    def dismiss(self, host: str, reason: str) -> None:
        """Dismiss a host that may not take part, and tell it why; no `Disconnected` follows."""

    def stop(self) -> None:
        """Dismiss all hosts within 10 s; one in this process stops its loops gracefully."""


ALL, FLEET = "all", ""
"""Targets of a command other than one loop: each loop, or the fleet itself."""


class TargetedCommand(NamedTuple):
    """A command and its target."""

    loop: str
    """A loop's id, `ALL` or `FLEET`."""
    command: Command


class FleetSource(Protocol):
    """A screen's interface to a fleet: its current state, and a way to send commands.

    All calls are made on the UI thread, and none blocks. A screen does not know where the fleet
    runs; a finished fleet differs only in its state.
    """

    name: str
    """Author of this screen's commands."""
    state: FleetState
    """State as of the last poll; replaced when the journal is read from its start."""
    lost: Lost
    note: str
    """A sentence about the record itself, such as where it breaks off; usually empty."""
    refused: deque[tuple[TargetedCommand, str]]
    """Refused commands, each with the reason; the screen removes and reports them."""

    @property
    def loaded(self) -> bool:
        """True if the state includes everything recorded before `start`."""

    @property
    def live(self) -> bool:
        """True if, as far as is known, the fleet's process is running."""

    def start(self) -> None:
        """Start to deliver commands; called once."""

    def poll(self, now: float) -> FleetState:
        """Update and return the state; `now` is monotonic."""

    def clock(self) -> datetime:
        """Return the current time for the display of ages and countdowns."""

    def send(self, loop: str, command: Command) -> None:
        """Send a command to a loop, to `ALL` or to the `FLEET`."""

    def stop(self) -> None:
        """Release resources when the screen is closed."""
