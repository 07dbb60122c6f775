"""How one loop stands: the fold of what the fleet's journal says of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from ralph_tui.events.run import Outcome
from ralph_tui.fleet import events as told
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.plan import Loop

LoopStatus = Literal["queued", "placing", "running", "lost", "ended", "skipped"]
"""Where a loop is; what it does while it runs says `phase`, how it ended says `outcome`."""
COURSE = 200
"""Readings of a loop that are kept, the last ones."""
LIMITS = ("usage_limit", "overload", "outage", "")
"""What a limited loop waits for that is its login's affair; the last: it did not say."""


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
    never_began: bool = False
    again: bool = False
    """Its fleet was resumed since it could not begin."""
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
    not_collected: str = ""
    """Why its work could not be collected."""
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
        worked = self.iteration > 1 or (self.iteration > 0 and self.over)
        return worked and self.cost_usd is None

    @property
    def tree_is_done(self) -> bool:
        """Nothing goes on in its tree: it has ended by itself, or another try has won."""
        return self.over and (self.outcome != "interrupted" or self.place == "beaten")

    @property
    def may_begin_again(self) -> bool:
        """It could not begin, for a reason that its owner may have put right."""
        never = self.status == "ended" and self.never_began
        return never and self.outcome != "aborted" and self.place != "beaten"

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

    def take(self, event: FleetEvent) -> None:
        """Take an event of this loop in; any other changes nothing."""
        handler = _HANDLERS.get(type(event))
        if handler is not None:
            handler(self, event)

    def fleet_resumed(self) -> None:
        """What was asked of the process that is gone was asked in vain."""
        self.resumes = 0
        self.stop_asked = ""
        self.collecting = self.verifying = False
        self.not_collected = ""
        self.retried_at = None
        self.again = self.may_begin_again
        self.not_on = frozenset()


def _placed(loop: LoopState, event: told.LoopPlaced) -> None:
    if event.resumed:
        loop.resumes += 1
    else:
        loop.earlier_cost_usd, loop.cost_usd = loop.spent_usd, None
        loop.run_id = loop.run = loop.folder = ""
        loop.ports, loop.began_at = None, None
        loop.iteration, loop.best, loop.tokens = 0, None, 0
        loop.completions = []
    loop.status, loop.attempt, loop.host = "placing", event.attempt, event.host
    loop.branch, loop.given_usd, loop.placed_at = event.branch, event.budget_usd, event.at
    loop.machine = loop.stage = loop.reason = ""
    loop.resuming = False
    loop.stop_asked = loop.stop_reason = ""
    loop.lost_at = loop.lost_until = loop.ended_at = loop.retried_at = None
    _quiet(loop)


def _staged(loop: LoopState, event: told.LoopStage) -> None:
    loop.stage = event.stage


def _began(loop: LoopState, event: told.LoopBegan) -> None:
    loop.status, loop.stage = "running", ""
    loop.run_id, loop.run, loop.folder = event.run_id, event.run, event.folder
    loop.ports, loop.began_at = event.ports, loop.began_at or event.at
    loop.machine = event.machine or loop.machine


def _progressed(loop: LoopState, event: told.LoopProgressed) -> None:
    if event.phase != loop.phase:
        loop.phase_at = event.at
    loop.phase, loop.waits_for, loop.verdict = event.phase, event.waits_for, event.verdict
    loop.question, loop.question_id = event.question, event.question_id
    loop.until, loop.progressed_at = event.until, event.at
    if event.completion is not None:  # one reading per iteration; the last said of it counts
        kept = loop.completions if event.iteration != loop.iteration else loop.completions[:-1]
        loop.completions = [*kept, event.completion][-COURSE:]
    loop.iteration, loop.max_iterations = event.iteration, event.max_iterations
    loop.best, loop.tokens = event.best, event.tokens
    if event.cost_usd is not None:
        loop.cost_usd = event.cost_usd


def _lost(loop: LoopState, event: told.LoopLost) -> None:
    loop.status, loop.lost_at, loop.lost_until = "lost", event.at, event.until


