"""The points that each iteration gained or lost, and whether its own work caused that."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from ralph_tui.events import ReadingTaken
from ralph_tui.events.workspace import FileChange
from ralph_tui.state import IterationSpan, RunState
from ralph_tui.text.format import step

EQUAL = 0.5
"""Points by which two gains may differ and still count as equal."""


class Step(NamedTuple):
    """One measured iteration."""

    span: IterationSpan
    points: float
    """Points gained or lost relative to the files with which the iteration started."""
    own: bool
    """True if its work alone caused the step.

    That excludes a rollback, a larger total, a change or silence of the sensor, and unmeasured work
    before it.
    """

    @property
    def shown_gain(self) -> float:
        """The difference of the displayed values: 16.7 to 33.3 is shown as 17 to 33, so 16."""
        after = self.span.completion or 0.0
        return step(after - self.points, after)


def steps_of(state: RunState) -> list[Step]:
    """Return all measured iterations in order."""
    readings = state.gate.readings
    excused = {reading.iteration for reading in readings if _is_excused(reading)}
    # Repairing a build that the run itself broke gains nothing.
    excused |= {now.iteration for before, now in pairwise(readings) if before.broken}
    steps = []
    for earlier, span in pairwise(state.timeline.spans):
        before = state.timeline.began_with(span)
        if span.completion is None or before is None:
            continue
        # A rollback during an iteration caused its step. After a rollback before the iteration, the
        # step counts from the restored files.
        during = span.number in state.oversight.rolled_steps and not earlier.rollbacks
        cut = earlier.number and earlier.completion is None and bool(_changes(earlier))
        own = not (span.number in excused or during or cut)
        steps.append(Step(span, span.completion - before, own))
    return steps


def gains_of(steps: Iterable[Step]) -> list[Step]:
    """Return the steps that gained by their own work, the largest gain first."""
    gains = [one for one in steps if one.own and one.points > 0]
    return sorted(gains, key=lambda one: (-one.points, one.span.number))


def largest_of(gains: Sequence[Step]) -> list[Step]:
    """Return the gains equal to the largest up to rounding; `gains` starts with the largest."""
    return [one for one in gains if gains[0].points - one.points < EQUAL]


def fixed_in(state: RunState, span: IterationSpan) -> list[str]:
    """Return the tests that failed before this iteration and never since.

    Empty unless the number of passing tests rose by at least as many.
    """
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


def _changes(span: IterationSpan) -> list[FileChange]:
    return span.files.changes if span.files else []


def _is_excused(reading: ReadingTaken) -> bool:
    return reading.grew or reading.restarted or reading.regained or reading.unmeasured
