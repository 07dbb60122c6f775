"""Orders to hosts: plain values that can be sent as JSON."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from ralph_tui.events.base import Fact
from ralph_tui.events.text import Line, Plain
from ralph_tui.fleet.plan import Isolation, Loop

_WITH_BYTES = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")


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
    lease_s: float | None = 600.0
    """How long it may go on without the fleet, the machine's sleep included; None: its host is a
    part of the fleet's process, and ends with it."""
    budget_usd: float | None = None
    after_limit_s: float = 0.0
    """So long after the end of a limit its run waits to be told to go on."""
    unattended: bool = True
    """Nobody answers what it asks: each question's default is taken at once."""
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


class Base(Fact):
    """The repository, for a host that can get the commit nowhere else."""

    model_config = _WITH_BYTES
    kind: Literal["base"] = "base"
    commit: Line
    bundle: bytes
    """Of git."""


Order = Annotated[Place | Adopt | Tell | End | Collect | Remove | Base, Field(discriminator="kind")]
