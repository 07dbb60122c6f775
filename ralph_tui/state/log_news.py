"""What of a run is news to its log: a change of strategy, what did not fit before, learnings.

Rule: a strategy that stands, and an issue that stood in the iteration before, have been told.
"""

from ralph_tui.events import (
    LearningChanged,
    LearningPromoted,
    LearningsRetrieved,
    LearningStaged,
    Row,
    StrategyPlanned,
    ValidationDone,
)
from ralph_tui.state.fold import Part
from ralph_tui.text.sanitize import one_line


class News(Part):
    """What was told of these, and the words of learnings, which events name by id."""

    def __init__(self) -> None:
        self._standing = ("persist", "")
        self._found: dict[str, tuple[int, set[str]]] = {}
        """Before and after: the last iteration with issues, and their names."""
        self._sayings: dict[str, str] = {}
        """By the id of a learning."""

    def planned(self, e: StrategyPlanned) -> Row | None:
        """A change of approach, or of what a pivot is about."""
        before = self._standing
        self._standing = now = e.approach, e.focus if e.approach != "persist" else ""
        return None if now == before else e.row()

    def validated(self, e: ValidationDone) -> Row | None:
        """What did not stand in the iteration before."""
        last, told = self._found.get(e.when, (0, set()))
        known = told if e.iteration == last + 1 else set()
        self._found[e.when] = e.iteration, {issue.name for issue in e.issues}
        return e.row_without(known)

    def learned(
        self, e: LearningsRetrieved | LearningStaged | LearningPromoted | LearningChanged
    ) -> Row | None:
        """What changed in what is known."""
        match e:
            case LearningsRetrieved():
                self._sayings |= {one.learning_id: one.saying for one in e.learnings}
            case LearningStaged() | LearningPromoted():
                self._sayings[e.learning.learning_id] = e.learning.saying
            case LearningChanged(change="edit"):
                self._sayings[e.learning_id] = one_line(e.text)
        if isinstance(e, LearningChanged):
            return e.row_of(self._sayings.get(e.learning_id, e.learning_id))
        return e.row()
