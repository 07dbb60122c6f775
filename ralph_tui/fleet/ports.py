"""What a fleet needs of its hosts: orders to them, and what is observed of them.

A host is a process (or a part of the fleet's own) that holds runs under keepers. Whatever carries
orders and observations between the two stands behind `Dispatcher`. Both are plain values that can
be sent as JSON. An observation comes from another machine: it is untrusted until it is validated,
which these types do.
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
    """Follow a loop that this host holds, from an event of its journal on."""

    kind: Literal["adopt"] = "adopt"
    loop: Line
    attempt: int
    seen: int


class Tell(Fact):
    """Hand a command to a loop's run; answered by `Told`."""

    kind: Literal["tell"] = "tell"
    id: Line
    loop: Line
    command: dict[str, Any]
    """As the command socket takes it, `by` among the fields."""


class End(Fact):
    """Stop a loop's run in order; `LoopOver` follows."""

    kind: Literal["end"] = "end"
    loop: Line
    attempt: int | None = None
    """This one alone; None: each that is there."""


class Collect(Fact):
    """Make the branch of an ended loop's work and send it: `Collected`, or `NotCollected`."""

    kind: Literal["collect"] = "collect"
    loop: Line
    attempt: int


class Remove(Fact):
    """Remove the tree of an ended loop, which was collected or is not wanted."""

    kind: Literal["remove"] = "remove"
    loop: Line
    attempt: int


Order = Annotated[Place | Adopt | Tell | End | Collect | Remove | Base, Field(discriminator="kind")]


StageName = Literal["fetching", "cloning", "copying", "setup", "checking", "starting"]
"""How far the tree of a loop is."""


class Held(Fact):
    """A loop that a host holds, alive or over and not removed."""

    loop: Line
    attempt: int
    alive: bool
    seq: int = 0
    """The last event of its journal."""


class Joined(Fact):
    """A host is there, or there again, and says what it holds."""

    kind: Literal["joined"] = "joined"
    host: Line
    slots: int = Field(ge=1, le=1000)
    machine: Line = ""
    home: Line = ""
    """Names the folder of its trees; no other host, and no other machine, has the same."""
    version: Line = ""
    holds: tuple[Held, ...] = ()


class Leaving(Fact):
    """A host stops its loops, and goes when they have ended."""

    kind: Literal["leaving"] = "leaving"
    host: Line
    reason: Line = ""


class Gone(Fact):
    """Nothing is heard of a host any more. The dispatcher says it, not the host."""

    kind: Literal["gone"] = "gone"
    host: Line
    reason: Line = ""
    left: bool = False
    """It has said that it goes, when its loops had stopped."""


class Refused(Fact):
    """A host was not let in. The dispatcher says it, not the host, which is told why."""

    kind: Literal["refused"] = "refused"
    host: Line
    reason: Line


class Stage(Fact):
    """How far the host is with a new tree."""

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
    """Lines of the run's journal, as they stand there, in order and without a gap."""

    kind: Literal["recorded"] = "recorded"
    loop: Line
    attempt: int
    seq: int
    """Of the first line."""
    lines: tuple[str, ...] = ()
    """Checked and sanitized where they are read as events."""


class Stands(Fact):
    """What the run's ``status.json`` says; at most once a second, and when something changed."""

    kind: Literal["stands"] = "stands"
    loop: Line
    attempt: int
    status: dict[str, Any] = {}


class Over(Fact):
    """The run has ended, or could not begin; nothing of it is alive."""

    kind: Literal["over"] = "over"
    loop: Line
    attempt: int
    outcome: Literal["completed", "limit_reached", "aborted", "failed", "interrupted"]
    reason: Line = ""
    """One sentence."""
    never_began: bool = False
    elsewhere: bool = False
    """It could not begin for a reason of this host: another may be able to begin it."""
    seq: int = 0
    """The last event of its journal."""


class Told(Fact):
    """What came of a command."""

    kind: Literal["told"] = "told"
    id: Line
    accepted: int | None = None
    """The number of the first event that it caused."""
    refused: Line = ""
    """One sentence; empty: it was accepted."""


