"""Events of a loop: its placement, progress, end and result, and the choice among attempts."""

import shlex
from datetime import datetime
from typing import Literal

from ralph_tui.events.base import Row
from ralph_tui.events.run import Outcome
from ralph_tui.events.text import Line
from ralph_tui.fleet.events.whole import FleetEvent, of_loop, said
from ralph_tui.fleet.plan import HERE, host_words, join_names
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
    """A host was ordered to run a loop, which counts as running there from now on."""

    durable = True
    kind: Literal["loop_placed"] = "loop_placed"
    loop: Line
    attempt: int
    """Counted from 1; each new attempt begins in a new clone."""
    host: Line
    branch: Line
    """Branch on which its work is collected."""
    budget_usd: float | None = None
    """Its share of the fleet's budget; None for no limit."""
    resumed: bool = False
    """True if it continues in its existing clone."""

    def row(self) -> Row:
        how = "is resumed" if self.resumed else "is placed"
        return of_loop("log", self.loop, f"{how} on {host_words(self.host)}")


class LoopStage(FleetEvent):
    """A host's progress in preparing a loop."""

    kind: Literal["loop_stage"] = "loop_stage"
    loop: Line
    stage: Literal["fetching", "cloning", "copying", "setup", "checking", "starting"]


class LoopBegan(FleetEvent):
    """A loop's run has recorded its first event."""

    kind: Literal["loop_began"] = "loop_began"
    loop: Line
    run_id: Line
    run: Line
    """Task and attempt within its clone."""
    folder: Line
    """Path of its clone on the host."""
    machine: Line = ""
    ports: tuple[int, int] | None = None
    """First and last port that it may use."""

    def row(self) -> Row:
        return of_loop("log", self.loop, "began")


class LoopProgressed(FleetEvent):
    """A loop's status, at the end of an iteration and when its phase changes."""

    kind: Literal["loop_progressed"] = "loop_progressed"
    loop: Line
    phase: Line
    """As in ``status.json``: agent, verifying, limited, paused ..."""
    waits_for: Line = ""
    """Set if `phase` is ``limited``: usage_limit, overload, outage or disk_full."""
    iteration: int = 0
    max_iterations: int | None = None
    completion: float | None = None
    """From 0 to 1."""
    best: float | None = None
    cost_usd: float | None = None
    """None if its agent does not report costs."""
    tokens: int = 0
    verdict: Line = ""
    """A one-sentence summary of its status."""
    question: Line = ""
    """Text of its open question; empty if there is none."""
    question_id: Line = ""
    pause_requested: bool = False
    """True if it pauses before its next iteration."""
    until: datetime | None = None
    """When the question's default applies, or a limit ends."""
    away_s: float = 0.0
    """Total seconds during which it was not running, from each end until it was resumed."""


class LoopLost(FleetEvent):
    """A loop's host is lost; the loop may still run there until its lease ends."""

    durable = True
    kind: Literal["loop_lost"] = "loop_lost"
    loop: Line
    until: datetime
    """Time after which it is certainly no longer running."""

    def row(self) -> Row:
        until = clock(self.until, seconds=True)
        return of_loop("warn", self.loop, f"is lost: it may keep running there until {until}")


class LoopAdopted(FleetEvent):
    """A loop was found still running on its host, and is followed from there."""

    durable = True
    kind: Literal["loop_adopted"] = "loop_adopted"
    loop: Line
    host: Line
    known: int = 0
    """Number of the last known event in its journal."""

    def row(self) -> Row:
        return of_loop("good", self.loop, f"was found again on {host_words(self.host)}")


class LoopRetried(FleetEvent):
    """A loop that waits for a limit to end was ordered to try again."""

    kind: Literal["loop_retried"] = "loop_retried"
    loop: Line

    def row(self) -> Row:
        return of_loop("log", self.loop, "was asked to try again")


class LoopStopAsked(FleetEvent):
    """The fleet stops a loop: another attempt won, the budget is used up, or the fleet stops."""

    durable = True
    kind: Literal["loop_stop_asked"] = "loop_stop_asked"
    loop: Line
    reason: Line
    now: bool = False
    """True to stop at once; False to stop when its iteration ends."""

    def row(self) -> Row:
        return of_loop("log", self.loop, "is being stopped", self.reason)


class LoopEnded(FleetEvent):
    """A loop's run has ended, or could not begin."""

    durable = True
    kind: Literal["loop_ended"] = "loop_ended"
    loop: Line
    outcome: Outcome
    reason: Line = ""
    iterations: int = 0
    completion: float | None = None
    cost_usd: float | None = None
    changed_lines: int | None = None
    """Lines added and removed by its work; None if unknown."""
    never_began: bool = False
    """True if its clone could not be made, its set-up failed, or its program is missing."""
    elsewhere: bool = False
    """If `never_began`: True if another host may be able to begin it."""
    host: Line = ""

    def row(self) -> Row:
        what = outcome_word(self.outcome)
        at = f" at {percent(100 * self.completion)}" if self.completion is not None else ""
        on = f" on {self.host}" if self.host and self.host != HERE else ""
        how = f"could not start{on}" if self.never_began else f"{what}{at}{on}"
        return of_loop(_LEVELS.get(self.outcome, "warn"), self.loop, how, self.reason)


class LoopRequeued(FleetEvent):
    """A loop is queued again."""

    durable = True
    kind: Literal["loop_requeued"] = "loop_requeued"
    loop: Line
    reason: Line
    resume: bool = False
    """True if it continues in its existing clone; else a new attempt begins in a new one."""

    def row(self) -> Row:
        return of_loop("warn", self.loop, "is queued again", self.reason)


