"""Find inconsistencies before and after a session; they are shown but stop nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ralph_tui.events import ReadingTaken, StrategyPlanned
from ralph_tui.events.intelligence import NEAR_LIMIT, IssueSeverity, Pattern, ValidationIssue
from ralph_tui.layers.control.alarms import amount
from ralph_tui.text.format import count, percent
from ralph_tui.text.sanitize import clip, one_line

NEARLY: Final = 95.0
"""Completion, in points, from which a promise is expected."""
ERRORS: Final = 5
"""Maximum number of tool errors in a session that is not suspicious."""
SHRINKING: Final = 3
"""Number of consecutive rises, each under half the one before, that shows diminishing returns."""
LISTED: Final = 5
LONGEST: Final = 120
"""Maximum length of an agent's description of a blocker, in characters."""


def _issue(severity: IssueSeverity, name: str, text: str) -> ValidationIssue:
    return ValidationIssue(severity=severity, name=name, text=text)


def before(
    k: int,
    max_iterations: int,
    strategy: StrategyPlanned | None,
    blockers: Sequence[str] = (),
    conflicts: Sequence[str] = (),
) -> list[ValidationIssue]:
    """Validate iteration `k` before its session; `conflicts` are paths that git could not merge."""
    found = []
    if conflicts:
        paths = ", ".join(clip(path, 60) for path in conflicts[:LISTED])
        more = f" and {len(conflicts) - LISTED} more" if len(conflicts) > LISTED else ""
        text = f"Unresolved git conflicts in {paths}{more}."
        found.append(_issue("critical", "unresolved_conflicts", text))
    if 10 * k > 9 * max_iterations:
        left = max(0, max_iterations - k)
        then = f"{count(left, 'iteration')} left after this one" if left else "the last one"
        text = f"Iteration {k} of {max_iterations}: {then}."
        found.append(_issue("critical", NEAR_LIMIT, text))
    if strategy is not None and strategy.approach != "persist" and not strategy.reasoning.strip():
        text = "The approach changes without a reason."
        found.append(_issue("high", "pivot_without_reasoning", text))
    if blockers:
        more = f" and {len(blockers) - 1} more" if blockers[1:] else ""
        text = f"Still blocked by: {clip(one_line(blockers[0]), LONGEST).rstrip('.')}{more}."
        found.append(_issue("medium", "unresolved_blockers", text))
    return found


@dataclass(frozen=True)
class Session:
    """Facts about an iteration for its validation."""

    promised: bool = False
    command: bool = True
    """True if a completion command decides, False if the user does."""
    passed: bool = False
    """True if the command passed."""
    tool_errors: int = 0
    config_files: Sequence[str] = ()
    """Changed files that configure the tests or the completion command."""
    named_files: Sequence[str] = ()
    """Changed files that the completion command names."""
    patterns: Sequence[Pattern] = ()


def after(readings: Sequence[ReadingTaken], session: Session) -> list[ValidationIssue]:
    """Validate the iteration of the last reading; `readings` are oldest first."""
    if not readings or readings[-1].completion >= 100:
        return []
    reading, found = readings[-1], []
    if session.promised and session.command and not session.passed:
        text = "The agent says it is done, but the completion command fails."
        found.append(_issue("high", "unproven_promise", text))
    done = session.passed or not session.command
    if reading.completion >= NEARLY and done and not session.promised:
        at = percent(reading.completion)
        text = f"Completion is at {at}, but the agent does not say it is done."
        found.append(_issue("medium", "missing_completion_signal", text))
    if session.tool_errors > ERRORS:
        text = f"{session.tool_errors} tool calls failed in this session."
        found.append(_issue("medium", "excessive_errors", text))
    found += (_issue("medium", one.name, f"{one.words}.") for one in session.patterns)
    if fewer := _fewer(readings):
        found.append(_issue("high", "fewer_tests", fewer))
    if session.config_files:
        text = f"Test configuration changed: {_names(session.config_files)}."
        found.append(_issue("high", "changed_configuration", text))
    if session.named_files:
        text = f"Files named by the completion command changed: {_names(session.named_files)}."
        found.append(_issue("medium", "changed_configuration", text))
    if shrinking := _shrinking(readings):
        found.append(_issue("medium", "diminishing_returns", shrinking))
    return found


def _names(paths: Sequence[str]) -> str:
    return ", ".join(clip(path, 60) for path in paths[:LISTED])


def _fewer(readings: Sequence[ReadingTaken]) -> str:
    before = next(
        (one for one in reversed(readings[:-1]) if one.total is not None and not one.broken), None
    )
    now = readings[-1]
    if before is None or now.source != "tests" or before.source != "tests":
        return ""
    if now.total is None or before.total is None or now.total >= before.total or now.broken:
        return ""
    if now.expected is None:
        return f"{now.total} tests counted, {before.total} before."
    return f"{now.total} tests counted, {now.expected} expected." if now.missing else ""


def _shrinking(readings: Sequence[ReadingTaken]) -> str:
    """Describe diminishing returns at the third rise in a row below half of the previous one."""
    rises = _rises(readings)
    latest = rises[-SHRINKING - 1 :]
    if len(latest) <= SHRINKING or latest[-1][0] != readings[-1].iteration:
        return ""
    points = [gained for _, gained in latest]
    if not all(2 * later < earlier for earlier, later in pairwise(points)):
        return ""
    gains = ", ".join(amount(gained) for gained in points)
    return f"The last gains shrank: {gains} points."


def _rises(readings: Sequence[ReadingTaken]) -> list[tuple[int, float]]:
    """Return rises of the best (iteration, points) since the source changed or the total grew."""
    rises: list[tuple[int, float]] = []
    best = readings[0].completion
    for reading in readings[1:]:
        if reading.restarted or reading.grew:
            rises, best = [], reading.completion
        elif reading.completion > best:
            rises.append((reading.iteration, reading.completion - best))
            best = reading.completion
    return rises
