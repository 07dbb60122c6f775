"""The vocabulary of a fleet's journal: small facts, one line per change, in the past tense."""

from datetime import datetime
from typing import Literal

from ralph_tui.events.base import Event
from ralph_tui.events.run import Outcome
from ralph_tui.events.text import Line, Plain
from ralph_tui.fleet.plan import Plan

SCHEMA_VERSION = 1


class FleetEvent(Event):
    """A fact of a fleet; see `Event` for what all of them have."""


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
    remote: bool = False
    """Hosts may join from other machines."""
    pid: int = 0
    host: Line = ""


class FleetResumed(FleetEvent):
    """Its process was gone, and another one goes on with it."""

    durable = True
    kind: Literal["fleet_resumed"] = "fleet_resumed"
    by: Line
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
    version: Line = ""
    """Of its ralph-tui."""


class HostRefused(FleetEvent):
    """A host was not let in."""

    kind: Literal["host_refused"] = "host_refused"
    host: Line
    reason: Line


class HostLost(FleetEvent):
    """Nothing is heard of a host any more."""

    durable = True
    kind: Literal["host_lost"] = "host_lost"
    host: Line
    reason: Line = ""


class LoopPlaced(FleetEvent):
    """A host was told to run a loop. From now on it counts as running there."""

    durable = True
    kind: Literal["loop_placed"] = "loop_placed"
    loop: Line
    attempt: int
    """From 1; another one begins in a new tree."""
    host: Line
    branch: Line
    """What its work is collected as."""
    budget_usd: float | None = None
    """What it was given of the fleet's budget."""
    resumed: bool = False
    """It goes on in the tree that it had."""


class LoopStage(FleetEvent):
    """How far a host is with a new tree."""

    kind: Literal["loop_stage"] = "loop_stage"
    loop: Line
    stage: Literal["fetching", "cloning", "copying", "setup", "checking", "starting"]


class LoopBegan(FleetEvent):
    """Its run has recorded its first event."""

    kind: Literal["loop_began"] = "loop_began"
    loop: Line
    run_id: Line
    run: Line
    """Task and attempt within its tree."""
    folder: Line
    """Its tree on the host."""
    machine: Line = ""
    ports: tuple[int, int] | None = None
    """The first and the last of the ports that it may use."""


class LoopProgressed(FleetEvent):
    """What its status says: at the end of an iteration, and when its phase changes."""

    kind: Literal["loop_progressed"] = "loop_progressed"
    loop: Line
    phase: Line
    """As in ``status.json``: agent, verifying, limited, paused ..."""
    iteration: int = 0
    max_iterations: int | None = None
    completion: float | None = None
    """0 to 1."""
    best: float | None = None
    cost_usd: float | None = None
    """None: its agent does not tell."""
    tokens: int = 0
    verdict: Line = ""
    """The one sentence that says how it stands."""
    question: Line = ""
    """The text of its open question; empty: none is open."""
    question_id: Line = ""
    until: datetime | None = None
    """When the question's default is taken, or a limit ends."""


class LoopLost(FleetEvent):
    """Its host is lost: it may go on there until its lease ends."""

    durable = True
    kind: Literal["loop_lost"] = "loop_lost"
    loop: Line
    until: datetime
    """From then on it certainly runs no more."""


class LoopAdopted(FleetEvent):
    """It was found again where it ran, and is followed from there."""

    durable = True
    kind: Literal["loop_adopted"] = "loop_adopted"
    loop: Line
    host: Line
    seq: int
    """Of its journal: the last event that was known."""


class LoopEnded(FleetEvent):
    """Its run has ended, or could not begin."""

    durable = True
    kind: Literal["loop_ended"] = "loop_ended"
    loop: Line
    outcome: Outcome
    reason: Line = ""
    iterations: int = 0
    completion: float | None = None
    cost_usd: float | None = None
    changed_lines: int | None = None
    """Added and removed by its work; None: not known."""
    never_began: bool = False
    """Its tree could not be made, its set-up failed, or its program is missing on the host."""


class LoopRequeued(FleetEvent):
    """It waits for a place again."""

    durable = True
    kind: Literal["loop_requeued"] = "loop_requeued"
    loop: Line
    reason: Line


class LoopSkipped(FleetEvent):
    """It does not run: the budget is used up, another try has won, what it waits for has failed."""

    durable = True
    kind: Literal["loop_skipped"] = "loop_skipped"
    loop: Line
    reason: Line


class ResultCollected(FleetEvent):
    """Its work is a branch of the repository."""

    durable = True
    kind: Literal["result_collected"] = "result_collected"
    loop: Line
    branch: Line
    commit: Line
    files: int = 0
    """Changed since the base."""
    changed_lines: int | None = None
    """Added and removed since the base; None: not known."""


class CollectionFailed(FleetEvent):
    """Its work stays where it is for now."""

    durable = True
    kind: Literal["collection_failed"] = "collection_failed"
    loop: Line
    reason: Line


class ConflictsFound(FleetEvent):
    """Which collected branches cannot be merged one after the other."""

    kind: Literal["conflicts_found"] = "conflicts_found"
    branch: Line
    others: dict[Line, tuple[Line, ...]] = {}
    """Branches that it conflicts with (the base's name among them), each with some of the files."""
    unknown: Line = ""
    """Why it cannot be told; empty: it was told."""


class WinnerVerified(FleetEvent):
    """The completion command was run once more on a winner's branch, in a fresh clone."""

    durable = True
    kind: Literal["winner_verified"] = "winner_verified"
    loop: Line
    passed: bool
    reason: Line = ""


class WinnerChosen(FleetEvent):
    """Of several tries at one objective this one counts; the others are beaten."""

    durable = True
    kind: Literal["winner_chosen"] = "winner_chosen"
    tries_at: Line
    loop: Line
    """Empty: none of them passed."""
    reason: Line


class AccountHeld(FleetEvent):
    """A login is at its limit: nothing that uses it is started."""

    durable = True
    kind: Literal["account_held"] = "account_held"
    account: Line
    until: datetime | None = None
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
