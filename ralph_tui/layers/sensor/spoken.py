"""What each source says of completion, before anything is made of it."""

import math
from dataclasses import dataclass

from ralph_tui.events.sensor import GateFinished
from ralph_tui.layers.sensor.gate import Counts, GateResult
from ralph_tui.layers.sensor.plan import Progress


@dataclass(frozen=True)
class Spoken:
    """What a source says."""

    points: float
    passed: int | None = None
    total: int | None = None


def tests_say(gate: GateResult | None, expected: int) -> Spoken | None:
    """The share of tests that pass, of those counted now or `expected`, whichever are more."""
    counts = counts_of(gate)
    if counts is None:
        return None
    share = counts.passed / max(expected, counts.total, 1)
    return Spoken(100 * share, counts.passed, counts.total)


def counts_of(gate: GateResult | None) -> Counts | None:
    """Counts of a gate that ran to its end: those of one cut off are not all."""
    return None if gate is None or gate.timed_out or gate.cancelled else gate.counts


def vanished(gate: GateResult, most: int) -> bool:
    """Whether tests were counted once and none is left: such a pass proves nothing."""
    counts = counts_of(gate)
    return counts is not None and counts.total == 0 and most > 0


def recorded_counts(event: GateFinished) -> Counts | None:
    """The same counts out of a journal."""
    if event.passed is None or event.timed_out:
        return None
    return Counts(
        event.runner or "",
        event.passed,
        event.failed,
        event.errors,
        failing=tuple(event.failing),
        broken=event.broken,
    )


def plan_says(plan: Progress | None) -> Spoken | None:
    """The share of items that are done."""
    if plan is None or plan.total <= 0:
        return None
    return Spoken(100 * plan.done / plan.total, plan.done, plan.total)


def number(value: float | None) -> Spoken | None:
    """A number of points that somebody names, kept within 0-100."""
    if value is None or math.isnan(value):
        return None
    return Spoken(min(100.0, max(0.0, value)))
