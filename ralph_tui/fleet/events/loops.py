"""Where a loop is placed, how it goes on there and ends; what comes of it, and which try counts."""

import shlex
from datetime import datetime
from typing import Literal

from ralph_tui.events.base import Row
from ralph_tui.events.run import Outcome
from ralph_tui.events.text import Line
from ralph_tui.fleet.events.whole import FleetEvent, of_loop, said
from ralph_tui.fleet.plan import HERE, host_words, some
from ralph_tui.text.format import clock, count, percent
from ralph_tui.text.terms import RowLevel, outcome_word

__all__ = [
    "AttemptKept",
    "CollectionAsked",
    "CollectionFailed",
    "ConflictsFound",
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
    "ResultCollected",
    "TreeRemoved",
    "VerificationBegan",
    "WinnerChosen",
    "WinnerVerified",
]


_LEVELS: dict[Outcome, RowLevel] = {"completed": "good", "failed": "critical", "interrupted": "log"}


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


NO_WORK = "has changed nothing"
AS_BEFORE = "ends with the files that it began with"


def best_words(best: float, record: str) -> str:
    """Of a loop that was better than what it left behind, and how its owner gets at that.

    `best`: 0 to 1; `record`: see `ResultCollected`.
    """
    was = f"its best was {percent(100 * best)}"
    how = f"'ralph-tui restore best --run {shlex.quote(record)}' brings it here"
    return f"{was}: {how}" if record else was


class CollectionAsked(FleetEvent):
    """The host of an ended loop was asked for its work."""

    kind: Literal["collection_asked"] = "collection_asked"
    loop: Line


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
    best: float | None = None
    """0 to 1; None: it was nowhere better than where it ended."""
    record: Line = ""
    """Of its run, as a command here names it; empty: none of its snapshots can be restored here,
    as none is here, or the loop may go on with its record."""

    def row(self) -> Row:
        as_branch = f"is collected as {self.branch}, {count(self.files, 'file')}"
        if self.best is None:
            return of_loop("log", self.loop, as_branch if self.branch else NO_WORK)
        what = as_branch if self.branch else AS_BEFORE
        return of_loop("log", self.loop, f"{what}; {best_words(self.best, self.record)}")


class CollectionFailed(FleetEvent):
    """Its work stays where it is for now."""

    durable = True
    kind: Literal["collection_failed"] = "collection_failed"
    loop: Line
    reason: Line
    final: bool = False
    """Its tree was removed: there is nothing that could be asked for once more."""

    def row(self) -> Row:
        return of_loop("warn", self.loop, f"could not be collected: {self.reason}")


class AttemptKept(FleetEvent):
    """What an attempt had made whose place another one has taken: a branch beside."""

    durable = True
    kind: Literal["attempt_kept"] = "attempt_kept"
    loop: Line
    attempt: int
    host: Line
    branch: Line = ""
    """Empty: it had made nothing."""
    files: int = 0

    def row(self) -> Row:
        what = f"attempt {self.attempt} of loop {self.loop} had made"
        if not self.branch:
            return said("log", f"{what} nothing on {host_words(self.host)}")
        kept = f"is kept as {self.branch}, {count(self.files, 'file')}"
        return said("log", f"what {what} on {host_words(self.host)} {kept}")


class ConflictsFound(FleetEvent):
    """Which collected branches cannot be merged one after the other."""

    kind: Literal["conflicts_found"] = "conflicts_found"
    branch: Line
    others: dict[Line, tuple[Line, ...]] = {}
    """Branches that it conflicts with (the base's name among them), each with some of the files."""
    new: tuple[Line, ...] | None = None
    """Of `others` those that nothing was said of, from either side; None: all of them."""
    unknown: Line = ""
    """Why it cannot be told; empty: it was told."""

    def row(self) -> Row | None:
        if self.unknown:
            return said("log", f"conflicts of {self.branch} are not known: {self.unknown}")
        new = self.others if self.new is None else self.new
        return said("warn", f"{self.branch} conflicts with {some(list(new))}") if new else None


class VerificationBegan(FleetEvent):
    """The completion command is run once more on the branch of a try that may win."""

    kind: Literal["verification_began"] = "verification_began"
    loop: Line


class WinnerVerified(FleetEvent):
    """The completion command was run once more on a winner's branch, in a fresh clone."""

    durable = True
    kind: Literal["winner_verified"] = "winner_verified"
    loop: Line
    passed: bool
    reason: Line = ""

    def row(self) -> Row:
        how = "passed once more in a fresh clone" if self.passed else "failed in a fresh clone"
        level: RowLevel = "good" if self.passed else "critical"
        return said(level, f"the completion command of loop {self.loop} {how}", self.reason)


class WinnerChosen(FleetEvent):
    """Of several tries at one objective this one counts; the others are beaten."""

    durable = True
    kind: Literal["winner_chosen"] = "winner_chosen"
    tries_at: Line
    loop: Line
    """Empty: none of them passed."""
    reason: Line

    def row(self) -> Row:
        if not self.loop:
            return said("warn", f"no attempt at {self.tries_at} is chosen", self.reason)
        return said("good", f"loop {self.loop} is chosen", self.reason)
