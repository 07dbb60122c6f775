"""Layer 4 in the record: what was detected, what was done about it, and what it changed."""

from typing import Literal

from ralph_tui.events.base import Event, Fact, Row
from ralph_tui.events.text import Line, Plain
from ralph_tui.events.waiting import SILENCE
from ralph_tui.text.format import count, points_gained
from ralph_tui.text.terms import RowLevel, in_words, subject_words, who_words

__all__ = [
    "ConflictsFound",
    "EffectObserved",
    "EscalationDelivered",
    "EscalationRaised",
    "HealthChecked",
    "InterventionMade",
    "LimitsChanged",
    "RedirectDecided",
]

Level = Literal["LOG", "WARN", "REDIRECT", "PAUSE", "ABORT"]
DetectionName = Literal[
    "stuck",
    "oscillating",
    "regressing",
    "budget",
    "objective_deviation",
    "resource_burn",
    "circuit",
]
Subject = Literal[
    "stuck",
    "oscillating",
    "regressing",
    "budget",
    "objective_deviation",
    "resource_burn",
    "pace",
    "no_progress",
    "agent_error",
    "strategy",
    "circuit",
    "conflicts",
    "unmeasured",
    "owner",
    "unanswered",
    "oversight",
]
"""What an intervention is about: a detection, or another row of the table; `oversight`: that the
overseer itself has failed, which people are told."""
Concern = Literal["low", "medium", "high", "critical"]
Health = Literal["healthy", "warning", "critical", "paused", "aborted"]
EscalationLevel = Literal["info", "warning", "critical", "emergency"]


_LEVELS: dict[Level, RowLevel] = {"LOG": "log", "WARN": "warn"}


class Detected(Fact):
    """One behaviour that shows in the readings, with its evidence."""

    name: DetectionName
    severity: Concern
    reason: Plain
    """One sentence."""


class HealthChecked(Event):
    """The overseer's check of one iteration; recorded whatever it finds.

    Of an iteration with a PAUSE that is waited in it comes when the PAUSE opens, and says so.
    """

    kind: Literal["health_checked"] = "health_checked"
    iteration: int
    status: Health
    level: Level | None = None
    """What the iteration called for; None for nothing."""
    detections: list[Detected] = []
    ended: Subject | None = None
    """The episode that a new best has ended."""

    def row(self) -> Row | None:
        if self.ended is None:
            return None
        return Row("good", "OVER", f"{in_words(self.ended)}: a new best ends it")


class InterventionMade(Event):
    """The overseer acts; only the highest level of an iteration does."""

    durable = True
    kind: Literal["intervention_made"] = "intervention_made"
    iteration: int
    level: Level
    about: Subject
    reason: Plain
    others: list[Plain] = []
    """What else the iteration called for, level and reason each."""
    recommendations: list[Plain] = []

    def row(self) -> Row:
        about = subject_words(self.about)
        level = _LEVELS.get(self.level, "critical")
        return Row(level, self.level, f"{about}: {self.reason}", "\n".join(self.evidence))

    @property
    def evidence(self) -> list[str]:
        """What else speaks for it, and what is recommended, a sentence each."""
        return [*self.others, *(f"recommended: {what}" for what in self.recommendations)]


class RedirectDecided(Event):
    """A REDIRECT was approved or declined; approved, its instructions stand in every prompt."""

    durable = True
    kind: Literal["redirect_decided"] = "redirect_decided"
    iteration: int
    about: Subject
    approved: bool
    by: Line = "you"
    instructions: Plain = ""

    @property
    def sends(self) -> str:
        """The first line of the instructions that go to the agent; empty where none do."""
        first = next((line for line in self.instructions.splitlines() if line.strip()), "")
        return f"it sends: {first.strip()}" if self.approved and first else ""

    def line(self) -> str:
        by = "no answer" if self.by == SILENCE else f"by {who_words(self.by)}"
        decided = "approved" if self.approved else "declined"
        sent = f"; {self.sends}" if self.sends else ""
        return f"redirect {subject_words(self.about)}: {decided}, {by}{sent}"


class EffectObserved(Event):
    """Two iterations after an intervention: what it changed."""

    kind: Literal["effect_observed"] = "effect_observed"
    iteration: int
    of: int
    """The iteration it was made in."""
    level: Level
    about: Subject
    decision: Line
    """In words: ``approved by you``."""
    points: float
    """What the iterations since brought to the files that they found, points."""
    after: int = 2
    """Iterations."""

    @property
    def words(self) -> str:
        """``REDIRECT of iteration 4: +14 points after 2 iterations``."""
        after = count(self.after, "iteration")
        return f"{self.level} of iteration {self.of}: {points_gained(self.points)} after {after}"

    def row(self) -> Row:
        """Below the intervention that it is of."""
        text = f"after {count(self.after, 'iteration')}: {points_gained(self.points)}"
        return Row("good" if self.points >= 1 else "warn", "", text)

    def line(self) -> str:
        return f"result  {self.words}"


class ConflictsFound(Event):
    """Paths with unresolved git conflicts."""

    kind: Literal["conflicts_found"] = "conflicts_found"
    iteration: int
    paths: list[Line]
    """The first 20."""

    def row(self) -> Row:
        """All paths are in its evidence."""
        more = f" and {len(self.paths) - 3} more" if len(self.paths) > 3 else ""
        named = f"unresolved in {', '.join(self.paths[:3])}{more}"
        return Row("warn", "CONFLICTS", named, "\n".join(self.paths))


class LimitsChanged(Event):
    """What the run may use from here on."""

    durable = True
    kind: Literal["limits_changed"] = "limits_changed"
    max_iterations: int
    budget_usd: float | None = None
    budget_tokens: int | None = None
    by: Line = "you"
    spared: int | None = None
    """The iteration that was interrupted and does not count, where this is why."""

    def row(self) -> Row:
        money = "" if self.budget_usd is None else f", ${self.budget_usd:,.2f}"
        why = f": the interrupted iteration {self.spared} is not spent" if self.spared else ""
        limits = f"{count(self.max_iterations, 'iteration')}{money}, by {who_words(self.by)}{why}"
        return Row("owner", "NOW", limits)


class EscalationRaised(Event):
    """A human is to be told, wherever he is; exactly one per reason to tell him."""

    durable = True
    kind: Literal["escalation_raised"] = "escalation_raised"
    iteration: int
    escalation_id: Line
    level: EscalationLevel
    about: Subject | Literal["question"]
    reason: Plain
    recommendations: list[Plain] = []


class EscalationDelivered(Event):
    """A channel has carried it, or could not."""

    kind: Literal["escalation_delivered"] = "escalation_delivered"
    escalation_id: Line
    channel: Line
    """webhook, gitea, github."""
    ok: bool
    text: Plain
    """One sentence: where it can be read, or what is wrong and what to do."""
    queued: bool = False
    """It will be tried again."""

    def row(self) -> Row:
        return Row("log" if self.ok else "warn", self.channel.upper(), self.text)