def _adopted(loop: LoopState, event: told.LoopAdopted) -> None:
    loop.status = "running" if loop.began_at else "placing"
    loop.host = event.host
    loop.resuming, loop.stop_asked = False, ""  # what it was told may have been lost with its host
    loop.lost_at = loop.lost_until = None


def _retried(loop: LoopState, event: told.LoopRetried) -> None:
    loop.retried_at = event.at


def _stop_asked(loop: LoopState, event: told.LoopStopAsked) -> None:
    loop.stop_asked, loop.stop_reason = "now" if event.now else "after_iteration", event.reason


def _commanded(loop: LoopState, event: told.CommandGiven) -> None:
    """Whoever stops a single loop does not want it to go on by itself."""
    if event.name == "stop" and not event.refused:
        loop.stop_asked = loop.stop_asked or "after_iteration"


def _ended(loop: LoopState, event: told.LoopEnded) -> None:
    loop.status, loop.outcome, loop.reason = "ended", event.outcome, event.reason
    loop.never_began, loop.elsewhere, loop.ended_at = event.never_began, event.elsewhere, event.at
    if event.elsewhere:
        loop.not_on |= {loop.host}
    loop.changed_lines = event.changed_lines
    loop.iteration = event.iterations or loop.iteration
    if event.cost_usd is not None:
        loop.cost_usd = event.cost_usd
    if event.completion is not None:
        loop.completions = [*loop.completions[:-1], event.completion]
    loop.stage = ""
    loop.lost_at = loop.lost_until = None
    _quiet(loop)


def _requeued(loop: LoopState, event: told.LoopRequeued) -> None:
    loop.status, loop.outcome, loop.reason = "queued", None, event.reason
    loop.resuming = event.resume
    loop.never_began = loop.elsewhere = loop.again = False
    loop.lost_at = loop.lost_until = loop.ended_at = None
    loop.commit = loop.not_collected = loop.stage = ""
    loop.collected = loop.collecting = loop.verifying = False
    loop.verified, loop.changed_lines = None, None
    _quiet(loop)


def _skipped(loop: LoopState, event: told.LoopSkipped) -> None:
    loop.status, loop.reason, loop.ended_at = "skipped", event.reason, event.at


def _collection_asked(loop: LoopState, _: told.CollectionAsked) -> None:
    loop.collecting, loop.not_collected = True, ""


def _collected(loop: LoopState, event: told.ResultCollected) -> None:
    loop.collected, loop.collecting, loop.not_collected = True, False, ""
    loop.branch, loop.commit, loop.files = event.branch, event.commit, event.files
    if event.changed_lines is not None:
        loop.changed_lines = event.changed_lines


def _collection_failed(loop: LoopState, event: told.CollectionFailed) -> None:
    loop.collecting, loop.not_collected = False, event.reason or "it is not known why"


def _verification_began(loop: LoopState, _: told.VerificationBegan) -> None:
    loop.verifying = True


def _verified(loop: LoopState, event: told.WinnerVerified) -> None:
    loop.verifying, loop.verified, loop.verified_why = False, event.passed, event.reason


def _quiet(loop: LoopState) -> None:
    """It says nothing of itself: it does not run."""
    loop.phase = loop.waits_for = loop.verdict = loop.question = loop.question_id = ""
    loop.until = None


_HANDLERS: dict[type[FleetEvent], Callable[[LoopState, Any], None]] = {
    told.LoopPlaced: _placed,
    told.LoopStage: _staged,
    told.LoopBegan: _began,
    told.LoopProgressed: _progressed,
    told.LoopLost: _lost,
    told.LoopAdopted: _adopted,
    told.LoopRetried: _retried,
    told.LoopStopAsked: _stop_asked,
    told.CommandGiven: _commanded,
    told.LoopEnded: _ended,
    told.LoopRequeued: _requeued,
    told.LoopSkipped: _skipped,
    told.CollectionAsked: _collection_asked,
    told.ResultCollected: _collected,
    told.CollectionFailed: _collection_failed,
    told.VerificationBegan: _verification_began,
    told.WinnerVerified: _verified,
}
"""What each event of a loop changes in it."""
ABOUT_A_LOOP = frozenset(_HANDLERS)
