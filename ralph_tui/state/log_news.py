"""Log rows for strategies, validation issues and learnings that have changed.

Rule: an unchanged strategy, or an issue that the previous iteration already had, gets no new row.
"""

from ralph_tui import events as ev
from ralph_tui.state.fold import Part
from ralph_tui.text.sanitize import one_line


class News(Part):
    """The news that the log already shows, and the text of each learning."""

    def __init__(self) -> None:
        self._standing = ("persist", "")
        self._found: dict[str, tuple[int, set[str]]] = {}
        """Last checked iteration and names of its issues, for checks before and after a session."""
        self._texts: dict[str, str] = {}
        """Keyed by learning id."""

    def planned(self, e: ev.StrategyPlanned) -> ev.Row | None:
        """Return a row if the approach, or the focus of a pivot, has changed."""
        before = self._standing
        self._standing = now = e.approach, e.focus if e.approach != "persist" else ""
        return None if now == before else e.row()

    def validated(self, e: ev.ValidationDone) -> ev.Row | None:
        """Return a row with the issues that the previous iteration did not have."""
        last, names = self._found.get(e.when, (0, set()))
        known = names if e.iteration == last + 1 else set()
        self._found[e.when] = e.iteration, {issue.name for issue in e.issues}
        return e.row_without(known)

    def learned(
        self,
        e: ev.LearningsRetrieved | ev.LearningStaged | ev.LearningPromoted | ev.LearningChanged,
    ) -> ev.Row | None:
        """Return a row for a change to the learnings."""
        match e:
            case ev.LearningsRetrieved():
                self._texts |= {one.learning_id: one.saying for one in e.learnings}
            case ev.LearningStaged() | ev.LearningPromoted():
                self._texts[e.learning.learning_id] = e.learning.saying
            case ev.LearningChanged(change="edit"):
                self._texts[e.learning_id] = one_line(e.text)
        if isinstance(e, ev.LearningChanged):
            return e.row_of(self._texts.get(e.learning_id, e.learning_id))
        return e.row()
