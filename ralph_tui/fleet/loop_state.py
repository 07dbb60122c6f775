"""How one loop of a fleet stands, what each event changes in it, and what it can be told."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from ralph_tui.events.run import Outcome
from ralph_tui.fleet import events as told
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.ports.clones import Earlier, Loop

LoopStatus = Literal["queued", "placing", "running", "lost", "ended", "skipped"]
"""Where a loop is; what it does while it runs says `phase`, how it ended says `outcome`."""
LIMITS = ("usage_limit", "overload", "outage", "")
"""What a limited loop waits for that is its login's affair; the last: it did not say."""
COURSE = 200
"""Readings of a loop that are kept, the last ones."""


@dataclass
class LoopState:
    """One loop."""

    spec: Loop
    status: LoopStatus = "queued"
    attempt: int = 0
    host: str = ""
    machine: str = ""
    home: str = ""
    """Where its tree is; see `HostJoined`."""
    branch: str = ""
    stage: str = ""
    """While it is placed."""
    run_id: str = ""
    run: str = ""
    folder: str = ""
    ports: tuple[int, int] | None = None
    resumes: int = 0
    """How often it went on in the tree that it had, since somebody started or resumed the fleet."""
    resuming: bool = False
    """While it waits for a place: it goes on in the tree that it had."""
    end_heard: bool = False
    """Then: how its run had ended was heard; else its host was lost, and may know more."""
    phase: str = ""
    phase_at: datetime | None = None
    """When its phase began, as far as it was told."""
    waits_for: str = ""
    """While its phase is ``limited``; see `LoopProgressed`."""
    iteration: int = 0
    max_iterations: int | None = None
    completions: list[float] = field(default_factory=list)
    best: float | None = None
    verdict: str = ""
    question: str = ""
    question_id: str = ""
    until: datetime | None = None
    progressed_at: datetime | None = None
    """When it last said how it stands."""
    cost_usd: float | None = None
    """Of this attempt; None: not known."""
    earlier_cost_usd: float = 0.0
    """Of attempts before."""
    tokens: int = 0
    given_usd: float | None = None
    """What this attempt may spend, all that it has spent already included."""
    placed_at: datetime | None = None
    began_at: datetime | None = None
    ended_at: datetime | None = None
    away_s: float = 0.0
    """Of the seconds since it began those in which it did not work; see `LoopProgressed`."""
    lost_at: datetime | None = None
    lost_until: datetime | None = None
    retried_at: datetime | None = None
    """When it was told to try again while it waited for a limit."""
    stop_asked: Literal["", "after_iteration", "now"] = ""
    """What the fleet itself has told it."""
    stop_reason: str = ""
    """Why it has."""
    outcome: Outcome | None = None
    reason: str = ""
    aborted: bool = False
    """Somebody has given it up before it ran."""
    never_began: bool = False
    again: bool = False
    """Its fleet was resumed since it was placed: if it could not begin, it is tried again."""
    unbegun: int = 0
    """The last attempt that could not begin, once another one is to come."""
    elsewhere: bool = False
    """It never began, and another host may be able to."""
    not_on: frozenset[str] = frozenset()
    """Hosts on which it could not begin."""
    changed_lines: int | None = None
    collecting: bool = False
    """Its host was asked for its work and has not answered."""
    collected: bool = False
    """Its work is the branch `branch` of the repository."""
    commit: str = ""
    """Of that branch."""
    files: int = 0
    better: float | None = None
    """What it had reached before, 0 to 1, where that is better than the work that was collected."""
    record: str = ""
    """Of its run, where snapshots of it can be restored; see `ResultCollected`."""
    earlier: Earlier | None = None
    kept: dict[int, str] = field(default_factory=dict)
    """Branches of attempts whose place another one has taken, by number."""
    left: dict[int, str] = field(default_factory=dict)
    """Hosts of such attempts whose work is still there alone, by number."""
    not_collected: str = ""
    """Why its work could not be collected."""
    tree_removed: bool = False
    """The tree of this attempt was pruned: to resume the loop is to start it over."""
    work_gone: bool = False
    """Then: nor can it be later."""
    conflicts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    conflicts_unknown: str = ""
    place: Literal["", "chosen", "beaten"] = ""
    """Among several tries."""
    verifying: bool = False
    """The completion command is being run once more in a fresh clone."""
    verified: bool | None = None
    """Whether it passed there."""
    verified_why: str = ""

    @property
    def spent_usd(self) -> float:
        """All attempts together, as far as it is known."""
        return self.earlier_cost_usd + (self.cost_usd or 0.0)

    @property
    def cost_told(self) -> bool:
        """Whether its agent has told any cost."""
        return self.cost_usd is not None or self.earlier_cost_usd > 0

    @property
    def cost_missing(self) -> bool:
        """Whether it has spent something that its agent did not tell."""
        again = self.over or self.resuming or self.attempt > 1
        worked = self.iteration > 1 or (self.iteration > 0 and again)
        return worked and self.cost_usd is None

    @property
    def tree_is_done(self) -> bool:
        """Nothing goes on in its tree: it has ended by itself, or another try has won."""
        return self.over and (self.outcome != "interrupted" or self.place == "beaten")

    @property
    def keeps_tree(self) -> bool:
        """Its tree is not removed: it works there, may go on, or its work is not collected."""
        return not (self.tree_removed or (self.commit and self.tree_is_done))

    @property
    def not_needed(self) -> bool:
        """Another attempt at its objective was chosen before it ran."""
        return self.status == "skipped" and self.place == "beaten"

    @property
    def may_begin_again(self) -> bool:
        """It could not begin, for a reason that its owner may have put right."""
        never = self.status == "ended" and self.never_began
        return never and self.outcome != "aborted" and self.place != "beaten"

    @property
    def waits_again(self) -> bool:
        """It was skipped for what may be in its way no more; else it is skipped once more."""
        return self.status == "skipped" and not self.aborted and self.place != "beaten"

    @property
    def starts_over(self) -> bool:
        """Resuming its fleet starts it over, because its tree was pruned."""
        waits = self.status != "skipped" and not self.tree_is_done
        return self.tree_removed and waits and not self.aborted

    @property
    def may_be_collected(self) -> bool:
        """Its work could not be collected, and may be when its fleet is resumed."""
        return bool(self.not_collected) and not self.work_gone

    @property
    def over(self) -> bool:
        """Nothing more comes of it."""
        return self.status in ("ended", "skipped")

    @property
    def placed(self) -> bool:
        """It takes a slot of its host."""
        return self.status in ("placing", "running", "lost")

    @property
    def limited(self) -> bool:
        """It waits for the end of a limit of its login, which is nobody else's question."""
        return (
            self.status == "running"
            and self.phase == "limited"
            and self.waits_for in LIMITS
            and not self.question
        )

    def fleet_resumed(self) -> None:
        """What was asked of the process that is gone was asked in vain."""
        self.resumes = 0
        self.stop_asked = ""
        self.collecting = self.verifying = False
        self.ask_again()
        self.retried_at = None
        self.again = self.may_begin_again or not self.over
        self.not_on = frozenset()
        if self.waits_again:
            self.status, self.reason, self.ended_at = "queued", "", None

    def ask_again(self) -> None:
        """What could not be collected may be there now."""
        if not self.work_gone:
            self.not_collected = ""

    # -- its fold: what each event of the journal changes --------------------------------------

    def on_placed(self, event: told.LoopPlaced) -> None:
        if event.resumed:
            self.resumes += 1
        else:
            self.earlier_cost_usd, self.cost_usd = self.spent_usd, None
            self.run_id = self.run = self.folder = ""
            self.ports, self.began_at, self.away_s = None, None, 0.0
            self.iteration, self.best, self.tokens = 0, None, 0
            self.completions = []
            self.tree_removed = False
        self.status, self.attempt, self.host = "placing", event.attempt, event.host
        self.again = False
        self.branch, self.given_usd, self.placed_at = event.branch, event.budget_usd, event.at
        self.machine = self.stage = self.reason = ""
        self.resuming = False
        self.stop_asked = self.stop_reason = ""
        self.lost_at = self.lost_until = self.ended_at = self.retried_at = None
        self._quiet()

    def on_staged(self, event: told.LoopStage) -> None:
        self.stage = event.stage

    def on_began(self, event: told.LoopBegan) -> None:
        self.status, self.stage = "running", ""
        self.not_collected, self.work_gone = "", False
        self.run_id, self.run, self.folder = event.run_id, event.run, event.folder
        self.ports, self.began_at = event.ports, self.began_at or event.at
        self.machine = event.machine or self.machine

    def on_progressed(self, event: told.LoopProgressed) -> None:
        if event.phase != self.phase:
            self.phase_at = event.at
        self.phase, self.waits_for, self.verdict = event.phase, event.waits_for, event.verdict
        self.question, self.question_id = event.question, event.question_id
        self.until, self.progressed_at = event.until, event.at
        if event.completion is not None:  # one reading per iteration; the last said of it counts
            kept = self.completions if event.iteration != self.iteration else self.completions[:-1]
            self.completions = [*kept, event.completion][-COURSE:]
        self.iteration, self.max_iterations = event.iteration, event.max_iterations
        self.best, self.tokens = event.best, event.tokens
        self.away_s = event.away_s
        if event.cost_usd is not None:
            self.cost_usd = event.cost_usd

    def on_lost(self, event: told.LoopLost) -> None:
        self.status, self.lost_at, self.lost_until = "lost", event.at, event.until

    def on_adopted(self, event: told.LoopAdopted) -> None:
        self.status = "running" if self.began_at else "placing"
        self.host = event.host
        self.resuming = False
        if self.stop_reason:  # what the fleet has told it may be lost: it is told again
            self.stop_asked = self.stop_reason = ""
        self.lost_at = self.lost_until = None

    def on_retried(self, event: told.LoopRetried) -> None:
        self.retried_at = event.at

    def on_stop_asked(self, event: told.LoopStopAsked) -> None:
        self.stop_asked, self.stop_reason = "now" if event.now else "after_iteration", event.reason

    def on_commanded(self, event: told.CommandGiven) -> None:
        """Whoever stops a single loop does not want it to go on by itself."""
        if event.name == "stop" and not event.refused:
            self.stop_asked = self.stop_asked or "after_iteration"

    def on_ended(self, event: told.LoopEnded) -> None:
        self.status, self.outcome, self.reason = "ended", event.outcome, event.reason
        self.never_began, self.elsewhere, self.ended_at = (
            event.never_began,
            event.elsewhere,
            event.at,
        )
        if event.elsewhere:
            self.not_on |= {self.host}
        self.changed_lines = event.changed_lines
        self.iteration = event.iterations or self.iteration
        if event.cost_usd is not None:
            self.cost_usd = event.cost_usd
        if event.completion is not None:
            self.completions = [*self.completions[:-1], event.completion]
        self.stage = ""
        self.lost_at = self.lost_until = None
        self._quiet()

    def on_requeued(self, event: told.LoopRequeued) -> None:
        if self.commit and self.branch:
            made = (self.branch, self.commit, self.attempt, self.host, self.files)
            self.earlier = Earlier(*made)
        if self.run_id and not (event.resume or self.work_gone or self.collected):
            self.left = {**self.left, self.attempt: self.host}
        if self.never_began:
            self.unbegun = self.attempt
        self.end_heard = self.status == "ended"
        self.status, self.outcome, self.reason = "queued", None, event.reason
        self.resuming = event.resume
        self.never_began = self.elsewhere = self.again = False
        self.lost_at = self.lost_until = self.ended_at = None
        self.work_gone = self.work_gone and event.resume  # another attempt has another tree
        self.ask_again()
        self.commit = self.stage = ""
        self.collected = self.collecting = self.verifying = False
        self.verified, self.changed_lines = None, None
        self._quiet()

    def on_skipped(self, event: told.LoopSkipped) -> None:
        self.status, self.reason, self.ended_at = "skipped", event.reason, event.at
        self.aborted = event.aborted

    def on_tree_removed(self, _: told.TreeRemoved) -> None:
        self.tree_removed = True

    def on_collection_asked(self, _: told.CollectionAsked) -> None:
        self.collecting, self.not_collected = True, ""

    def on_collected(self, event: told.ResultCollected) -> None:
        self.collected, self.collecting, self.not_collected = True, False, ""
        self.branch, self.commit, self.files = event.branch, event.commit, event.files
        self.better, self.record = event.best, event.record
        if event.changed_lines is not None:
            self.changed_lines = event.changed_lines

    def on_kept(self, event: told.AttemptKept) -> None:
        self.left = {number: host for number, host in self.left.items() if number != event.attempt}
        if event.branch:
            self.kept = {**self.kept, event.attempt: event.branch}

    def on_collection_failed(self, event: told.CollectionFailed) -> None:
        self.collecting, self.not_collected = False, event.reason or "it is not known why"
        self.work_gone = event.final
        if event.final:
            self.left = {number: on for number, on in self.left.items() if number != self.attempt}

    def on_verification_began(self, _: told.VerificationBegan) -> None:
        self.verifying = True

    def on_verified(self, event: told.WinnerVerified) -> None:
        self.verifying, self.verified, self.verified_why = False, event.passed, event.reason

    def _quiet(self) -> None:
        """It says nothing of itself: it does not run."""
        self.phase = self.waits_for = self.verdict = self.question = self.question_id = ""
        self.until = None