class LoopSkipped(FleetEvent):
    """A loop does not run: no budget, another attempt won, or a loop it waits for failed."""

    durable = True
    kind: Literal["loop_skipped"] = "loop_skipped"
    loop: Line
    reason: Line
    aborted: bool = False
    """True if the user aborted it."""

    def row(self) -> Row:
        return of_loop("log", self.loop, "is skipped", self.reason)


class TreeRemoved(FleetEvent):
    """``fleet prune`` removed the clone that the loop would have continued in; it starts over."""

    durable = True
    kind: Literal["tree_removed"] = "tree_removed"
    loop: Line

    def row(self) -> Row:
        again = "starts over when the fleet is resumed: its clone was pruned"
        return of_loop("owner", self.loop, again)


NO_WORK = "has changed nothing"
AS_BEFORE = "ends with the files it started with"


def best_words(best: float, record: str) -> str:
    """Describe a loop's best snapshot, if better than its end, and how to restore it.

    `best` is from 0 to 1; `record` is as in `ResultCollected`.
    """
    was = f"its best result was {percent(100 * best)}"
    how = f"'ralph-tui restore best --run {shlex.quote(record)}' restores it here"
    return f"{was}: {how}" if record else was


class CollectionAsked(FleetEvent):
    """The host of an ended loop was ordered to send its work."""

    kind: Literal["collection_asked"] = "collection_asked"
    loop: Line


class ResultCollected(FleetEvent):
    """A loop's work was collected as a branch of the repository, if it changed anything."""

    durable = True
    kind: Literal["result_collected"] = "result_collected"
    loop: Line
    branch: Line
    commit: Line
    files: int = 0
    """Files changed since the base."""
    changed_lines: int | None = None
    """Lines added and removed since the base; None if unknown."""
    best: float | None = None
    """Its best completion, from 0 to 1; None if it was never better than at the end."""
    record: Line = ""
    """Its run's name in commands here; empty if none of its snapshots can be restored here.

    That is so if there is no snapshot here, or if the loop may continue with its record.
    """

    def row(self) -> Row:
        as_branch = f"is collected as {self.branch}, {count(self.files, 'file')}"
        if self.best is None:
            return of_loop("log", self.loop, as_branch if self.branch else NO_WORK)
        what = as_branch if self.branch else AS_BEFORE
        return of_loop("log", self.loop, f"{what}; {best_words(self.best, self.record)}")


class CollectionFailed(FleetEvent):
    """A loop's work could not be collected; it stays where it is for now."""

    durable = True
    kind: Literal["collection_failed"] = "collection_failed"
    loop: Line
    reason: Line
    final: bool = False
    """True if its clone was removed, so that a retry is pointless."""

    def row(self) -> Row:
        return of_loop("warn", self.loop, f"could not be collected: {self.reason}")


class AttemptKept(FleetEvent):
    """The work of an attempt that another attempt replaced was saved on a separate branch."""

    durable = True
    kind: Literal["attempt_kept"] = "attempt_kept"
    loop: Line
    attempt: int
    host: Line
    branch: Line = ""
    """Empty if it had changed nothing."""
    files: int = 0

    def row(self) -> Row:
        what = f"attempt {self.attempt} of loop {self.loop}"
        if not self.branch:
            return said("log", f"{what} changed nothing on {host_words(self.host)}")
        kept = f"is kept as {self.branch}, {count(self.files, 'file')}"
        return said("log", f"the work of {what} on {host_words(self.host)} {kept}")


class ConflictsFound(FleetEvent):
    """Conflicts of a collected branch with other collected branches or with the base."""

    kind: Literal["conflicts_found"] = "conflicts_found"
    branch: Line
    others: dict[Line, tuple[Line, ...]] = {}
    """Conflicting branches, which may include the base, each with some of the conflicting files."""
    new: tuple[Line, ...] | None = None
    """Members of `others` whose conflict was not reported before; None if all of them are new."""
    unknown: Line = ""
    """Why the conflicts are unknown; empty if they are known."""

    def row(self) -> Row | None:
        if self.unknown:
            return said("log", f"cannot check {self.branch} for conflicts: {self.unknown}")
        new = self.others if self.new is None else self.new
        return (
            said("warn", f"{self.branch} conflicts with {join_names(list(new))}") if new else None
        )


class VerificationBegan(FleetEvent):
    """The completion command is being run again on the branch of an attempt that may win."""

    kind: Literal["verification_began"] = "verification_began"
    loop: Line


class WinnerVerified(FleetEvent):
    """The completion command was run again on an attempt's branch, in a fresh clone."""

    durable = True
    kind: Literal["winner_verified"] = "winner_verified"
    loop: Line
    passed: bool
    reason: Line = ""

    def row(self) -> Row:
        how = "passed again in a fresh clone" if self.passed else "failed in a fresh clone"
        level: RowLevel = "good" if self.passed else "critical"
        return said(level, f"the completion command of loop {self.loop} {how}", self.reason)


class WinnerChosen(FleetEvent):
    """One of several attempts at an objective won; the others are beaten."""

    durable = True
    kind: Literal["winner_chosen"] = "winner_chosen"
    tries_at: Line
    loop: Line
    """Empty if no attempt passed."""
    reason: Line

    def row(self) -> Row:
        if not self.loop:
            return said("warn", f"no attempt at {self.tries_at} is chosen", self.reason)
        return said("good", f"loop {self.loop} is chosen", self.reason)
