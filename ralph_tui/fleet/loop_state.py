"""How one loop of a fleet stands."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from ralph_tui.events.run import Outcome
from ralph_tui.ports.clones import Earlier, Loop

LoopStatus = Literal["queued", "placing", "running", "lost", "ended", "skipped"]
"""Where a loop is; what it does while it runs says `phase`, how it ended says `outcome`."""
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
        worked = self.iteration > 1 or (self.iteration > 0 and self.over)
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
