"""Events of layer 4: detections, interventions and their effects."""

from typing import Literal

from ralph_tui.events.base import Event, Fact, Row
from ralph_tui.events.text import Line, Plain
from ralph_tui.events.waiting import SILENCE
from ralph_tui.text.format import count, points_gained
from ralph_tui.text.terms import RowLevel, in_words, sender_label, subject_words

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
    "validation",
    "conflicts",
    "unmeasured",
    "owner",
    "unanswered",
    "oversight",
]
"""The topic of an intervention: a detection or another row of the overseer's table.

`oversight` means that the overseer itself failed, which is escalated to people.
"""
Concern = Literal["low", "medium", "high", "critical"]
Health = Literal["healthy", "warning", "critical", "paused", "aborted"]
EscalationLevel = Literal["info", "warning", "critical", "emergency"]


_LEVELS: dict[Level, RowLevel] = {"LOG": "log", "WARN": "warn"}


class Detected(Fact):
    """One behaviour that the measurements show, with its evidence."""

    name: DetectionName
    severity: Concern
    reason: Plain
    """One sentence."""


class HealthTotals(Fact):
    """The overseer's work in a run so far; interventions are counted by level."""

    checks: int = 0
    detections: int = 0
    logs: int = 0
    warnings: int = 0
    redirects: int = 0
    pauses: int = 0
    aborts: int = 0


class HealthChecked(Event):
    """The overseer's check of one iteration, recorded even without findings.

    If the run waits in a PAUSE, the check is recorded when the PAUSE begins and reports it.
    """

    kind: Literal["health_checked"] = "health_checked"
    iteration: int
    status: Health
    level: Level | None = None
    """The level that the iteration calls for; None for no intervention."""
    detections: list[Detected] = []
    ended: Subject | None = None
    """The episode that a new best ended."""
    totals: HealthTotals | None = None
    """Totals that include this check; None in older journals."""

    def row(self) -> Row | None:
        if self.ended is None:
            return None
        return Row("good", "OVER", f"{in_words(self.ended)}: ended by a new best")


class InterventionMade(Event):
    """An intervention of the overseer; only the highest level of an iteration acts."""

    durable = True
    kind: Literal["intervention_made"] = "intervention_made"
    iteration: int
    level: Level
    about: Subject
    reason: Plain
    others: list[Plain] = []
    """Other interventions that the iteration called for, with level and reason."""
    recommendations: list[Plain] = []
    would: Level | None = None
    """The level that it would have had if the overseer were allowed to act."""

    def row(self) -> Row:
        about = subject_words(self.about)
        level = _LEVELS.get(self.level, "critical")
        return Row(level, self.level, f"{about}: {self.reason}", "\n".join(self.evidence))

    @property
    def evidence(self) -> list[str]:
        """Further findings and recommendations, one sentence each."""
        return [*self.others, *(f"recommended: {what}" for what in self.recommendations)]


class RedirectDecided(Event):
    """A REDIRECT was approved or declined; if approved, every prompt includes its instructions."""

    durable = True
    kind: Literal["redirect_decided"] = "redirect_decided"
    iteration: int
    about: Subject
    approved: bool
    by: Line = "you"
    instructions: Plain = ""

    @property
    def sends(self) -> str:
        """The first line of the instructions to the agent; empty if none are sent."""
        first = next((line for line in self.instructions.splitlines() if line.strip()), "")
        return f"instructions: {first.strip()}" if self.approved and first else ""

    def line(self) -> str:
        by = "no answer" if self.by == SILENCE else f"by {sender_label(self.by)}"
        decided = "approved" if self.approved else "declined"
        sent = f"; {self.sends}" if self.sends else ""
        return f"redirect {subject_words(self.about)}: {decided}, {by}{sent}"


class EffectObserved(Event):
    """The effect of an intervention, two iterations later."""

    kind: Literal["effect_observed"] = "effect_observed"
    iteration: int
    of: int
    """The iteration of the intervention."""
    level: Level
    about: Subject
    decision: Line
    """The decision in words, as in ``approved by you``."""
    points: float
    """Points gained by the iterations since then, compared with the files they started from."""
    after: int = 2
    """Number of iterations since the intervention."""

    @property
    def words(self) -> str:
        """The result in words: ``REDIRECT of iteration 4: +14 points after 2 iterations``."""
        after = count(self.after, "iteration")
        return f"{self.level} of iteration {self.of}: {points_gained(self.points)} after {after}"

    def row(self) -> Row:
        text = f"after {count(self.after, 'iteration')}: {points_gained(self.points)}"
        return Row("good" if self.points >= 1 else "warn", "", text)

    def line(self) -> str:
        return f"result  {self.words}"


class ConflictsFound(Event):
    """Paths with unresolved git conflicts."""

    kind: Literal["conflicts_found"] = "conflicts_found"
    iteration: int
    paths: list[Line]
    """At most 20."""

    def row(self) -> Row:
        more = f" and {len(self.paths) - 3} more" if len(self.paths) > 3 else ""
        named = f"unresolved in {', '.join(self.paths[:3])}{more}"
        return Row("warn", "CONFLICTS", named, "\n".join(self.paths))


class LimitsChanged(Event):
    """The run's limits from now on."""

    durable = True
    kind: Literal["limits_changed"] = "limits_changed"
    max_iterations: int
    budget_usd: float | None = None
    budget_tokens: int | None = None
    by: Line = "you"
    spared: int | None = None
    """The interrupted iteration that is not counted, if that is why the limits changed."""

    def row(self) -> Row:
        money = "" if self.budget_usd is None else f", ${self.budget_usd:,.2f}"
        money += "" if self.budget_tokens is None else f", {self.budget_tokens:,} tokens"
        why = f": the interrupted iteration {self.spared} does not count" if self.spared else ""
        limits = (
            f"{count(self.max_iterations, 'iteration')}{money}, by {sender_label(self.by)}{why}"
        )
        return Row("owner", "NOW", limits)


class EscalationRaised(Event):
    """A human must be notified, wherever they are; exactly one event per reason."""

    durable = True
    kind: Literal["escalation_raised"] = "escalation_raised"
    iteration: int
    escalation_id: Line
    level: EscalationLevel
    about: Subject | Literal["question"]
    reason: Plain
    recommendations: list[Plain] = []
    severity: Concern | None = None
    """None if the loop's behaviour is not the reason."""
    detections: list[Detected] = []
    """All behaviours that the measurement shows."""
    strategy: Line = ""
    """The approach at that moment, as in ``pivot``."""
    blockers: list[Plain] = []
    """From the agent's latest report."""


class EscalationDelivered(Event):
    """A channel delivered an escalation, or failed to."""

    kind: Literal["escalation_delivered"] = "escalation_delivered"
    escalation_id: Line
    channel: Line
    """webhook, gitea or github."""
    ok: bool
    text: Plain
    """One sentence: where to find the message, or the problem and its solution."""
    queued: bool = False
    """True if the delivery will be retried."""
    issue: int | None = None
    """Number of the run's issue; None without a tracker, or if the delivery failed."""

    def row(self) -> Row:
        return Row("log" if self.ok else "warn", self.channel.upper(), self.text)
