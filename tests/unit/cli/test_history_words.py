"""Pages of the history."""

from datetime import UTC, datetime
from pathlib import Path

from ralph_tui.adapters.records.aiwg.records import Attempt, Reflection
from ralph_tui.adapters.records.history import TaskHistory
from ralph_tui.cli.history_words import attempt_page, reflections_page
from ralph_tui.cli.pages import as_text

AT = datetime(2026, 1, 2, tzinfo=UTC)
PARTS = """\
kind         error-analysis
observation  The lexer failed.
analysis     Its tests were not run.
learning     Run the tests first.
  - Fix the build.
  - Run the lexer.
"""


def test_pages_of_reflections_have_the_parts_of_each() -> None:
    reflection = Reflection(
        timestamp=AT,
        attempt_id=2,
        observation="The lexer failed.",
        analysis="Its tests were not run.",
        learning="Run the tests first.",
        action_items=["Fix the build.", "Run the lexer."],
        triggered_by="failure",
        reflection_type="error-analysis",
    )
    both = [reflection, reflection]
    attempt = Attempt(id=2, task_id="task-001", started=AT, updated=AT, reflections=both)
    task = TaskHistory("task-001", Path(), (attempt,))
    for page in (reflections_page(task, [attempt]), attempt_page(attempt, "died")):
        first, second = as_text(page).split("Reflection on attempt task-001/002 #")[1:]
        assert first.startswith("1\nwhen ")
        assert second.startswith("2\nwhen ")
        assert first.partition("\n")[2].partition("\n")[2] == f"{PARTS}\n"
        assert second.endswith(f"\n{PARTS}")
