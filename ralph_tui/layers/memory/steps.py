"""What each iteration brought, and which of them brought it by their own work."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from ralph_tui.events import ReadingTaken
from ralph_tui.state import IterationSpan, RunState
from ralph_tui.text.format import step

EQUAL = 0.5
"""Points that two gains may lie apart and still be equal: less is not to be seen."""


class Step(NamedTuple):
    """One measured iteration."""

    span: IterationSpan
    points: float
    """Completion that it brought to the files it found."""
    own: bool
    """Its work made the step: no rollback, grown total, switch or silence of the sensor did."""

    @property
    def told(self) -> float:
        """The points as readings are written: 16.7 to 33.3 is 17 to 33, and 16 apart."""
        after = self.span.completion or 0.0
        return step(after - self.points, after)


def steps_of(state: RunState) -> list[Step]:
    """All measured iterations, in their order."""
    readings = state.gate.readings
    excused = {reading.iteration for reading in readings if _is_excused(reading)}
    # To mend a build that the run itself has broken brings nothing.
    excused |= {now.iteration for before, now in pairwise(readings) if before.broken}
    steps = []
    for earlier, span in pairwise(state.timeline.spans):
        before = state.timeline.began_with(span)
        if span.completion is None or before is None:
            continue
        # A rollback during an iteration made its step; after one before it, the step counts from
        # the restored files.
        during = span.number in state.oversight.rolled_steps and not earlier.rollbacks
        own = span.number not in excused and not during
        steps.append(Step(span, span.completion - before, own))
    return steps


def gains_of(steps: Iterable[Step]) -> list[Step]:
    """Those that gained by their own work, the largest gain first."""
    gains = [one for one in steps if one.own and one.points > 0]
    return sorted(gains, key=lambda one: (-one.points, one.span.number))


def largest_of(gains: Sequence[Step]) -> list[Step]:
    """Of gains, the largest first, those that are as large as the first but for rounding."""
    return [one for one in gains if gains[0].points - one.points < EQUAL]


def fixed_in(state: RunState, span: IterationSpan) -> list[str]:
    """Tests that failed before it and never since; as many tests more must have passed in it."""
    gates = [(one.number, one.gate) for one in state.timeline.spans if one.gate is not None]
    before = [gate for number, gate in gates if number < span.number][-1:]
    since = [gate for number, gate in gates if number >= span.number]
    if state.oversight.stale or not before:
        return []
    if any(gate.broken or gate.unnamed or gate.passed is None for gate in since):
        return []
    failing = {name for gate in since for name in gate.failing}
    fixed = [name for name in before[0].failing if name not in failing]
    more = (since[0].passed or 0) - (before[0].passed or 0)
    return fixed if more >= len(fixed) else []


def _is_excused(reading: ReadingTaken) -> bool:
    return reading.grew or reading.restarted or reading.regained or reading.unmeasured
