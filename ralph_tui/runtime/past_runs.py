"""Knowledge from the records of earlier runs; implements ``ports.PastRuns``."""

import sys
from collections.abc import Sequence
from pathlib import Path

from ralph_tui.adapters.records.aiwg.reflections import past_reflections
from ralph_tui.adapters.records.aiwg.tasks import read_attempt
from ralph_tui.adapters.records.attempts import AttemptFolder
from ralph_tui.adapters.records.earlier_windows import earlier_windows
from ralph_tui.adapters.records.folders import number_of, numbered
from ralph_tui.adapters.search.index import index_attempt
from ralph_tui.adapters.search.related import SimilarTask, related_tasks
from ralph_tui.events import EarlierWindowsRead
from ralph_tui.layers.memory.past import PastReflection, RelatedTask


class RecordedRuns:
    """The runs recorded in a worktree, as the current attempt sees them."""

    def __init__(self, attempt: AttemptFolder, agent: str = "", model: str | None = None) -> None:
        self._attempt = attempt
        self._agent, self._model = agent, model

    def reflections(self) -> Sequence[PastReflection]:
        folder = self._attempt.task_folder
        return [*past_reflections(folder, number_of(self._attempt.attempt))]

    def iterations(self) -> Sequence[int]:
        return _completed_in(self._attempt.task_folder, number_of(self._attempt.attempt))

    def related(self) -> Sequence[RelatedTask]:
        alike = related_tasks(self._attempt.root, self._attempt.description, own=self._attempt.task)
        return [self._related(task) for task in alike]

    def windows(self) -> EarlierWindowsRead:
        attempt = self._attempt
        return earlier_windows(attempt.root, attempt.name, self._agent, self._model)

    def index(self) -> Sequence[str]:
        problem = index_attempt(self._attempt.root, self._attempt.folder)
        return [problem] if problem else []

    def _related(self, alike: SimilarTask) -> RelatedTask:
        folder = self._attempt.task_folder.parent / alike.task
        return RelatedTask(
            alike.task,
            alike.description,
            iterations=_completed_in(folder, sys.maxsize),
            reflections=tuple(past_reflections(folder, sys.maxsize)),
        )


def _completed_in(task_folder: Path, before: int) -> tuple[int, ...]:
    """Return measured iterations of the completed attempts before number `before`, oldest first."""
    folders = [each for each in numbered(task_folder / "attempts") if number_of(each.name) < before]
    attempts = map(read_attempt, folders)
    return tuple(
        attempt.execution.measured
        for attempt in attempts
        if attempt is not None and attempt.status == "completed"
    )
