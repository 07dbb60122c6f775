"""What our governor makes of the readings of a run that it did not govern.

As in the lab, a redirect is taken as approved and a pause as continued, for nobody was asked.
"""

from collections.abc import Iterator
from dataclasses import replace

from ralph_tui.events import AlarmCleared, AlarmRaised, Event, HealthChecked, InterventionMade
from ralph_tui.events.oversight import Detected
from ralph_tui.layers.governor import Governor
from ralph_tui.layers.oversight import Finding, health_of, recommendations
from ralph_tui.state import RunState

_OF_LIMITS = ("budget", "pace")


class Recomputed:
    """Follows a run whose state it is given."""

    def __init__(self, state: RunState, *, limited: bool = True) -> None:
        """`limited`: whether it is known how many iterations the run might have; without that
        nothing is said of what it has left.
        """
        self._state = state
        self._limited = limited
        self._governor = Governor()

    def events(self, iteration: int) -> Iterator[Event]:
        """Of the reading that `state` was brought up to last."""
        evaluated = self._governor.read(self._state)
        finding = evaluated.finding
        if finding is not None and finding.opened:
            self._governor.answered(approved=True)
        yield evaluated.evaluation.signal
        alarms: list[AlarmCleared | AlarmRaised] = [
            *evaluated.evaluation.cleared,
            *evaluated.evaluation.raised,
        ]
        yield from (one for one in alarms if self._limited or one.alarm != "BUDGET_EXCEEDED")
        if finding is not None:
            yield from _found(iteration, finding if self._limited else _unlimited(finding))


def _unlimited(finding: Finding) -> Finding:
    """Without what it says of a limit."""
    return replace(
        finding,
        situations=tuple(one for one in finding.situations if one.about not in _OF_LIMITS),
        detections=tuple(one for one in finding.detections if one.name not in _OF_LIMITS),
    )


def _found(iteration: int, finding: Finding) -> Iterator[Event]:
    if finding.situations:
        acts, *others = finding.situations
        yield InterventionMade(
            iteration=iteration,
            level=acts.level,
            about=acts.about,
            reason=acts.reason,
            others=[f"{other.level}: {other.reason}" for other in others],
            recommendations=list(recommendations(acts.about)),
        )
    yield HealthChecked(
        iteration=iteration,
        status=health_of(finding),
        level=finding.level,
        detections=[
            Detected(name=one.name, severity=one.severity, reason=one.reason)
            for one in finding.detections
        ],
        ended=finding.ended.about if finding.ended else None,
    )
