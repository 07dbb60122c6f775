"""Findings and interventions of the overseer, and which of them are still in force."""

from collections import Counter
from dataclasses import dataclass

from ralph_tui import events as ev
from ralph_tui.events.oversight import Health, HealthTotals, Level, Subject
from ralph_tui.state.fold import Fold

OPENING: tuple[Subject, ...] = ("circuit", "oscillating", "regressing")
"""Subjects for which a PAUSE begins a new episode, unless one is already open."""
NOBODY_ASKED = "recomputed, no one was asked"
"""The decision shown for an intervention recomputed for a run that another tool controlled."""


@dataclass(slots=True)
class Intervention:
    """One intervention, its decision and its effect."""

    seq: int
    iteration: int
    level: Level
    about: Subject
    reason: str
    completion: float
    """Completion in points when the intervention was made."""
    decision: str = ""
    """From `QuestionAnswered.decision`; empty while open, or if no decision is needed."""
    answer: str = ""
    """The answer's name in the events; empty like `decision`."""
    instructions: str = ""
    """The approved instructions."""
    effect: ev.EffectObserved | None = None


class OversightFold(Fold):
    """State for the overseer log, the header's last corner, the prompt and the loop."""

    def __init__(self) -> None:
        self.status: Health = "healthy"
        self.checks: list[ev.HealthChecked] = []
        """One per iteration."""
        self.interventions: list[Intervention] = []
        self.escalated: set[tuple[int, str]] = set()
        """Iteration and subject of each escalation."""
        self.undelivered: dict[str, ev.EscalationRaised] = {}
        """Escalations that no channel has delivered yet, by id."""
        self.redirect: ev.RedirectDecided | None = None
        """The approved redirect; every prompt carries its instructions until the episode ends."""
        self.episode: Intervention | None = None
        """The intervention that opened the current episode."""
        self.rollback: ev.WorktreeRestored | None = None
        """The latest rollback, until the next measurement; None otherwise."""
        self.restoring: ev.RestoreBegan | None = None
        """A restore that has begun but not finished."""
        self.rolled_back: ev.WorktreeRestored | None = None
        """The rollback between the last two measurements; the drop it caused does not count."""
        self.rolled_steps: set[int] = set()
        """Iterations with a rollback between their measurement and the one before."""
        self.owed: int | None = None
        """The snapshot that an answer chose to roll back to, until the rollback is done."""
        self.decided = 0
        """The iteration whose REDIRECT was decided last."""
        self.conflicts: tuple[str, ...] = ()
        """Paths with unresolved git conflicts in this iteration."""
        self._tree = ""
        """Git tree of the newest snapshot."""
        self._measured = ""
        """Git tree of the files at the last measurement."""
        self._landed: str | None = None
        """Git tree after the last restore; None until a snapshot of it is taken."""
        self._completion = 0.0
        self._asked: dict[str, ev.QuestionAsked] = {}
        self._recomputed = False

    @property
    def totals(self) -> HealthTotals:
        """The overseer's work so far, counted in the same way for journals without totals."""
        levels = Counter(made.level for made in self.interventions)
        return HealthTotals(
            checks=len(self.checks),
            detections=sum(len(check.detections) for check in self.checks),
            logs=levels["LOG"],
            warnings=levels["WARN"],
            redirects=levels["REDIRECT"],
            pauses=levels["PAUSE"],
            aborts=levels["ABORT"],
        )

    @property
    def stale(self) -> bool:
        """True if the files differ from the measured ones because of a restore."""
        if self.rollback is None:
            return False
        return (self.rollback.tree if self._landed is None else self._landed) != self._measured

    @property
    def undecided(self) -> Intervention | None:
        """The latest intervention whose question is open or whose answer has had no effect yet."""
        made = self.interventions[-1] if self.interventions else None
        if made is None or made.level not in ("REDIRECT", "PAUSE"):
            return None
        if self.owed is not None:
            return made
        open_ = made.iteration > self.decided if made.level == "REDIRECT" else not made.decision
        return made if open_ else None

    def due(self, iteration: int) -> list[Intervention]:
        """Return the decided interventions made two iterations ago, whose effect is now due."""
        return [
            made
            for made in self.interventions
            if made.decision and made.effect is None and made.iteration + 2 == iteration
        ]

    def on_run_started(self, event: ev.RunStarted) -> bool:
        self._recomputed = bool(event.imported)
        return False

    def on_iteration_started(self, event: ev.IterationStarted) -> bool:
        self.conflicts = ()
        return False

    def on_reading_taken(self, event: ev.ReadingTaken) -> bool:
        self.rolled_back, self.rollback = (self.rollback if self.stale else None), None
        if self.rolled_back is not None:
            self.rolled_steps.add(event.iteration)
        self._completion, self._measured, self.owed = event.completion, self._tree, None
        return False

    def on_conflicts_found(self, event: ev.ConflictsFound) -> None:
        self.conflicts = tuple(event.paths)

    def on_intervention_made(self, event: ev.InterventionMade) -> None:
        self.interventions.append(
            Intervention(
                event.seq, event.iteration, event.level, event.about, event.reason, self._completion
            )
        )
        if self._recomputed and event.level in ("REDIRECT", "PAUSE"):
            self.interventions[-1].decision, self.decided = NOBODY_ASKED, event.iteration
        if event.level == "REDIRECT":
            self.episode = self.interventions[-1]
            self.status = "critical" if event.about in ("oscillating", "regressing") else "warning"
        elif event.level == "PAUSE":
            self.status = "paused"
            if event.about in OPENING and self.episode is None:
                self.episode = self.interventions[-1]
        elif event.level == "ABORT":
            self.status = "aborted"

    def on_question_asked(self, event: ev.QuestionAsked) -> bool:
        if event.topic in ("redirect", "pause"):
            self._asked[event.question_id] = event
        return False

    def on_question_answered(self, event: ev.QuestionAnswered) -> bool:
        asked = self._asked.pop(event.question_id, None)
        if asked is None or not self.interventions:
            return False
        if asked.topic == "pause" and self.status == "paused":
            self.status = "critical"  # the pause ended, but its cause remains
        self.interventions[-1].decision = event.decision(asked)
        self.interventions[-1].answer = event.answer
        if event.answer == "roll_back" and asked.rollback is not None:
            self.owed = asked.rollback.snapshot
        return True

    def on_redirect_decided(self, event: ev.RedirectDecided) -> None:
        self.redirect = event if event.approved else None
        self.decided = event.iteration
        if self.interventions:
            self.interventions[-1].instructions = event.instructions

    def on_effect_observed(self, event: ev.EffectObserved) -> None:
        for made in self.interventions:
            if (made.iteration, made.level) == (event.of, event.level):
                made.effect = event

    def on_health_checked(self, event: ev.HealthChecked) -> None:
        self.checks.append(event)
        self.status = event.status
        if event.ended is None:
            return
        # If an episode ends in the iteration that opens the next one, keep the new redirect.
        if self.redirect is not None and self.redirect.iteration != event.iteration:
            self.redirect = None
        if self.episode is not None and self.episode.iteration != event.iteration:
            self.episode = None

    def on_escalation_raised(self, event: ev.EscalationRaised) -> None:
        self.escalated.add((event.iteration, event.about))
        self.undelivered[event.escalation_id] = event

    def on_escalation_delivered(self, event: ev.EscalationDelivered) -> bool:
        self.undelivered.pop(event.escalation_id, None)
        return False

    def on_restore_began(self, event: ev.RestoreBegan) -> bool:
        self.restoring = event
        return False

    def on_worktree_restored(self, event: ev.WorktreeRestored) -> None:
        self.restoring = None
        # If that restore was in progress when the answer came, the rollback is still to be done.
        self.owed = None if event.snapshot == self.owed else self.owed
        self.rollback, self._landed = event, None

    def on_snapshot_taken(self, event: ev.SnapshotTaken) -> bool:
        self._tree = event.tree
        if self.rollback is None or self._landed is not None:
            return False
        self._landed = event.tree
        return True
