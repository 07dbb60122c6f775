"""What a clone is made for, what it begins with, and what is collected of it. Plain values.

They can be sent as JSON: a clone may be on another machine than the repository.
"""

from dataclasses import dataclass
from typing import Literal

from pydantic import ConfigDict

from ralph_tui.events.base import Fact
from ralph_tui.events.text import Line, Plain

Isolation = Literal["clone", "worktree"]
Choice = Literal["first", "all"]
_WITH_BYTES = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")


class Loop(Fact):
    """One loop: a run in a tree of its own, on whichever host has room."""

    id: Line
    """Its name within the fleet: ``2``; of several tries at one objective ``3a``, ``3b``."""
    objective: Plain
    """Empty in a file where an issue is named instead, whose text is fetched before it begins."""
    command: Plain | None = None
    """The completion command."""
    criterion: Plain | None = None
    """When the work is done, in words; with a command, that has to pass as well."""
    until_promise: bool = False
    """A command that passes completes it only once the agent promises that it is done."""
    tries_at: Line = ""
    """What the tries at one objective have in common, ``3``; empty: there is one try."""
    choice: Choice = "first"
    """Which of several tries wins: the first that completes, or the best of all, which is the
    default of `fleet run`."""
    issue: int | None = None
    """The number of the tracker's issue that it was made of."""
    account: Line = ""
    """The login that its agent uses; empty: it is not counted."""
    after: tuple[Line, ...] = ()
    """Ids of loops, or of several tries, that have to be completed before."""
    settings: dict[Line, Plain] = {}
    """What else `run` is told, by dotted name: agent.name, agent.command, agent.model,
    permissions.mode, limits.max_iterations, limits.budget_usd and the like."""

    @property
    def login(self) -> str:
        """What it shares limits with: its account, else all that use the same agent."""
        return self.account or self.settings.get("agent.name", "")

    @property
    def budget_usd(self) -> float | None:
        """Its own limit in US dollars; None: it has none."""
        given = self.settings.get("limits.budget_usd")
        return float(given) if given else None


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


class Base(Fact):
    """The repository, for a host that can get the commit nowhere else."""

    model_config = _WITH_BYTES
    kind: Literal["base"] = "base"
    commit: Line
    bundle: bytes
    """Of git."""


class Collected(Fact):
    """The work of a loop as a bundle: its branch, and the snapshots of its run."""

    model_config = _WITH_BYTES
    kind: Literal["collected"] = "collected"
    loop: Line
    attempt: int
    branch: Line
    commit: Line
    bundle: bytes = b""
    """Of git, without what the base has; empty: nothing was changed, and no snapshot taken."""


@dataclass(frozen=True)
class Earlier:
    """What was collected of a loop before it went on, or began anew."""

    branch: str
    commit: str
    attempt: int
    host: str
    files: int
