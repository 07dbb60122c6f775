"""Reflections on a task's earlier attempts, in the form that the next plan cites."""

from collections.abc import Iterator
from pathlib import Path

from ralph_tui.adapters.records.aiwg.tasks import read_attempt
from ralph_tui.adapters.records.folders import number_of, numbered
from ralph_tui.layers.memory.past import PastReflection


def past_reflections(task_folder: Path, before: int) -> Iterator[PastReflection]:
    """Yield reflections on attempts numbered below `before`, oldest first.

    Attempts that cannot be read are skipped.
    """
    for folder in numbered(task_folder / "attempts"):
        attempt = read_attempt(folder) if number_of(folder.name) < before else None
        for number, said in enumerate(attempt.reflections if attempt else (), 1):
            yield PastReflection(
                cite=f"{task_folder.name}/{folder.name} #{number}",
                triggered_by=said.triggered_by,
                learning=said.learning,
                action_items=tuple(said.action_items),
            )
