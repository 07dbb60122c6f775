"""What the records of earlier runs say to a run: see ``ports.PastRuns``."""

from collections.abc import Sequence

from ralph_tui.adapters.records.aiwg.reflections import past_reflections
from ralph_tui.adapters.records.attempts import AttemptFolder
from ralph_tui.adapters.records.folders import number_of
from ralph_tui.ports import PastReflection, RelatedTask


class RecordedRuns:
    """The runs recorded in a worktree, as the attempt that goes on sees them."""

    def __init__(self, attempt: AttemptFolder) -> None:
        self._attempt = attempt

    def reflections(self) -> Sequence[PastReflection]:
        """See `ports.PastRuns`."""
        folder = self._attempt.task_folder
        return [*past_reflections(folder, number_of(self._attempt.attempt))]

    def related(self) -> Sequence[RelatedTask]:
        """See `ports.PastRuns`."""
        return ()

    def index(self) -> Sequence[str]:
        """See `ports.PastRuns`."""
        return ()
