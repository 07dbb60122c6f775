"""What the records say of earlier runs, for the plan of this one."""

from collections.abc import Callable, Sequence
from pathlib import Path

from ralph_tui.adapters.records.aiwg.records import Attempt
from ralph_tui.adapters.records.aiwg.tasks import read_attempt
from ralph_tui.adapters.records.folders import number_of, numbered, ralph_folder
from ralph_tui.ports import PastReflection, RelatedTask


class RecordedPast:
    """`ralph_tui.ports.PastRuns` of one attempt; `related` comes from who searches all tasks."""

    def __init__(
        self,
        root: Path,
        task: str,
        attempt: str,
        related: Callable[[], Sequence[RelatedTask]] = tuple,
    ) -> None:
        self._attempts = ralph_folder(root) / "tasks" / task / "attempts"
        self._mine = number_of(attempt)
        self._related = related

    def reflections(self) -> Sequence[PastReflection]:
        """See `PastRuns`; an attempt that cannot be read says nothing."""
        earlier = [
            folder for folder in numbered(self._attempts) if number_of(folder.name) < self._mine
        ]
        read = (read_attempt(folder) for folder in earlier)
        return [told for attempt in read if attempt is not None for told in reflections_of(attempt)]

    def related(self) -> Sequence[RelatedTask]:
        """See `PastRuns`."""
        return self._related()


def reflections_of(attempt: Attempt) -> list[PastReflection]:
    """The reflections of one attempt, as plans cite them."""
    return [
        PastReflection(
            cite=f"{attempt.task_id}/{attempt.id:03} #{number}",
            triggered_by=told.triggered_by,
            learning=told.learning,
            action_items=tuple(told.action_items),
        )
        for number, told in enumerate(attempt.reflections, start=1)
    ]