def taking(taker: type) -> dict[type[FleetEvent], Callable[[Any, Any], None]]:
    """The ``on_`` methods of a class, each by the type of event that it takes."""
    methods = [method for name, method in vars(taker).items() if name.startswith("on_")]
    return {next(iter(method.__annotations__.values())): method for method in methods}


TAKERS = taking(LoopState)
"""Its method for each event that is about a loop."""


def ended(loop: LoopState, outcome: Outcome, reason: str, **more: bool) -> told.LoopEnded:
    """The end of an attempt, with what it had reached; `more`: fields of what its host said."""
    return told.LoopEnded(
        loop=loop.spec.id,
        outcome=outcome,
        reason=reason,
        iterations=loop.iteration,
        completion=loop.completions[-1] if loop.completions else None,
        cost_usd=loop.cost_usd,
        host=loop.host,
        **more,
    )


_NOT_YET = {"queued": "waits for a place", "placing": "is being placed"}


def refusal(loop: LoopState, *, abort: bool = False) -> str:
    """Why it can be told nothing now, on every screen in the same sentence; empty where it can.

    `abort`: of the one command that needs no run.
    """
    name = f"loop {loop.spec.id}"
    if loop.over:
        return f"{name} {'was skipped' if loop.status == 'skipped' else 'is over'}"
    if loop.status == "lost":
        return f"the host of {name} is lost: it can be told when it is found again"
    if loop.status in _NOT_YET and not abort:
        return f"{name} {_NOT_YET[loop.status]}: until it runs it can only be aborted"
    return ""
