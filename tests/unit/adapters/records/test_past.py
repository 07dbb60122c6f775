"""Records of earlier attempts at a task."""

from pathlib import Path

from ralph_tui.adapters.records.aiwg.reflections import past_reflections
from tests.unit.adapters.records.aiwg.test_attempt import a_run_with_memory, record, story_of


def test_reflections_of_earlier_attempts_are_cited_by_number(tmp_path: Path) -> None:
    record(tmp_path, a_run_with_memory())
    record(tmp_path, story_of("running"))
    broken = record(tmp_path, a_run_with_memory(3))
    for path in (broken.folder / "attempt.json", broken.journal):
        path.write_text("garbage")
    mine = record(tmp_path, a_run_with_memory(4))
    first, second = past_reflections(mine.task_folder, 4)
    assert (first.cite, second.cite) == ("task-001/001 #1", "task-001/001 #2")
    assert (first.triggered_by, second.triggered_by) == ("failure", "timeout")
    assert first.learning == "Look at the fixture before the lexer"
    assert first.action_items == ("strip the fixture",)
    assert [*past_reflections(mine.task_folder, 1)] == []
