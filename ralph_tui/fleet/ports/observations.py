"""What hosts tell. It comes from other machines: untrusted until validated, as these types do."""

from typing import Annotated, Any, Literal

from pydantic import Field

from ralph_tui.events.base import Fact
from ralph_tui.events.text import Line, Plain
from ralph_tui.ports.clones import Collected

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