class NotCollected(Fact):
    """Why its work could not be sent; it stays where it is."""

    kind: Literal["not_collected"] = "not_collected"
    loop: Line
    attempt: int
    reason: Line
    never_began: bool = False
    """There is nothing: its run never began."""


class NeedsBase(Fact):
    """A host can get the commit neither from a path nor from the remote."""

    kind: Literal["needs_base"] = "needs_base"
    host: Line
    commit: Line


class Noted(Fact):
    """A warning of a host, such as that the gate measures another tree."""

    kind: Literal["noted"] = "noted"
    host: Line = ""
    loop: Line = ""
    text: Plain
    level: Literal["log", "warn"] = "warn"


Observation = Annotated[
    Joined
    | Leaving
    | Gone
    | Refused
    | Stage
    | Began
    | Recorded
    | Stands
    | Over
    | Told
    | Collected
    | NotCollected
    | NeedsBase
    | Noted,
    Field(discriminator="kind"),
]


Observe = Callable[[Observation], None]
"""Takes an observation; called from any thread, and does not block."""


class LoopHost(Protocol):
    """The loops of one host, whatever connects it to a fleet; made with an `Observe`.

    What it observes while nothing connects it is lost: once connected it says `Joined`, and the
    fleet asks for what it has missed with `Adopt`.
    """

    home: str
    """Names the folder of its trees, as no other one is named."""

    def holds(self) -> tuple[Held, ...]:
        """The fleet's loops, alive or over and not removed; does not block for over 100 ms."""

    def obey(self, order: Order) -> None:
        """Carry an order out. Called from any thread, in the order of arrival; does not block."""

    def fleet_lost(self) -> None:
        """The fleet is not heard any more: the lease of each loop begins to run out."""

    def fleet_found(self, fleet_id: str) -> None:
        """This fleet is there, or there again: no lease of its loops runs out.

        Loops of another fleet go on under their leases; what becomes of them is not observed.
        """

    def close(self) -> None:
        """Stop all loops in order; returns when nothing of them is alive."""


class Dispatcher(Protocol):
    """Carries orders to hosts. No call blocks for longer than 100 ms; answers are observations."""

    address: str
    """Where hosts join; empty: none can."""

    def start(self, observe: Observe) -> None:
        """Begin; raises ``RalphError`` where that cannot be."""

    def send(self, host: str, order: Order) -> None:
        """Hand an order over; to a host that is gone it is lost, as `Gone` says."""

    def dismiss(self, host: str, reason: str) -> None:
        """Let a host go that may not take part; it is told why, and no `Gone` follows."""

    def stop(self) -> None:
        """Let all hosts go; an embedded one stops its loops in order. Returns within 10 s."""


ALL, FLEET = "all", ""
"""Whom a command is for that names no loop: each loop, or the fleet itself."""


class Asked(NamedTuple):
    """A command, and whom it is for."""

    loop: str
    """Its id, `ALL` or `FLEET`."""
    command: Command


class FleetSource(Protocol):
    """What a screen needs of a fleet: its state as it grows, and somebody to take its commands.

    Every call is made on the UI thread, and none blocks. A screen does not ask where the fleet
    runs; a finished one differs in its state alone.
    """

    name: str
    """How the commands of this screen are signed."""
    state: FleetState
    """As of the last poll; it is replaced where the journal is read from its start."""
    lost: Lost
    note: str
    """One sentence about the record itself, such as where it breaks off; mostly empty."""
    refused: deque[tuple[Asked, str]]
    """Refused commands, each with the reason; the screen takes them out and says why."""

    @property
    def loaded(self) -> bool:
        """All that was recorded at first is in the state."""

    @property
    def live(self) -> bool:
        """Its process works on it, as far as is known."""

    def start(self) -> None:
        """Begin to deliver commands; called once."""

    def poll(self, now: float) -> FleetState:
        """Bring the state up to date; `now` is monotonic."""

    def clock(self) -> datetime:
        """The present of what is shown: ages and countdowns are told against it."""

    def send(self, loop: str, command: Command) -> None:
        """Hand a command to a loop, to `ALL` or to the `FLEET`."""

    def stop(self) -> None:
        """The screen is gone."""
