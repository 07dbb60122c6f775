"""What completion is measured against, and whether counts can be believed. Pure.

T is the largest total since the source was taken, the baseline included, that no accepted removal
lowered. A build that is broken counts nothing of its tests, so it is measured against T as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ralph_tui.layers.sensor.first_error import LONGEST
from ralph_tui.layers.sensor.gate import Counts, GateResult
from ralph_tui.layers.sensor.spoken import counts_of
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import clip

MOST_GONE = 20
"""Tests that are gone which a reading names."""


def broken_by(gate: GateResult | None, expected: int) -> str:
    """Why these counts are those of a broken build, one line; empty: they are not.

    `expected`: T so far.
    """
    counts = counts_of(gate)
    if gate is None or counts is None:
        return ""
    if counts.broken or gate.ok or 2 * counts.total >= expected:
        return counts.broken
    counted = f"{count(counts.total, 'test')} of {expected} counted"
    return counted if gate.exit_code is None else f"{counted}, exit code {gate.exit_code}"


def sound_total(counts: Counts, broken: str) -> int:
    """The tests among what was counted: a module that cannot be imported is none."""
    return counts.total - counts.errors if broken else counts.total


@dataclass(frozen=True)
class Names:
    """Failing tests by name, at the last counts of a build that was not broken."""

    failing: frozenset[str] | None = None
    """None where not every failing test had a name."""
    gone: tuple[str, ...] = ()
    """Those of the expected tests that are counted no more, as far as their names are known."""

    def after(self, counts: Counts, expected: int, passed: int | None) -> "Names":
        """The names by these counts; `expected` and `passed` are those before."""
        named = len(counts.failing) >= counts.failed + counts.errors
        now = frozenset(counts.failing) if named else None
        missing = expected - counts.total
        if missing <= 0:
            return Names(now)
        gone = [*self.gone]
        if self.failing is not None and now is not None and counts.passed <= (passed or 0):
            gone += sorted(self.failing - now - set(gone))
        # A test that was repaired is not gone: names that do not add up say nothing.
        return Names(now, tuple(gone[:MOST_GONE]) if len(gone) == missing else self.gone)

    def added(self, counts: Counts, passed: int | None) -> int:
        """New tests that pass, where every test that failed before fails still; else 0."""
        if not self.failing or not self.failing <= set(counts.failing):
            return 0
        return max(0, counts.passed - (passed or 0))


def why_silent(gate: GateResult | None) -> str:
    """Why a completion command gives no counts: its exit code, and its last line."""
    if gate is None:
        return "nothing was run"
    if gate.error:
        return gate.error
    if gate.timed_out:
        return "it ran out of time"
    lines = [line for line in gate.tail.splitlines() if line.strip()]
    said = f", last line: {clip(lines[-1].strip(), LONGEST)}" if lines else ", no output"
    return f"exit code {'unknown' if gate.exit_code is None else gate.exit_code}{said}"


def gone_words(passed: int, total: int, expected: int, names: Sequence[str]) -> str:
    """``12 pass; 20 are expected (5 are gone: a, b and 3 more)``."""
    gone = expected - total
    more = f" and {gone - len(names)} more" if gone > len(names) else ""
    listed = f": {', '.join(names)}{more}" if names else ""
    return f"{passed} pass; {expected} are expected ({gone} {are(gone)} gone{listed})"


def are(number: int) -> str:
    """The verb for so many."""
    return "is" if number == 1 else "are"
