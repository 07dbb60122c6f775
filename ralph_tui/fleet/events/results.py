"""What comes of the loops: branches, and which of several tries counts."""

import shlex
from typing import Literal

from ralph_tui.events.base import Row
from ralph_tui.events.text import Line
from ralph_tui.fleet.events.base import FleetEvent, of_loop, said
from ralph_tui.fleet.plan import some
from ralph_tui.text.format import count, percent
from ralph_tui.text.terms import RowLevel

__all__ = [
    "AttemptKept",
    "CollectionAsked",
    "CollectionFailed",
    "ConflictsFound",
    "ResultCollected",
    "VerificationBegan",
    "WinnerChosen",
    "WinnerVerified",
]


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
            return said("log", f"{what} nothing on {self.host}")
        kept = f"is kept as {self.branch}, {count(self.files, 'file')}"
        return said("log", f"what {what} on {self.host} {kept}")


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
