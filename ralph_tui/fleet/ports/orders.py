"""Orders to hosts: plain values that can be sent as JSON."""

from typing import Annotated, Any, Literal

from pydantic import Field

from ralph_tui.events.base import Fact
from ralph_tui.events.text import Line
from ralph_tui.ports.clones import Base, Place


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
