"""Minimal journals for the index, with each event stamped as the writer does."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ralph_tui import events as ev
from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.events.memory import Learning

BEGIN = datetime(2026, 11, 20, 14, 0, tzinfo=UTC)


def attempt(root: Path, name: str = "task-001/001") -> Path:
    """The folder of an attempt."""
    task, number = name.split("/")
    return ralph_folder(root) / "tasks" / task / "attempts" / number


def write(folder: Path, events: Iterable[ev.Event], *, first: int = 1) -> Path:
    """Append events to a journal; the first one gets the number `first`."""
    folder.mkdir(parents=True, exist_ok=True)
    journal = folder / "events.jsonl"
    with journal.open("a") as file:
        for seq, event in enumerate(events, first):
            at = BEGIN + timedelta(seconds=seq)
            file.write(event.model_copy(update={"seq": seq, "at": at}).model_dump_json() + "\n")
    return journal


def started(objective: str = "Fix the failing OAuth tests", run_id: str = "run-1") -> ev.RunStarted:
    return ev.RunStarted(
        run_id=run_id,
        root="/work",
        objective=objective,
        agent="demo",
        max_iterations=10,
        session_timeout_s=60,
    )


def learning(text: str) -> Learning:
    return Learning(
        learning_id="learn-1", type="strategy", task_type="test-fix", text=text, confidence=0.9
    )


def a_run(objective: str = "Fix the failing OAuth tests", run_id: str = "run-1") -> list[ev.Event]:
    """One iteration with one event of each kind; the numbers are its line numbers."""
    return [
        started(objective, run_id),  # 1
        ev.IterationStarted(iteration=1, max_iterations=10),
        ev.AgentSpoke(iteration=1, text="The provider must be mocked, so I look at conftest"),
        ev.ToolStarted(iteration=1, tool_id="t1", tool="Read", summary="tests/conftest.py"),  # 4
        ev.ToolStarted(iteration=1, tool_id="t2", tool="Bash", summary="pytest -q tests/api"),
        ev.AgentReported(iteration=1, completion=40, summary="Mocked the OAuth provider"),  # 6
        ev.LearningStaged(iteration=1, learning=learning("Mock the OAuth provider first")),  # 7
        ev.IterationFinished(iteration=1, status="completed", completion=100, gate_ok=True),
        ev.ReflectionWritten(
            attempt=1,
            observation="Tests failed without a token",
            analysis="No credentials on CI",
            learning="Mock whatever asks for credentials",
            action_items=["mock first"],
            triggered_by="success",
            reflection_type="success-pattern",
        ),  # 9
        ev.RunFinished(outcome="completed", reason="the gate passed", iterations=1, completion=100),
    ]
