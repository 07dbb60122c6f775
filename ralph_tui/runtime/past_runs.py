"""What the records of earlier runs say to a run: see ``ports.PastRuns``."""

from collections.abc import Sequence

from ralph_tui.adapters.records.attempts import AttemptFolder
from ralph_tui.adapters.records.past import RecordedPast
from ralph_tui.adapters.search.index import index_attempt


class RecordedRuns(RecordedPast):
    """The runs recorded in a worktree, as the attempt that goes on sees them."""

    def __init__(self, attempt: AttemptFolder) -> None:
        super().__init__(attempt.root, attempt.task, attempt.attempt)
        self._own = attempt

    def index(self) -> Sequence[str]:
        """See `ports.PastRuns`."""
        told = index_attempt(self._own.root, self._own.folder)
        return [told] if told else []
