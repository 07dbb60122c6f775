"""What each iteration brought, and which of them brought it by their own work."""

from collections.abc import Iterable
from typing import NamedTuple

from ralph_tui.events import ReadingTaken
from ralph_tui.state import IterationSpan, RunState


class Step(NamedTuple):
    """One measured iteration."""

    span: IterationSpan
    points: float
    """Completion gained in it."""
    own: bool
    """Its work made the step: no rollback, no grown total, no switch of the sensor did."""


def steps_of(state: RunState) -> list[Step]:
    """All measured iterations, in their order."""
    excused = {reading.iteration for reading in state.gate.readings if _is_excused(reading)}
    excused |= state.oversight.rolled_steps
    return [
        Step(span, span.completion - span.previous, span.number not in excused)
        for span in state.timeline.spans
        if span.number and span.completion is not None and span.previous is not None
    ]


def gains_of(steps: Iterable[Step]) -> list[Step]:
    """Those that gained by their own work, the largest gain first."""
    gains = [step for step in steps if step.own and step.points > 0]
    return sorted(gains, key=lambda step: (-step.points, step.span.number))


def _is_excused(reading: ReadingTaken) -> bool:
    return reading.grew or reading.restarted
