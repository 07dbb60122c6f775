"""What can be decided. The engine carries each out and records the event that its docstring names.

`decide` on the fold of that event does not decide the same again: the event is the memory.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from ralph_tui.events.run import Outcome


@dataclass(frozen=True)
class PlaceLoop:
    """Tell a host to run a loop: `LoopPlaced`, and the order `Place`."""

    loop: str
    attempt: int
    host: str
    budget_usd: float | None = None
    """What its run may spend, all that this attempt has spent already included; None: no limit."""
    resume: bool = False
    """Go on in the tree of this attempt."""


@dataclass(frozen=True)
class SkipLoop:
    """It will not run: `LoopSkipped`."""

    loop: str
    reason: str


@dataclass(frozen=True)
class LoseLoop:
    """Its host is lost: `LoopLost`."""

    loop: str
    until: datetime
    """From then on nothing of it runs."""


@dataclass(frozen=True)
class RequeueLoop:
    """It gets a place again: `LoopRequeued`."""

    loop: str
    reason: str
    resume: bool
    """In the tree that it had."""


@dataclass(frozen=True)
class CloseLoop:
    """Nothing more comes of it, although it has told no end: `LoopEnded`."""

    loop: str
    outcome: Outcome
    reason: str


@dataclass(frozen=True)
class StopLoop:
    """Stop its run: `LoopStopAsked`.

    `now`: the order `End`, of an aborted fleet the command to abort; else the command to stop
    after the iteration.
    """

    loop: str
    reason: str
    now: bool


@dataclass(frozen=True)
class HoldAccount:
    """Nothing that uses this login is started: `AccountHeld`."""

    account: str
    """`Loop.login`."""
    until: datetime
    cause: str
    reason: str


@dataclass(frozen=True)
class RetryLoop:
    """It waits for a limit and is told to try again: `LoopRetried`, and the command ``retry``."""

    loop: str


@dataclass(frozen=True)
class ReleaseAccount:
    """The login is held no more: `AccountReleased`."""

    account: str
    loop: str = ""
    """The one that tried first, and works."""


@dataclass(frozen=True)
class CollectLoop:
    """Ask its host for its work: `CollectionAsked`, and the order `Collect`.

    `ResultCollected` or `CollectionFailed` follows.
    """

    loop: str


@dataclass(frozen=True)
class LeaveWork:
    """Its work cannot be fetched: `CollectionFailed`."""

    loop: str
    reason: str


@dataclass(frozen=True)
class VerifyWinner:
    """Run the completion command once more on its branch, in a fresh clone: `VerificationBegan`.

    `WinnerVerified` follows.
    """

    loop: str


@dataclass(frozen=True)
class ChooseWinner:
    """Of several tries this one counts: `WinnerChosen`."""

    tries_at: str
    loop: str
    """Empty: none of them."""
    reason: str


@dataclass(frozen=True)
class ReachBudget:
    """So much of the fleet's budget is used: `BudgetReached`."""

    percent: Literal[90, 100]
    spent_usd: float
    budget_usd: float


@dataclass(frozen=True)
class Finish:
    """Nothing is left to be done: `FleetFinished`. The dispatcher is stopped before."""

    outcome: Outcome
    reason: str


Decision = (
    PlaceLoop
    | SkipLoop
    | LoseLoop
    | RequeueLoop
    | CloseLoop
    | StopLoop
    | HoldAccount
    | RetryLoop
    | ReleaseAccount
    | CollectLoop
    | LeaveWork
    | VerifyWinner
    | ChooseWinner
    | ReachBudget
    | Finish
)
