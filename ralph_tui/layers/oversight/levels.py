"""The situation table: choose one of five levels for an iteration.

Only the highest level acts. A one-time situation is used up in the iteration in which it occurs,
even if another situation acts. At 100 there are no findings, and after the last iteration no
questions.
"""

from dataclasses import dataclass, field, replace

from ralph_tui.events.oversight import Concern, Detected, Health, HealthChecked, HealthTotals, Level
from ralph_tui.layers.control.evaluation import Evaluation
from ralph_tui.layers.control.history import History
from ralph_tui.layers.control.law import Budget, Patience
from ralph_tui.layers.oversight import situations as rows
from ralph_tui.layers.oversight.behavior import Detection, Evidence, detect, name_of
from ralph_tui.layers.oversight.circuit import Circuit
from ralph_tui.layers.oversight.episodes import Episode, Mark, Pause
from ralph_tui.layers.oversight.objective import deviation
from ralph_tui.layers.oversight.situations import Once, Situation
from ralph_tui.layers.oversight.trail import Trail
from ralph_tui.layers.settings import ControlSettings
from ralph_tui.state.oversight import OPENING

LEVELS: tuple[Level, ...] = ("LOG", "WARN", "REDIRECT", "PAUSE", "ABORT")
"""Levels in ascending order, from a log line to the end of the run."""
_SEVERITY: dict[Level, Concern] = {
    "LOG": "low",
    "WARN": "medium",
    "REDIRECT": "high",
    "PAUSE": "critical",
    "ABORT": "critical",
}


@dataclass(frozen=True)
class Oversight:
    """State that the overseer keeps between iterations."""

    episode: Episode | None = None
    spent: frozenset[Once] = frozenset()
    trail: Trail = field(default_factory=Trail)
    circuit: Circuit = field(default_factory=Circuit)

    @property
    def sound(self) -> bool:
        """True if the state can be carried to the next measurement."""
        open_ = self.episode is None or isinstance(self.episode, Episode)
        return open_ and isinstance(self.trail, Trail) and isinstance(self.circuit, Circuit)

    def damps(self, history: History) -> bool:
        """True if an approved oscillation redirect damps the gains of the latest measurement."""
        return self.episode is not None and self.episode.damps(history)

    def lets_ask(
        self, history: History, evaluation: Evaluation | None, budget: Budget, patience: Patience
    ) -> bool:
        """True if the strategy may ask the user at this measurement.

        In an episode, it may ask in place of the episode's own question when that is due.
        Otherwise, a measured condition opens an episode instead.
        """
        if self.episode is not None:
            return self.episode.is_due(history, budget, patience)
        return history.estimated or evaluation is None or not rows.progress(evaluation)

    def answered(self, *, approved: bool) -> "Oversight":
        """Return the state after the open episode's REDIRECT was approved or declined."""
        if self.episode is None:
            return self
        return replace(self, episode=replace(self.episode, approved=approved))


@dataclass(frozen=True)
class Finding:
    """The overseer's result for one measurement."""

    state: Oversight
    """The state for the next measurement."""
    situations: tuple[Situation, ...] = ()
    """Every situation, highest level first: the first acts, the others are listed with it."""
    opened: Episode | None = None
    ended: Episode | None = None
    detections: tuple[Detection, ...] = ()
    """Every detected behaviour, even if no level acts on it."""

    @property
    def level(self) -> Level | None:
        """The level that acts."""
        return self.situations[0].level if self.situations else None

    @property
    def severity(self) -> Concern:
        """The severity of the detection that acts, or else of the level."""
        acts = self.situations[0]
        own = (one.severity for one in self.detections if one.name == acts.about)
        return next(own, _SEVERITY[acts.level])

    @property
    def detected(self) -> list[Detected]:
        """The detections as an event records them."""
        return [
            Detected(name=one.name, severity=one.severity, reason=one.reason)
            for one in self.detections
        ]

    def as_warning(self) -> "Finding":
        """Return the finding reduced to warnings, so that no REDIRECT waits for an answer."""
        return replace(
            self, situations=tuple(one.as_warning() for one in self.situations), opened=None
        )

    def unattended(self, iteration: int) -> "Finding":
        """Return the finding for an unattended run: PAUSE becomes ABORT if no file ever changed."""
        if self.level != "PAUSE" or self.state.circuit.idle < iteration:
            return self
        acts, *others = self.situations
        return replace(self, situations=(replace(acts, level="ABORT"), *others))


