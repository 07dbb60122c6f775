"""Layer 4 in the record: what was detected, what was done about it, and what it changed."""

from typing import Literal

from ralph_tui.events.base import Event, Fact
from ralph_tui.events.text import Line, Plain

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


class RedirectDecided(Event):
    """A REDIRECT was approved or declined; approved, its instructions stand in every prompt."""

    durable = True
    kind: Literal["redirect_decided"] = "redirect_decided"
    iteration: int
    about: Subject
    approved: bool
    by: Line = "you"
    instructions: Plain = ""


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


class ConflictsFound(Event):
    """Paths with unresolved git conflicts."""

    kind: Literal["conflicts_found"] = "conflicts_found"
    iteration: int
    paths: list[Line]
    """The first 20."""


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
