"""The number of tests that completion is measured against, and whether counts are credible.

T is the largest total since this source was chosen, baseline included; accepting a removal lowers
it. A broken build does not count its tests, so it is measured against T as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ralph_tui.layers.sensor.first_error import LONGEST
from ralph_tui.layers.sensor.gate import Counts, GateResult
from ralph_tui.layers.sensor.source_value import counts_of
from ralph_tui.text.format import are, count
from ralph_tui.text.sanitize import clip

MAX_GONE = 20
"""Maximum number of missing tests that a measurement names."""


def broken_by(gate: GateResult | None, expected: int) -> str:
    """Explain in one line why these counts come from a broken build; empty if they do not.

    `expected` is T so far.
    """
    counts = counts_of(gate)
    if gate is None or counts is None:
        return ""
    if counts.broken or gate.ok or 2 * counts.total >= expected:
        return counts.broken
    counted = f"{counts.total} of {count(expected, 'test')} counted"
    return counted if gate.exit_code is None else f"{counted}, exit code {gate.exit_code}"


def sound_total(counts: Counts, broken: str) -> int:
    """Return how many counted entries are tests: an import failure in a broken build is not one."""
    return counts.total - counts.errors if broken else counts.total


@dataclass(frozen=True)
class Names:
    """Names of failing tests at the last counts from a build that was not broken."""

    failing: frozenset[str] | None = None
    """Names of the failing tests; None if some failing test had no name."""
    gone: tuple[str, ...] = ()
    """Expected tests that are no longer counted, as far as their names are known."""

    def after(self, counts: Counts, expected: int, passed: int | None) -> "Names":
        """Return the names after these counts; `expected` and `passed` are the previous values."""
        named = len(counts.failing) >= counts.failed + counts.errors
        now = frozenset(counts.failing) if named else None
        missing = expected - counts.total
        if missing <= 0:
            return Names(now)
        gone = [*self.gone]
        if self.failing is not None and now is not None and counts.passed <= (passed or 0):
            gone += sorted(self.failing - now - set(gone))
        # A fixed test is not missing: if the names do not add up, they prove nothing.
        return Names(now, tuple(gone[:MAX_GONE]) if len(gone) == missing else self.gone)

    def added(self, counts: Counts, passed: int | None) -> int:
        """Return how many new tests pass if every test that failed before still fails; else 0."""
        if not self.failing or not self.failing <= set(counts.failing):
            return 0
        return max(0, counts.passed - (passed or 0))


def why_silent(gate: GateResult | None) -> str:
    """Explain why a completion command gives no counts: its exit code and its last line."""
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
    """Describe missing tests: ``12 pass; 20 are expected (5 are gone: a, b and 3 more)``."""
    gone = expected - total
    more = f" and {gone - len(names)} more" if gone > len(names) else ""
    listed = f": {', '.join(names)}{more}" if names else ""
    return f"{passed} pass; {expected} are expected ({gone} {are(gone)} gone{listed})"
