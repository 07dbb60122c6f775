"""The raw completion value of each source."""

import math
from dataclasses import dataclass

from ralph_tui.events.sensor import GateFinished
from ralph_tui.layers.sensor.gate import Counts, GateResult
from ralph_tui.layers.sensor.plan import Progress


@dataclass(frozen=True)
class SourceValue:
    """A source's value in points, 0-100, with the counts behind it."""

    points: float
    passed: int | None = None
    total: int | None = None


def share_of_tests(gate: GateResult | None, expected: int) -> SourceValue | None:
    """Return the share of passing tests among `expected` or those counted, whichever is more.

    None without counts.
    """
    counts = counts_of(gate)
    if counts is None:
        return None
    share = counts.passed / max(expected, counts.total, 1)
    return SourceValue(100 * share, counts.passed, counts.total)


def counts_of(gate: GateResult | None) -> Counts | None:
    """Return the counts of a finished run; None if it was cut off and they are incomplete."""
    return None if gate is None or gate.timed_out or gate.cancelled else gate.counts


def vanished(gate: GateResult, most: int) -> bool:
    """True if tests were counted before and none is left: such a pass proves nothing."""
    counts = counts_of(gate)
    return counts is not None and counts.total == 0 and most > 0


def recorded_counts(event: GateFinished) -> Counts | None:
    """Return the counts in a journal event; None if it has none or the command timed out."""
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


def share_of_plan(plan: Progress | None) -> SourceValue | None:
    """Return the share of plan items that are done; None without items."""
    if plan is None or plan.total <= 0:
        return None
    return SourceValue(100 * plan.done / plan.total, plan.done, plan.total)


def number(value: float | None) -> SourceValue | None:
    """Return a claimed number of points, clamped to 0-100; None if it is not a number."""
    if value is None or math.isnan(value):
        return None
    return SourceValue(min(100.0, max(0.0, value)))
