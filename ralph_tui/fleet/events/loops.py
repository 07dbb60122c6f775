"""Where a loop is placed, how it goes on there, and how it ends."""

from datetime import datetime
from typing import Literal

from ralph_tui.events.base import Row
from ralph_tui.events.run import Outcome
from ralph_tui.events.text import Line
from ralph_tui.fleet.events.base import FleetEvent, of_loop
from ralph_tui.fleet.plan import HERE, host_words
from ralph_tui.text.format import clock, percent
from ralph_tui.text.terms import RowLevel, outcome_word

__all__ = [
    "LoopAdopted",
    "LoopBegan",
    "LoopEnded",
    "LoopLost",
    "LoopPlaced",
    "LoopProgressed",
    "LoopRequeued",
    "LoopRetried",
    "LoopSkipped",
    "LoopStage",
    "LoopStopAsked",
    "TreeRemoved",
]


_LEVELS: dict[Outcome, RowLevel] = {
    "completed": "good",
    "failed": "critical",
    "interrupted": "log",
}


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

    def row(self) -> Row:
        how = "is resumed" if self.resumed else "is placed"
        return of_loop("log", self.loop, f"{how} on {host_words(self.host)}")


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

    def row(self) -> Row:
        return of_loop("log", self.loop, "began")


class LoopProgressed(FleetEvent):
    """What its status says: at the end of an iteration, and when its phase changes."""

    kind: Literal["loop_progressed"] = "loop_progressed"
    loop: Line
    phase: Line
    """As in ``status.json``: agent, verifying, limited, paused ..."""
    waits_for: Line = ""
    """While its phase is ``limited``: usage_limit, overload, outage, disk_full."""
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
    away_s: float = 0.0
    """Seconds since it began in which it did not work: between an end and a resume."""


class LoopLost(FleetEvent):
    """Its host is lost: it may go on there until its lease ends."""

    durable = True
    kind: Literal["loop_lost"] = "loop_lost"
    loop: Line
    until: datetime
    """From then on it certainly runs no more."""

    def row(self) -> Row:
        until = clock(self.until, seconds=True)
        return of_loop("warn", self.loop, f"is lost: it may go on where it is until {until}")


class LoopAdopted(FleetEvent):
    """It was found again where it ran, and is followed from there."""

    durable = True
    kind: Literal["loop_adopted"] = "loop_adopted"
    loop: Line
    host: Line
    known: int = 0
    """Of its journal: the last event that was known."""

    def row(self) -> Row:
        return of_loop("good", self.loop, f"was found again on {host_words(self.host)}")


class LoopRetried(FleetEvent):
    """A loop that waits for the end of a limit was told to try again."""

    kind: Literal["loop_retried"] = "loop_retried"
    loop: Line

    def row(self) -> Row:
        return of_loop("log", self.loop, "was told to try again")


class LoopStopAsked(FleetEvent):
    """The fleet itself stops a loop: another try has won, the budget is used up, it is stopped."""

    durable = True
    kind: Literal["loop_stop_asked"] = "loop_stop_asked"
    loop: Line
    reason: Line
    now: bool = False
    """At once; else when its iteration ends."""

    def row(self) -> Row:
        return of_loop("log", self.loop, "is told to stop", self.reason)


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
    elsewhere: bool = False
    """Then: another host may be able to begin it."""
    host: Line = ""
    """Where it ran."""

    def row(self) -> Row:
        what = outcome_word(self.outcome)
        at = f" at {percent(100 * self.completion)}" if self.completion is not None else ""
        on = f" on {self.host}" if self.host and self.host != HERE else ""
        how = f"could not begin{on}" if self.never_began else f"{what}{at}{on}"
        return of_loop(_LEVELS.get(self.outcome, "warn"), self.loop, how, self.reason)


class LoopRequeued(FleetEvent):
    """It waits for a place again."""

    durable = True
    kind: Literal["loop_requeued"] = "loop_requeued"
    loop: Line
    reason: Line
    resume: bool = False
    """It goes on in the tree that it had; else a new attempt begins in a new one."""

    def row(self) -> Row:
        return of_loop("warn", self.loop, "waits for a place again", self.reason)


class LoopSkipped(FleetEvent):
    """It does not run: the budget is used up, another try has won, what it waits for has failed."""

    durable = True
    kind: Literal["loop_skipped"] = "loop_skipped"
    loop: Line
    reason: Line
    aborted: bool = False
    """Somebody has given it up."""

    def row(self) -> Row:
        return of_loop("log", self.loop, "is skipped", self.reason)


class TreeRemoved(FleetEvent):
    """``fleet prune`` removed the tree that it would have continued in: it starts over."""

    durable = True
    kind: Literal["tree_removed"] = "tree_removed"
    loop: Line

    def row(self) -> Row:
        again = "starts over when the fleet is resumed: its clone was pruned"
        return of_loop("owner", self.loop, again)
