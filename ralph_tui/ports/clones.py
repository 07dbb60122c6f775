"""Values exchanged about a fleet's clones: what to run, where to start, what was collected.

All of them are plain values that can be sent as JSON, because a clone may be on another machine.
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
    """One loop: a run in its own worktree, on any host with capacity."""

    id: Line
    """Name within the fleet, such as ``2``, or ``3a`` and ``3b`` for attempts at one objective."""
    objective: Plain
    """Empty if the fleet file names an issue; its text is fetched before the loop starts."""
    command: Plain | None = None
    criterion: Plain | None = None
    """Completion criterion in words; if there is a command, it must pass as well."""
    until_promise: bool = False
    """True if a passing command completes the loop only once the agent promises it is done."""
    tries_at: Line = ""
    """Shared id of the attempts at one objective, ``3``; empty if there is only one attempt."""
    choice: Choice = "first"
    """Which attempt wins: the first that completes, or the best of all (default of `fleet run`)."""
    issue: int | None = None
    """Number of the tracker issue it was created from."""
    account: Line = ""
    """Account that its agent uses; empty if no account is tracked."""
    after: tuple[Line, ...] = ()
    """Ids of loops, or of groups of attempts, that must complete first."""
    settings: dict[Line, Plain] = {}
    """Further settings for `run`, by dotted name, such as agent.name, agent.command, agent.model,
    permissions.mode, limits.max_iterations and limits.budget_usd.
    """

    @property
    def login(self) -> str:
        """Key for shared limits: the account, else the agent's name."""
        return self.account or self.settings.get("agent.name", "")

    @property
    def budget_usd(self) -> float | None:
        """The loop's own limit in US dollars; None if it has none."""
        given = self.settings.get("limits.budget_usd")
        return float(given) if given else None


class Source(Fact):
    """Where a host gets a loop's starting commit."""

    commit: Line
    path: Line
    """The repository on the fleet's machine, used if the host can read the commit there."""
    machine: Line
    """Name of the fleet's machine."""
    remote: Line = ""
    """Address of the repository's remote; empty if there is no usable one."""
    user_name: Line = ""
    user_email: Line = ""
    """Author of commits in the clone; if empty, the host's git configuration decides."""


class Place(Fact):
    """Run a loop in its own worktree, or follow it if it already exists there."""

    kind: Literal["place"] = "place"
    fleet_id: Line
    fleet: Line
    loop: Loop
    attempt: int
    branch: Line
    source: Source
    isolation: Isolation = "clone"
    setup: Plain = ""
    copied: dict[Line, str] = {}
    """Small files that git ignores: path to base64 content."""
    ports: int = 10
    lease_s: float | None = 600.0
    """Seconds that the loop may run without contact with the fleet, including time asleep.

    None if its host is part of the fleet's process and ends with it.
    """
    budget_usd: float | None = None
    after_limit_s: float = 0.0
    """Seconds that its run waits after a limit ends before it continues."""
    unattended: bool = True
    """True if no user is there to answer questions: each question's default applies at once."""
    resume: bool = False
    """Continue in the worktree of this attempt."""
    seen: int = 0
    """Number of the last event in its journal that the fleet has received."""


class Base(Fact):
    """The repository, for a host that cannot get the commit any other way."""

    model_config = _WITH_BYTES
    kind: Literal["base"] = "base"
    commit: Line
    bundle: bytes
    """A git bundle."""


class Collected(Fact):
    """A loop's work as a bundle: its branch and its run's snapshots."""

    model_config = _WITH_BYTES
    kind: Literal["collected"] = "collected"
    loop: Line
    attempt: int
    branch: Line
    commit: Line
    bundle: bytes = b""
    """A git bundle without the base; empty if there are neither changes nor snapshots."""


@dataclass(frozen=True)
class Earlier:
    """Work collected from a loop before it was continued or restarted."""

    branch: str
    commit: str
    attempt: int
    host: str
    files: int
