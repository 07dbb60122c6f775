"""The situation table: which of five levels one iteration calls for.

Only the highest acts; a situation that speaks once is spent in the iteration it occurs in, acted
on or not. Nothing is said at 100, and nothing is asked when no iteration is left to change.
"""

from dataclasses import dataclass, replace
from typing import Literal

from ralph_tui.control import PROGRESS_ALARMS, Budget, ControlSettings, Evaluation, History
from ralph_tui.control.alarms import points
from ralph_tui.control.budget import Patience
from ralph_tui.control.tolerance import below
from ralph_tui.events.control import AlarmName
from ralph_tui.oversight.behavior import DetectionName, name_of
from ralph_tui.oversight.episodes import Episode, Mark

Level = Literal["LOG", "WARN", "REDIRECT", "PAUSE", "ABORT"]
Once = Literal["budget_70", "budget_90_fits", "budget_90_short"]

LEVELS: tuple[Level, ...] = ("LOG", "WARN", "REDIRECT", "PAUSE", "ABORT")
"""From a line in the log to the end of the run."""


@dataclass(frozen=True)
class Situation:
    """One row of the table that this iteration has entered."""

    level: Level
    about: DetectionName | Literal["pace", "no_progress"]
    reason: str
    """One sentence with the evidence."""


@dataclass(frozen=True)
class Oversight:
    """What the overseer remembers between iterations."""

    episode: Episode | None = None
    spent: frozenset[Once] = frozenset()

    def damps(self, history: History) -> bool:
        """Whether an approved oscillation redirect damps the gains of the latest reading."""
        return self.episode is not None and self.episode.damps(history)

    def answered(self, *, approved: bool) -> "Oversight":
        """The REDIRECT of the open episode was approved or declined."""
        if self.episode is None:
            return self
        return replace(self, episode=replace(self.episode, approved=approved))


@dataclass(frozen=True)
class Verdict:
    """The overseer's answer to one reading."""

    state: Oversight
    """To be carried to the next reading."""
    situations: tuple[Situation, ...] = ()
    """All that holds, the highest level first: the first acts, the others are listed with it."""
    opened: Episode | None = None
    ended: Episode | None = None

    @property
    def level(self) -> Level | None:
        """The level that acts."""
        return self.situations[0].level if self.situations else None


def judge(
    state: Oversight,
    history: History,
    evaluation: Evaluation,
    budget: Budget,
    settings: ControlSettings | None = None,
) -> Verdict:
    """Judge the latest reading, once. `settings` are those `evaluation` was made with."""
    patience = Patience.of(budget, settings or ControlSettings())
    episode = state.episode
    if episode and history.restarted:
        episode = episode.rebased(history)
    ended = episode if episode and episode.has_ended(history) else None
    if ended:
        episode = None
    if history.complete:
        return Verdict(replace(state, episode=None), ended=ended)

    reasons = {
        found.alarm: found.reason
        for found in evaluation.conditions
        if found.alarm in PROGRESS_ALARMS
    }
    up = frozenset(reasons)
    lasting = history.iteration < budget.max_iterations
    once = _budget_situations(history, evaluation, budget, lasting=lasting)
    situations = [once[name] for name in once if name not in state.spent]
    situations += _pace(history, evaluation)
    if not lasting and not history.ever_gained:
        situations.append(_no_progress(history))

    opened: Episode | None = None
    if history.estimated:
        situations += [_about(name, "WARN", reasons[name]) for name in _ranked(up)]
    elif lasting and episode:
        reason = episode.pause_reason(history, up, patience)
        if reason:
            situations.append(_about(episode.kind, "PAUSE", reason))
            episode = replace(episode, paused=Mark.at(history, up))
    elif lasting and up:
        kind = _ranked(up)[0]
        situations.append(_about(kind, "REDIRECT", reasons[kind]))

    situations.sort(key=lambda situation: -LEVELS.index(situation.level))
    if situations and situations[0].level == "REDIRECT":
        kind = _ranked(up)[0]
        episode = opened = Episode(kind, Mark.at(history, up))
    return Verdict(Oversight(episode, state.spent | once.keys()), tuple(situations), opened, ended)


def _ranked(up: frozenset[AlarmName]) -> list[AlarmName]:
    return [name for name in PROGRESS_ALARMS if name in up]


def _about(name: AlarmName, level: Level, reason: str) -> Situation:
    return Situation(level, name_of(name), reason)


def _pace(history: History, evaluation: Evaluation) -> list[Situation]:
    mean = history.mean_step / 100
    if history.iteration < 3 or not below(evaluation.signal.velocity, mean / 2):
        return []
    reason = (
        f"The pace of {points(100 * evaluation.signal.velocity)} points per iteration is below "
        f"half of the run's mean, {points(100 * mean)}."
    )
    return [Situation("LOG", "pace", reason)]


def _budget_situations(
    history: History, evaluation: Evaluation, budget: Budget, *, lasting: bool
) -> dict[Once, Situation]:
    """The situations that speak once, by the name they are spent under."""
    used = f"{budget.used(history.iteration):.0%} of the budget is used"
    now = f"at {points(history.reading)} points"
    found: dict[Once, Situation] = {}
    if budget.has_used(7, history.iteration):
        found["budget_70"] = Situation("WARN", "budget", f"{used} {now}.")
    if not budget.has_used(9, history.iteration):
        return found
    if evaluation.signal.fits:
        reason = f"{used} {now}, and the pace is enough to finish within it."
        found["budget_90_fits"] = Situation("WARN", "budget", reason)
    elif lasting:
        reason = f"{used} {now}, and the pace is not enough to finish within it."
        found["budget_90_short"] = Situation("PAUSE", "budget", reason)
    return found


def _no_progress(history: History) -> Situation:
    reason = (
        f"The budget is used up, and the best, {points(history.best)}, stands less than "
        f"{history.gain(history.baseline):.3g} points above the start, {points(history.baseline)}."
    )
    return Situation("ABORT", "no_progress", reason)
