"""How strategies and what validation finds are worded, in the log, the lines and the report.

Rule: the log tells a change. A strategy that stands, and an issue that stood in the iteration
before, have been told; what the sensor warns of, it has said itself.
"""

from collections.abc import Sequence
from typing import Final

from ralph_tui.events import StrategyPlanned, ValidationDone
from ralph_tui.events.intelligence import IssueSeverity, ValidationIssue
from ralph_tui.state.fold import Part, on
from ralph_tui.state.wording import Row, Wording
from ralph_tui.text.terms import APPROACHES, SEVERITIES

SAID_BY_SENSOR: Final = ("fewer_tests", "changed_configuration")
_WORST: Final[tuple[IssueSeverity, ...]] = ("critical", "high", "medium")


def strategy_words(e: StrategyPlanned) -> str:
    """``another approach: No rise for 3 iterations…``; what it is about, the reason says."""
    return f"{APPROACHES[e.approach]}: {e.reasoning}"


def issues_words(issues: Sequence[ValidationIssue]) -> str:
    """All of them, a sentence each; empty where the sensor has said them."""
    return " ".join(issue.text for issue in issues if issue.name not in SAID_BY_SENSOR)


class StrategyRows(Part):
    """What the log says of strategies and of what does not fit."""

    def __init__(self) -> None:
        self._standing = ("persist", "")
        self._found: dict[str, tuple[int, set[str]]] = {}
        """Before and after: the last iteration with issues, and their names."""

    def wordings(self) -> tuple[tuple[type, Wording], ...]:
        """A row of the table for each type of event."""
        return (on(StrategyPlanned, self._planned), on(ValidationDone, self._validated))

    def _planned(self, e: StrategyPlanned) -> Row | None:
        """A change of approach, or of what a pivot is about."""
        before = self._standing
        self._standing = now = e.approach, e.focus if e.approach != "persist" else ""
        if now == before:
            return None
        detail = "\n".join(f"{n}. {text}" for n, text in enumerate(e.priorities, 1))
        return Row("log", "STRATEGY", strategy_words(e), detail)

    def _validated(self, e: ValidationDone) -> Row | None:
        last, told = self._found.get(e.when, (0, set()))
        known = told if e.iteration == last + 1 else set()
        self._found[e.when] = e.iteration, {issue.name for issue in e.issues}
        new = [issue for issue in e.issues if issue.name not in known]
        text = issues_words(new)
        if not text:
            return None
        severities = {issue.severity for issue in new if issue.name not in SAID_BY_SENSOR}
        worst = next(severity for severity in _WORST if severity in severities)
        return Row(SEVERITIES[worst], "NOTE", text)
