"""The state of one loop of a fleet, its changes by events, and the commands it accepts."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from ralph_tui.events.run import Outcome
from ralph_tui.fleet import events as ev
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.ports.clones import Earlier, Loop

LoopStatus = Literal["queued", "placing", "running", "lost", "ended", "skipped"]
"""Status of a loop; `phase` adds what it is doing while it runs, `outcome` how it ended."""
LIMITS = ("usage_limit", "overload", "outage", "")
"""Causes of a limit that concern the loop's account; empty if no cause was given."""
MAX_POINTS = 200
"""Maximum number of completion measurements kept; older ones are dropped."""


@dataclass
class LoopState:
    """The state of one loop."""

    spec: Loop
    status: LoopStatus = "queued"
    attempt: int = 0
    host: str = ""
    machine: str = ""
    home: str = ""
    """Identifies the folder of its clone; see `HostJoined`."""
    branch: str = ""
    stage: str = ""
    """Stage of the preparation while it is being placed."""
    run_id: str = ""
    run: str = ""
    folder: str = ""
    ports: tuple[int, int] | None = None
    resumes: int = 0
    """How many times it has continued in its clone since the last start or resume of the fleet."""
    resuming: bool = False
    """True for a queued loop that will continue in its existing clone."""
    end_heard: bool = False
    """For a requeued loop: False if its host was lost before it reported the loop's end."""
    phase: str = ""
    phase_at: datetime | None = None
    """When its phase began, according to its reports."""
    waits_for: str = ""
    """Set while its phase is ``limited``; see `LoopProgressed`."""
    iteration: int = 0
    max_iterations: int | None = None
    completions: list[float] = field(default_factory=list)
    best: float | None = None
    verdict: str = ""
    question: str = ""
    question_id: str = ""
    pause_requested: bool = False
    """True if it pauses before its next iteration."""
    commanded_seq: int = 0
    """Number of the event that the last command caused in its run; an older status precedes it."""
    until: datetime | None = None
    progressed_at: datetime | None = None
    """When it last reported its progress."""
    cost_usd: float | None = None
    """Cost of this attempt; None if unknown."""
    earlier_cost_usd: float = 0.0
    """Cost of earlier attempts."""
    tokens: int = 0
    given_usd: float | None = None
    """Budget of this attempt, including what it has already spent."""
    placed_at: datetime | None = None
    began_at: datetime | None = None
    ended_at: datetime | None = None
    away_s: float = 0.0
    """Total seconds during which it was not running; see `LoopProgressed`."""
    lost_at: datetime | None = None
    lost_until: datetime | None = None
    retried_at: datetime | None = None
    """When it was ordered to try again while waiting for a limit."""
    stop_asked: Literal["", "after_iteration", "now"] = ""
    """The stop that the fleet or the user ordered; empty if there is none."""
    stop_reason: str = ""
    outcome: Outcome | None = None
    reason: str = ""
    aborted: bool = False
    """True if the user aborted it before it ran."""
    never_began: bool = False
    again: bool = False
    """True if it was placed before the fleet was resumed; it is then retried if it cannot begin."""
    unbegun: int = 0
    """Number of the last attempt that could not begin and was requeued."""
    elsewhere: bool = False
    """True if it never began but another host may be able to begin it."""
    not_on: frozenset[str] = frozenset()
    """Hosts on which it could not begin."""
    changed_lines: int | None = None
    collecting: bool = False
    """True if its host was ordered to send its work and has not answered."""
    collected: bool = False
    """True if its work was collected; `branch` is empty if it changed nothing."""
    commit: str = ""
    """The collected commit; empty until then."""
    files: int = 0
    better: float | None = None
    """Its best completion, 0 to 1, if better than the collected work; else None."""
    record: str = ""
    """Name of its run if its snapshots can be restored; see `ResultCollected`."""
    earlier: Earlier | None = None
    kept: dict[int, str] = field(default_factory=dict)
    """Branches of attempts that another attempt replaced, by number."""
    left: dict[int, str] = field(default_factory=dict)
    """Hosts with uncollected work of replaced attempts, by number."""
    not_collected: str = ""
    """Why its work could not be collected; empty if it was or may still be."""
    tree_removed: bool = False
    """True if this attempt's clone was pruned; resuming the loop then starts it over."""
    work_gone: bool = False
    """True if its uncollected work can never be collected."""
    conflicts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    conflicts_unknown: str = ""
    place: Literal["", "chosen", "beaten"] = ""
    """Result of the choice among several attempts."""
    verifying: bool = False
    """True while the completion command runs again in a fresh clone."""
    verified: bool | None = None
    """True if the command passed there; None if it has not run."""
    verified_why: str = ""

    @property
    def spent_usd(self) -> float:
        """Known cost of all attempts together, in US dollars."""
        return self.earlier_cost_usd + (self.cost_usd or 0.0)

    @property
    def cost_reported(self) -> bool:
        """True if its agent has reported any cost."""
        return self.cost_usd is not None or self.earlier_cost_usd > 0

    @property
    def cost_missing(self) -> bool:
        """True if it has worked and its agent did not report the cost."""
        again = self.over or self.resuming or self.attempt > 1
        worked = self.iteration > 1 or (self.iteration > 0 and again)
        return worked and self.cost_usd is None

    @property
    def tree_is_done(self) -> bool:
        """True if its clone is no longer needed: it was not interrupted, or another attempt won."""
        return self.over and (self.outcome != "interrupted" or self.place == "beaten")

    @property
    def keeps_tree(self) -> bool:
        """True if its clone stays: it is in use, may be resumed, or its work is not collected."""
        return not (self.tree_removed or (self.commit and self.tree_is_done))

    @property
    def not_needed(self) -> bool:
        """True if another attempt at its objective was chosen before it ran."""
        return self.status == "skipped" and self.place == "beaten"

    @property
    def may_begin_again(self) -> bool:
        """True if it could not begin for a reason that the user may have fixed."""
        never = self.status == "ended" and self.never_began
        return never and self.outcome != "aborted" and self.place != "beaten"

    @property
    def waits_again(self) -> bool:
        """True if the reason it was skipped may no longer apply; else it is skipped again."""
        return self.status == "skipped" and not self.aborted and self.place != "beaten"

    @property
    def starts_over(self) -> bool:
        """True if resuming its fleet starts it over, because its clone was pruned."""
        waits = self.status != "skipped" and not self.tree_is_done
        return self.tree_removed and waits and not self.aborted

    @property
    def may_be_collected(self) -> bool:
        """True if its work could not be collected but may be when the fleet is resumed."""
        return bool(self.not_collected) and not self.work_gone

    @property
    def has_work_left(self) -> bool:
        """True if it still has work to do when the fleet is resumed."""
        unfinished = not self.over or (self.outcome == "interrupted" and self.place != "beaten")
        return unfinished or self.may_begin_again or self.may_be_collected

    @property
    def over(self) -> bool:
        """True if it ended or was skipped."""
        return self.status in ("ended", "skipped")

    @property
    def placed(self) -> bool:
        """True if it uses a slot of its host."""
        return self.status in ("placing", "running", "lost")

    @property
    def pauses(self) -> bool:
        """True if it is paused, or will be after this iteration."""
        return self.phase == "paused" or self.pause_requested

    @property
    def limited(self) -> bool:
        """True if it is waiting for its account's limit to end and has no open question."""
        return (
            self.status == "running"
            and self.phase == "limited"
            and self.waits_for in LIMITS
            and not self.question
        )

    def fleet_resumed(self) -> None:
        """Drop requests to the process that is gone, and let the loop be tried again."""
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
        """Allow its work to be collected again, unless the work is gone."""
        if not self.work_gone:
            self.not_collected = ""

    # -- folding: the change that each event makes ---------------------------------------------

    def on_placed(self, event: ev.LoopPlaced) -> None:
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
        self._clear_activity()

    def on_staged(self, event: ev.LoopStage) -> None:
        self.stage = event.stage

    def on_began(self, event: ev.LoopBegan) -> None:
        self.status, self.stage = "running", ""
        self.not_collected, self.work_gone = "", False
        self.run_id, self.run, self.folder = event.run_id, event.run, event.folder
        self.ports, self.began_at = event.ports, self.began_at or event.at
        self.machine = event.machine or self.machine

    def on_progressed(self, event: ev.LoopProgressed) -> None:
        if event.phase != self.phase:
            self.phase_at = event.at
        self.phase, self.waits_for, self.verdict = event.phase, event.waits_for, event.verdict
        self.question, self.question_id = event.question, event.question_id
        self.pause_requested = event.pause_requested
        self.until, self.progressed_at = event.until, event.at
        if event.completion is not None:  # one measurement per iteration, the latest
            kept = self.completions if event.iteration != self.iteration else self.completions[:-1]
            self.completions = [*kept, event.completion][-MAX_POINTS:]
        self.iteration, self.max_iterations = event.iteration, event.max_iterations
        self.best, self.tokens = event.best, event.tokens
        self.away_s = event.away_s
        if event.cost_usd is not None:
            self.cost_usd = event.cost_usd

    def on_lost(self, event: ev.LoopLost) -> None:
        self.status, self.lost_at, self.lost_until = "lost", event.at, event.until

    def on_adopted(self, event: ev.LoopAdopted) -> None:
        self.status = "running" if self.began_at else "placing"
        self.host = event.host
        self.resuming = False
        if self.stop_reason:  # the stop order may be lost: repeat it
            self.stop_asked = self.stop_reason = ""
        self.lost_at = self.lost_until = None

    def on_retried(self, event: ev.LoopRetried) -> None:
        self.retried_at = event.at

    def on_stop_asked(self, event: ev.LoopStopAsked) -> None:
        self.stop_asked, self.stop_reason = "now" if event.now else "after_iteration", event.reason

    def on_commanded(self, event: ev.CommandGiven) -> None:
        """Do not continue a loop automatically once the user has stopped it; note a pause."""
        if event.refused:
            return
        if event.name == "stop":
            self.stop_asked = self.stop_asked or "after_iteration"
        elif event.name in ("pause", "unpause"):
            self.pause_requested = event.name == "pause"
            self.commanded_seq = event.run_seq

    def on_ended(self, event: ev.LoopEnded) -> None:
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
        self._clear_activity()

    def on_requeued(self, event: ev.LoopRequeued) -> None:
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
        self.work_gone = self.work_gone and event.resume  # another attempt has another clone
        self.ask_again()
        self.commit = self.stage = ""
        self.collected = self.collecting = self.verifying = False
        self.verified, self.changed_lines = None, None
        self._clear_activity()

    def on_skipped(self, event: ev.LoopSkipped) -> None:
        self.status, self.reason, self.ended_at = "skipped", event.reason, event.at
        self.aborted = event.aborted

    def on_tree_removed(self, _: ev.TreeRemoved) -> None:
        self.tree_removed = True

    def on_collection_asked(self, _: ev.CollectionAsked) -> None:
        self.collecting, self.not_collected = True, ""

    def on_collected(self, event: ev.ResultCollected) -> None:
        self.collected, self.collecting, self.not_collected = True, False, ""
        self.branch, self.commit, self.files = event.branch, event.commit, event.files
        self.better, self.record = event.best, event.record
        if event.changed_lines is not None:
            self.changed_lines = event.changed_lines

    def on_kept(self, event: ev.AttemptKept) -> None:
        self.left = {number: host for number, host in self.left.items() if number != event.attempt}
        if event.branch:
            self.kept = {**self.kept, event.attempt: event.branch}

    def on_collection_failed(self, event: ev.CollectionFailed) -> None:
        self.collecting, self.not_collected = False, event.reason or "the reason is unknown"
        self.work_gone = event.final
        if event.final:
            self.left = {number: on for number, on in self.left.items() if number != self.attempt}

    def on_verification_began(self, _: ev.VerificationBegan) -> None:
        self.verifying = True

    def on_verified(self, event: ev.WinnerVerified) -> None:
        self.verifying, self.verified, self.verified_why = False, event.passed, event.reason

    def _clear_activity(self) -> None:
        """Clear the fields that only a running loop has."""
        self.phase = self.waits_for = self.verdict = self.question = self.question_id = ""
        self.pause_requested, self.commanded_seq = False, 0
        self.until = None


