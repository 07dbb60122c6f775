"""The fleet as a whole: its start and end, its hosts, what all loops share."""

from datetime import datetime
from typing import Literal

from ralph_tui.events.base import Fact
from ralph_tui.events.run import Outcome
from ralph_tui.events.text import Line, Plain
from ralph_tui.fleet.events.base import FleetEvent
from ralph_tui.fleet.plan import Plan

__all__ = [
    "SCHEMA_VERSION",
    "AccountHeld",
    "AccountReleased",
    "BudgetReached",
    "CommandGiven",
    "FleetFinished",
    "FleetNoticed",
    "FleetResumed",
    "FleetStarted",
    "HostJoined",
    "HostLeaving",
    "HostLost",
    "HostRefused",
    "Reach",
    "StopAsked",
]

SCHEMA_VERSION = 1


class Reach(Fact):
    """How the process of a fleet is reached by its hosts: where it goes on, it is the same."""

    listen: Line = ""
    """Where others join, ``tls://HOST:PORT``; empty: nobody does."""
    tls: Line = ""
    """The folder of the keys."""
    trees: Line = ""
    """Where the trees of this process's own loops lie; empty: in the user's state folder."""


class FleetStarted(FleetEvent):
    """The first event of every fleet's journal."""

    durable = True
    kind: Literal["fleet_started"] = "fleet_started"
    schema_version: int = SCHEMA_VERSION
    program_version: Line = ""
    fleet_id: Line
    """A uuid."""
    name: Line
    """What the command line calls it: ``fleet-001``."""
    root: Line
    """The repository."""
    commit: Line
    """What every loop begins with."""
    plan: Plan
    reach: Reach = Reach()
    unattended: bool = True
    """Its loops take their questions' defaults; else they wait as a run in the background does."""
    pid: int = 0
    host: Line = ""


class FleetResumed(FleetEvent):
    """Its process was gone, and another one goes on with it."""

    durable = True
    kind: Literal["fleet_resumed"] = "fleet_resumed"
    by: Line
    reach: Reach = Reach()
    unattended: bool = True
    """Both as of `FleetStarted`, from now on."""
    pid: int = 0
    host: Line = ""


class HostJoined(FleetEvent):
    """A host takes loops from now on, or again."""

    kind: Literal["host_joined"] = "host_joined"
    host: Line
    slots: int
    """Loops at once."""
    machine: Line = ""
    """Its name in the network."""
    home: Line = ""
    """Names the folder of its trees: who has the same one has these trees, and nobody else."""
    version: Line = ""
    """Of its ralph-tui."""


class HostRefused(FleetEvent):
    """A host was not let in."""

    kind: Literal["host_refused"] = "host_refused"
    host: Line
    reason: Line


class HostLeaving(FleetEvent):
    """A host stops its loops and takes no more; `HostLost` follows."""

    kind: Literal["host_leaving"] = "host_leaving"
    host: Line
    reason: Line = ""


class HostLost(FleetEvent):
    """Nothing is heard of a host any more."""

    durable = True
    kind: Literal["host_lost"] = "host_lost"
    host: Line
    reason: Line = ""
    left: bool = False
    """It was stopped, and so were its loops; else nobody knows what it does."""


class AccountHeld(FleetEvent):
    """A login is at its limit: nothing that uses it is started."""

    durable = True
    kind: Literal["account_held"] = "account_held"
    account: Line
    until: datetime | None = None
    cause: Line = ""
    """What its loops wait for: usage_limit, overload, outage."""
    reason: Line = ""


class AccountReleased(FleetEvent):
    """A loop of a held login works again."""

    kind: Literal["account_released"] = "account_released"
    account: Line
    loop: Line = ""
    """The one that has tried first."""


class BudgetReached(FleetEvent):
    """So much of the fleet's budget is used."""

    durable = True
    kind: Literal["budget_reached"] = "budget_reached"
    percent: Literal[90, 100]
    spent_usd: float
    budget_usd: float


class CommandGiven(FleetEvent):
    """Somebody has asked something of a loop, or of the fleet."""

    kind: Literal["command_given"] = "command_given"
    loop: Line = ""
    """Empty: the fleet."""
    name: Line
    by: Line = ""
    refused: Line = ""
    """Why nothing came of it; empty: it was accepted."""


class FleetNoticed(FleetEvent):
    """Something worth knowing that changes nothing."""

    kind: Literal["fleet_noticed"] = "fleet_noticed"
    text: Plain
    level: Literal["log", "warn"] = "log"
    loop: Line = ""


class StopAsked(FleetEvent):
    """It begins nothing more."""

    durable = True
    kind: Literal["stop_asked"] = "stop_asked"
    by: Line
    now: bool = False
    """Its loops are stopped at once, else after the iteration that each of them is in."""
    abort: bool = False
    """It is given up, and so are its loops."""


class FleetFinished(FleetEvent):
    """The last event, unless the fleet is resumed."""

    durable = True
    kind: Literal["fleet_finished"] = "fleet_finished"
    outcome: Outcome
    reason: Line = ""
    spent_usd: float | None = None
