"""The files of a task, folded from the records of its attempts; snake_case.

``metadata.json``, ``trajectory.json``, ``summary.json``. An attempt whose record is missing or
unreadable is folded from its journal again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ralph_tui.adapters.records.aiwg.action_log import ActionLog
from ralph_tui.adapters.records.aiwg.attempt import Attempt, attempt_of, project
from ralph_tui.adapters.records.aiwg.write import put, put_all
from ralph_tui.adapters.records.files import read_json
from ralph_tui.adapters.records.folders import number_of, numbered
from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.records.summary import summarize
from ralph_tui.errors import JournalError
from ralph_tui.plain_files import read_bytes
from ralph_tui.state import RunState
from ralph_tui.text.sanitize import plain


def read_attempt(folder: Path) -> Attempt | None:
    """The record of an attempt; None when neither it nor a journal can be read."""
    return _recorded(folder) or fold_attempt(folder)


def fold_attempt(folder: Path) -> Attempt | None:
    """As `read_attempt`, from the journal alone."""
    try:
        state = RunState().apply_all(read_journal(folder / "events.jsonl").events)
        return in_its_place(attempt_of(state), folder)
    except (JournalError, ValueError):
        return None


@dataclass(frozen=True)
class Rebuilt:
    """What `rebuild_attempt` met."""

    aside: list[Path]
    """Where garbage was put."""
    problem: str
    """Of the journal, one sentence; empty when it is whole."""


def rebuild_attempt(folder: Path) -> Rebuilt:
    """Write every projection of an attempt that is over again, from its journal alone.

    Raises ``JournalError`` when it cannot be read to its end, and ``OSError``.
    """
    journal = folder / "events.jsonl"
    recording = read_journal(journal)
    if recording.problem:
        what = recording.problem.partition(";")[0]
        raise JournalError(
            f"{what}: the files that follow from it stay as they are; 'ralph-tui resume --from "
            f"{len(recording.events)}' goes on from what comes before"
        )
    state = RunState().apply_all(recording.events)
    contents = {**project(state), "status.json": summarize(state)}
    actions = ActionLog(journal, folder / "actions.jsonl", until=recording.good_bytes)
    return Rebuilt(put_all(folder, contents) + actions.catch_up(), recording.problem)


def read_description(task_folder: Path) -> str | None:
    """What a task is about; None when nothing there says it."""
    metadata = task_folder / "metadata.json"
    told = (read_json(metadata) or {}).get("description")
    if isinstance(told, str):
        return plain(told)
    attempts = (read_attempt(folder) for folder in reversed(numbered(task_folder / "attempts")))
    return next((attempt.description for attempt in attempts if attempt is not None), None)


def write_task(task_folder: Path, mine: Attempt | None = None) -> list[Path]:
    """Fold the task's files anew; where garbage in their place was put. Raises ``OSError``.

    `mine` is the attempt that goes on now: its record need not be read.
    """
    attempts: list[Attempt] = []
    aside: list[Path] = []
    for folder in numbered(task_folder / "attempts"):
        if mine is not None and number_of(folder.name) == mine.id:
            attempts.append(mine)
            continue
        attempt = _recorded(folder)
        if attempt is None and (attempt := fold_attempt(folder)) is not None:
            aside += put(folder / "attempt.json", attempt.model_dump(mode="json"))
        if attempt is not None:
            attempts.append(attempt)
    if attempts:
        metadata = task_folder / "metadata.json"
        old = read_json(metadata) or {}
        for name, content in task_files(task_folder.name, attempts, old).items():
            aside += put(task_folder / name, content)
    return aside


def task_files(task: str, attempts: Sequence[Attempt], old: dict[str, Any]) -> dict[str, Any]:
    """File name to content; `attempts` in their order, at least one.

    Of the `old` metadata only what no attempt knows is kept: tags and related tasks.
    """
    first = attempts[0]
    current = max(attempts, key=lambda attempt: (attempt.updated, attempt.id))
    dumped = [attempt.model_dump(mode="json") for attempt in attempts]
    now = current.model_dump(mode="json")
    history = current.execution.quality_history
    completion = history[-1].quality if history else 0.0
    qualities = [step.quality for a in attempts for step in a.execution.quality_history]
    costs = [a.execution.cost_usd for a in attempts if a.execution.cost_usd is not None]
    verdicts = [attempt.outcome.status for attempt in attempts if attempt.outcome]
    return {
        "metadata.json": {
            "id": task,
            "description": first.description,
            "completion_criteria": current.completion_criteria,
            "created": dumped[0]["started"],
            "updated": now["updated"],
            "completed": now["ended"] if current.status == "completed" else None,
            "status": current.status,
            "current_attempt": current.id,
            "total_attempts": max(attempt.id for attempt in attempts),
            "tags": _words(old.get("tags")),
            "related_tasks": _words(old.get("related_tasks")),
        },
        "trajectory.json": {
            "task_id": task,
            "attempts": [
                {
                    "attempt_id": attempt["id"],
                    "started": attempt["started"],
                    "ended": attempt["ended"],
                    "outcome": attempt["outcome"] and attempt["outcome"]["status"],
                    "plan": attempt["plan"]["approach"],
                    "actions": attempt["execution"]["actions_performed"],
                    "iterations": attempt["execution"]["iterations"],
                }
                for attempt in dumped
            ],
            "milestones": [
                {**milestone, "details": _within(attempt["id"], milestone["details"])}
                for attempt in dumped
                for milestone in attempt["milestones"]
            ],
            "final_quality": completion,
            "completion_percent": completion,
        },
        "summary.json": {
            "task_id": task,
            "description": first.description,
            "status": current.status,
            "attempts": len(attempts),
            "successes": verdicts.count("success"),
            "failures": verdicts.count("failure"),
            "timeouts": verdicts.count("timeout"),
            "iterations": sum(attempt.execution.iterations for attempt in attempts),
            "actions": sum(attempt.execution.actions_performed for attempt in attempts),
            "tokens": sum(attempt.execution.tokens for attempt in attempts),
            "cost_usd": round(sum(costs), 6) if costs else None,
            "duration_s": round(sum(attempt.execution.duration_s for attempt in attempts), 3),
            "best_completion": max(qualities, default=0.0),
            "completion_percent": completion,
            "last_outcome": now["outcome"] and now["outcome"]["status"],
            "last_reason": current.outcome.reason if current.outcome else "",
        },
    }


def _recorded(folder: Path) -> Attempt | None:
    path = folder / "attempt.json"
    try:
        return in_its_place(Attempt.model_validate_json(read_bytes(path)), folder)
    except (OSError, ValidationError):
        return None


def in_its_place(attempt: Attempt, folder: Path) -> Attempt:
    """The folders' names count: an attempt may have come from elsewhere."""
    names = {"id": number_of(folder.name), "task_id": folder.parent.parent.name}
    return attempt.model_copy(update=names)


def _within(attempt: int, details: str) -> str:
    return f"attempt {attempt}: {details}" if details else f"attempt {attempt}"


def _words(value: object) -> list[str]:
    words = value if isinstance(value, list) else []
    return [plain(word) for word in words if isinstance(word, str)]