def find_handlers(owner: type) -> dict[type[FleetEvent], Callable[[Any, Any], None]]:
    """Return the ``on_`` methods of a class by the event type that each accepts."""
    methods = [method for name, method in vars(owner).items() if name.startswith("on_")]
    return {next(iter(method.__annotations__.values())): method for method in methods}


HANDLERS = find_handlers(LoopState)
"""Methods of `LoopState` by event type."""


def end_event(loop: LoopState, outcome: Outcome, reason: str, **more: bool) -> ev.LoopEnded:
    """Return the end of an attempt with its progress so far; `more` holds further event fields."""
    return ev.LoopEnded(
        loop=loop.spec.id,
        outcome=outcome,
        reason=reason,
        iterations=loop.iteration,
        completion=loop.completions[-1] if loop.completions else None,
        cost_usd=loop.cost_usd,
        host=loop.host,
        **more,
    )


_NOT_RUNNING = {"queued": "is waiting for a slot", "placing": "is starting"}


def refusal(loop: LoopState, *, abort: bool = False) -> str:
    """Return why a loop accepts no command now, in words that all callers use; empty if it does."""
    name = f"loop {loop.spec.id}"
    if loop.over:
        return f"{name} {'was skipped' if loop.status == 'skipped' else 'has ended'}"
    if loop.status == "lost":
        return f"the host of {name} is lost; send the command again once it is back"
    if loop.status in _NOT_RUNNING and not abort:
        return f"{name} {_NOT_RUNNING[loop.status]}; until it runs you can only abort it"
    return ""
