"""What a fleet needs of its hosts: orders to them, and what is observed of them.

A host is a process (or a part of the fleet's own) that holds runs under keepers. Whatever carries
orders and observations between the two stands behind `Dispatcher`. Both are plain values that can
be sent as JSON. An observation comes from another machine: it is untrusted until it is validated,
which these types do.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal, Protocol

from pydantic import ConfigDict, Field

from ralph_tui.events.base import Fact
from ralph_tui.events.text import Line, Plain
from ralph_tui.fleet.plan import Isolation, Loop

StageName = Literal["fetching", "cloning", "copying", "setup", "checking", "starting"]
"""How far the tree of a loop is."""
_WITH_BYTES = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

# -- orders ------------------------------------------------------------------------------------


class Source(Fact):
    """Where a host gets the commit that a loop begins with."""

    commit: Line
    path: Line
    """The repository on the machine of the fleet: used where it lies there and has the commit."""
    machine: Line
    """That machine's name."""
    remote: Line = ""
    """Address of the repository's own remote; empty: there is none that can be used."""
    user_name: Line = ""
    user_email: Line = ""
    """Who commits in it; empty: the host's own git knows, or nobody does."""


class Place(Fact):
    """Run a loop in a tree of its own; one that is there already is followed, not run twice."""

    kind: Literal["place"] = "place"
    fleet_id: Line
    fleet: Line
    """The fleet's name."""
    loop: Loop
    attempt: int
    branch: Line
    source: Source
    isolation: Isolation = "clone"
    setup: Plain = ""
    copied: dict[Line, str] = {}
    """Of small files that git ignores: path and content, base64."""
    ports: int = 10
    lease_s: float = 600.0
    budget_usd: float | None = None
    resume: bool = False
    """Go on in the tree of this attempt."""
    seen: int = 0
    """The last event of its journal that the fleet has."""


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


class Base(Fact):
    """The repository, for a host that can get the commit nowhere else."""

    model_config = _WITH_BYTES
    kind: Literal["base"] = "base"
    commit: Line
    bundle: bytes
    """Of git."""


Order = Annotated[Place | Adopt | Tell | End | Collect | Remove | Base, Field(discriminator="kind")]

# -- observations ------------------------------------------------------------------------------


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
    version: Line = ""
    holds: tuple[Held, ...] = ()


class Gone(Fact):
    """Nothing is heard of a host any more. The dispatcher says it, not the host."""

    kind: Literal["gone"] = "gone"
    host: Line
    reason: Line = ""


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


class Collected(Fact):
    """The work of a loop as a bundle: its branch, and the snapshots of its run."""

    model_config = _WITH_BYTES
    kind: Literal["collected"] = "collected"
    loop: Line
    attempt: int
    branch: Line
    commit: Line
    bundle: bytes = b""
    """Of git, without what the base has; empty: nothing was changed."""
    changed_lines: int = 0


class NotCollected(Fact):
    """Why its work could not be sent; it stays where it is."""

    kind: Literal["not_collected"] = "not_collected"
    loop: Line
    attempt: int
    reason: Line


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

    def holds(self) -> tuple[Held, ...]:
        """Its loops, alive or over and not removed; does not block for longer than 100 ms."""
        ...

    def obey(self, order: Order) -> None:
        """Carry an order out. Called from any thread, in the order of arrival; does not block."""
        ...

    def fleet_lost(self) -> None:
        """The fleet is not heard any more: the lease of each loop begins to run out."""
        ...

    def fleet_found(self) -> None:
        """The fleet is there again: no lease runs out."""
        ...

    def close(self) -> None:
        """Stop all loops in order; returns when nothing of them is alive."""
        ...


class Dispatcher(Protocol):
    """Carries orders to hosts. No call blocks for longer than 100 ms; answers are observations."""

    address: str
    """Where hosts join; empty: none can."""

    def start(self, observe: Observe) -> None:
        """Begin; raises ``RalphError`` where that cannot be."""
        ...

    def send(self, host: str, order: Order) -> None:
        """Hand an order over; to a host that is gone it is lost, as `Gone` says."""
        ...

    def dismiss(self, host: str, reason: str) -> None:
        """Let a host go that may not take part; it is told why."""
        ...

    def stop(self) -> None:
        """Let all hosts go; an embedded one stops its loops in order. Returns within 10 s."""
        ...