def health_of(finding: Finding) -> Health:
    """Return the run's health according to a finding."""
    severities = {found.severity for found in finding.detections}
    if finding.level == "ABORT":
        return "aborted"
    if finding.level == "PAUSE" or "critical" in severities:
        return "critical"
    return "warning" if finding.level in ("WARN", "REDIRECT") or severities else "healthy"


def health_check(
    iteration: int, status: Health, finding: Finding, so_far: HealthTotals
) -> HealthChecked:
    """Build the event that records an iteration's check, with the totals including it."""
    totals = {
        "checks": so_far.checks + 1,
        "detections": so_far.detections + len(finding.detections),
    }
    return HealthChecked(
        iteration=iteration,
        status=status,
        level=finding.level,
        detections=finding.detected,
        ended=finding.ended.about if finding.ended else None,
        totals=so_far.model_copy(update=totals),
    )


def _questions(pause: Pause | None) -> list[Situation]:
    return [Situation("PAUSE", pause.about, pause.reason, pause.continues)] if pause else []


def assess(
    state: Oversight,
    history: History,
    evaluation: Evaluation,
    budget: Budget,
    settings: ControlSettings | None = None,
    evidence: Evidence | None = None,
    *,
    strategy: str = "",
    pause_on_critical: bool = False,
    strict: bool = False,
) -> Finding:
    """Judge the latest measurement; call this once per measurement.

    `settings` are those used for `evaluation`. `strategy` is the strategy's reason to ask the user;
    empty if it does not ask. `strict`: a validation error pauses the run.
    """
    evidence = evidence or Evidence()
    settings = settings or ControlSettings()
    patience = Patience.of(history, budget, settings)
    episode = state.episode
    if episode and history.restarted:
        episode = episode.rebased(history)
    elif episode and history.taken:
        episode = episode.lowered(history.taken)
    ended = episode if episode and episode.has_ended(history) else None
    if ended:
        episode = None
    deviated = deviation(history, evidence)
    trail = state.trail.after(history, evidence, deviated=deviated is not None)
    circuit = state.circuit.after(history, evidence)
    if history.complete:
        return Finding(replace(state, episode=None, trail=trail, circuit=circuit), ended=ended)

    lasting = history.iteration < budget.max_iterations
    burn = trail.burn(history)
    progress = rows.progress(evaluation)
    once = rows.once(history, evaluation, budget, settings.budget_warning, burn, lasting=lasting)

    found = rows.failure(trail, evidence.error)
    found += rows.no_progress(history, budget.max_iterations, lasting=lasting)
    found += rows.unmeasured(evidence, lasting=lasting)
    found += rows.conflicts(state.trail, evidence.conflicts, lasting=lasting)
    if history.estimated:
        found += [Situation("WARN", name_of(one.alarm), one.reason) for one in progress]
        progress = []
    asks = [Situation("PAUSE", "strategy", strategy)] if strategy and lasting else []
    if lasting and episode:
        pause = (episode.pause_at_once(progress) if pause_on_critical else None) or episode.pause(
            history, progress, budget, patience, circuit.tripped
        )
        # Among equal levels the first acts; the episode's own question is then evidence.
        due, asks = [*asks, *_questions(pause)], []
        found += due
        episode = episode.asked(history, progress) if due else episode
    elif lasting:
        found += rows.circuit(state.circuit, circuit)
        known = [] if evidence.unmeasured else progress  # without measurements, no episode opens
        off = None if history.estimated else deviated
        found += rows.redirect(known, trail, off, evidence, pause_on_critical=pause_on_critical)
    if deviated and all(one.about != "objective_deviation" for one in found):
        found.append(Situation("WARN", "objective_deviation", deviated))
    found += rows.validation(state.trail, evidence, strict=strict and lasting)
    found += [once[name] for name in once if name not in state.spent]
    found += asks  # without an episode, after the other PAUSEs
    found += rows.pace(history, evaluation, settings.window_size)
    found.sort(key=lambda one: -LEVELS.index(one.level))

    opened: Episode | None = None
    if found and found[0].level == "REDIRECT":
        episode = opened = Episode(found[0].about, Mark.at(history))
    elif found and found[0].about in OPENING and found[0].level == "PAUSE" and episode is None:
        episode = Episode.of_pause(found[0].about, history)
    return Finding(
        Oversight(episode, state.spent | once.keys(), trail, circuit),
        tuple(found),
        opened,
        ended,
        detect(evaluation.conditions, deviated, burn, circuit.tripped),
    )
