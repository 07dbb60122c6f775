"""What a trial of the completion command came to, in words. Pure."""

from collections.abc import Mapping
from typing import Literal

from ralph_tui.layers.sensor import GateResult
from ralph_tui.text.format import duration, percent
from ralph_tui.text.terms import CRITICAL, WARNING
from ralph_tui.tui.draw.spans import flat

Tone = Literal["plain", "warn", "bad", "dim"]
MARKS: Mapping[Tone, str] = {
    "plain": "",
    "warn": f"{WARNING.glyph} ",
    "bad": f"{CRITICAL.glyph} ",
    "dim": "",
}
"""It is told by a sign, never by colour alone; a command that fails, as it should, has none."""
PASSES = "it passes already, so it cannot tell when the work is done: say that below in words"
SHORT_S = 10
"""Below, tenths of seconds tell more."""
LINES = 3
"""Of the output's end."""


def outcome(result: GateResult) -> tuple[Tone, str]:
    """How it is meant, and one sentence."""
    seconds = result.duration_s
    took = f"{seconds:.1f}s" if seconds < SHORT_S else duration(seconds)
    if result.error:
        return "bad", result.error
    if result.cancelled:
        return "dim", f"stopped after {took}; what it says is not known"
    if result.timed_out:
        return (
            "bad",
            f"it was stopped after {took}, the most that `gate.timeout_s` gives it: "
            "a run counts that as failed",
        )
    ended = f"exit {result.exit_code} after {took}"
    if result.counts is None:
        return _uncounted(result, ended)
    counts = result.counts
    if not counts.total:
        return "warn", f"{ended}: {counts.runner} ran, and no test with it"
    says = f"{counts.passed} of {counts.total} tests pass ({counts.runner}), {ended}"
    if result.ok:
        return "warn", f"{says}; {PASSES}"
    if not counts.failed + counts.errors:
        return "warn", f"{says}; yet it fails: what else does it check?"
    begins = percent(100 * counts.passed / counts.total)
    return "plain", f"it can be measured: {says}; a run would begin at {begins}"


def _uncounted(result: GateResult, ended: str) -> tuple[Tone, str]:
    if result.ok:
        return "warn", f"{ended}; {PASSES}"
    return (
        "plain",
        f"{ended}; its output has no test counts that are known here, so its exit code alone "
        "tells that the work is done, and nothing tells how far it is",
    )


def last_lines(result: GateResult) -> list[str]:
    """The end of the output; nothing where the counts say it all."""
    told = result.counts is not None and result.counts.total
    lines = [] if told or result.cancelled else result.tail.splitlines()
    return [flat(line) for line in lines if line.strip()][-LINES:]
