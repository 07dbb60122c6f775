"""The files of a task: reading them, and updating them when an attempt makes progress.

If the record of an attempt is missing or unreadable, it is folded from the journal again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from ralph_tui.adapters.records.aiwg.action_log import ActionLog
from ralph_tui.adapters.records.aiwg.assessment import assessments
from ralph_tui.adapters.records.aiwg.attempt import attempt_of, project
from ralph_tui.adapters.records.aiwg.records import Attempt
from ralph_tui.adapters.records.aiwg.write import lines_of, put, write_all
from ralph_tui.adapters.records.files import read_json, without_unknown
from ralph_tui.adapters.records.folders import number_of, numbered
from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.adapters.records.summary import summarize
from ralph_tui.analysis.resume_words import resume_command
from ralph_tui.base.errors import JournalError
from ralph_tui.base.plain_files import read_bytes
from ralph_tui.events.workspace import Category
from ralph_tui.state import RunState
from ralph_tui.text.sanitize import plain


def task_files(task: str, attempts: Sequence[Attempt], old: dict[str, Any]) -> dict[str, Any]:
    """Return file contents by name; `attempts` must be in order and not empty.

    Only two things are taken from the `old` metadata: tags added by others, and related tasks as
    long as no plan names any.
    """
    # A reflection written long after the end does not make an old attempt the current one.
    current = max(attempts, key=lambda attempt: (attempt.ended or attempt.updated, attempt.id))
    history = current.execution.quality_history
    completion = history[-1].quality if history else None
    contents = {
        "metadata.json": _metadata(task, attempts, current, old),
        "trajectory.json": _trajectory(task, attempts, completion),
        "summary.json": _summary(task, attempts, current, completion),
    }
    known = {name: _known(content) for name, content in contents.items()}
    reflections = (
        reflection.as_json() for attempt in attempts for reflection in attempt.reflections
    )
    return {**known, "reflections.jsonl": lines_of(reflections) or None}


def _metadata(
    task: str, attempts: Sequence[Attempt], current: Attempt, old: dict[str, Any]
) -> dict[str, Any]:
    now = current.as_json()
    tags = [tag for attempt in attempts for tag in attempt.tags]
    related = [names for attempt in attempts if (names := attempt.plan.related)]
    return {
        "id": task,
        "description": attempts[0].description,
        "completion_criteria": current.completion_criteria,
        "created": attempts[0].as_json()["started"],
        # A reflection or a restore after the end does not count as newer work.
        "updated": now.get("ended") or now["updated"],
        "completed": now.get("ended") if current.status == "completed" else None,
        "status": current.status,
        "current_attempt": current.id,
        "total_attempts": max(attempt.id for attempt in attempts),
        "tags": [*dict.fromkeys([*_tags_in_order(tags), *_words(old.get("tags"))])],
        "related_tasks": related[-1] if related else _words(old.get("related_tasks")),
    }


def _tags_in_order(tags: list[str]) -> list[str]:
    """Return types of tasks first, then categories of files."""
    categories = get_args(Category)
    kinds = [tag for tag in tags if tag not in categories]
    return [*kinds, *(category for category in categories if category in tags)]


def _trajectory(task: str, attempts: Sequence[Attempt], completion: float | None) -> dict[str, Any]:
    dumped = [attempt.as_json() for attempt in attempts]
    return {
        "task_id": task,
        "attempts": [
            _known(
                {
                    "attempt_id": attempt["id"],
                    "started": attempt["started"],
                    "ended": attempt.get("ended"),
                    "outcome": attempt.get("outcome", {}).get("status"),
                    "plan": attempt["plan"]["approach"] or None,
                    "agent": attempt["execution"]["agent"] or None,
                    "actions": attempt["execution"]["actions_performed"],
                    "iterations": attempt["execution"]["iterations"],
                    "trace": f"attempts/{attempt['id']:03}/actions.jsonl",
                    "journal": _journal_path(attempt),
                }
            )
            for attempt in dumped
        ],
        "milestones": [
            {**milestone, "details": _within(attempt["id"], milestone["details"])}
            for attempt in dumped
            for milestone in attempt["milestones"]
        ],
        "completion_percent": completion,
    }


def _journal_path(attempt: dict[str, Any]) -> str:
    """Return the path of an attempt's journal, relative to the task's folder."""
    if elsewhere := attempt.get("journal"):
        return f"../../{elsewhere}"
    return f"attempts/{attempt['id']:03}/events.jsonl"


def _summary(
    task: str, attempts: Sequence[Attempt], current: Attempt, completion: float | None
) -> dict[str, Any]:
    done = [attempt.execution for attempt in attempts]
    qualities = [step.quality for each in done for step in each.quality_history]
    costs = [each.cost_usd for each in done if each.cost_usd is not None]
    tokens = [each.tokens for each in done if each.tokens]
    verdicts = [attempt.outcome.status for attempt in attempts if attempt.outcome]
    last = current.outcome
    return {
        "task_id": task,
        "description": attempts[0].description,
        "status": current.status,
        "attempts": len(attempts),
        "successes": verdicts.count("success"),
        "failures": verdicts.count("failure"),
        "timeouts": verdicts.count("timeout"),
        "iterations": sum(each.iterations for each in done),
        "actions": sum(each.actions_performed for each in done),
        "tokens": sum(tokens) if tokens else None,
        "cost_usd": round(sum(costs), 6) if costs else None,
        "duration_s": round(sum(each.duration_s for each in done), 3),
        "reflections": sum(len(attempt.reflections) for attempt in attempts),
        "best_completion": max(qualities, default=None),
        "completion_percent": completion,
        "last_outcome": (last.outcome or last.status) if last else None,
        "last_reason": last.reason if last else None,
    }


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _within(attempt: int, details: str) -> str:
    return f"attempt {attempt}: {details}" if details else f"attempt {attempt}"


def _words(value: object) -> list[str]:
    words = value if isinstance(value, list) else []
    return [plain(word) for word in words if isinstance(word, str)]


def read_attempt(folder: Path) -> Attempt | None:
    """Return an attempt's record, or None if neither the record nor a journal can be read."""
    return _recorded(folder) or fold_attempt(folder)


def fold_attempt(folder: Path) -> Attempt | None:
    """Return an attempt's record from its journal, or None if it cannot be read."""
    try:
        state = RunState().apply_all(read_journal(folder / "events.jsonl").events)
        return with_folder_ids(attempt_of(state), folder)
    except (JournalError, ValueError):
        return None


@dataclass(frozen=True)
class Rebuilt:
    """The result of `rebuild_attempt`."""

    aside: list[Path]
    """Paths of bad files that were set aside."""
    problem: str
    """One sentence about the journal's first bad line; empty if it has none."""


def rebuild_attempt(folder: Path) -> Rebuilt:
    """Rewrite all derived files of an ended attempt from its journal.

    Raises ``JournalError`` if the journal cannot be read to its end, and ``OSError``.
    """
    journal = folder / "events.jsonl"
    recording = read_journal(journal)
    if recording.problem:
        what = recording.problem.partition(";")[0]
        raise JournalError(
            f"{what}; the files built from it were not changed; "
            f"'{resume_command(RecordedRun(journal).name, len(recording.events))}' continues from "
            "the events before it"
        )
    state = RunState().apply_all(recording.events)
    status = without_unknown(summarize(state))
    contents = {**project(state), **assessments(state), "status.json": status}
    if contents["outcome.json"] is None:  # its process was killed
        contents["attempt.json"]["status"] = "failed"
    actions = ActionLog(journal, folder / "actions.jsonl", until=recording.good_bytes)
    return Rebuilt(write_all(folder, contents) + actions.catch_up(), recording.problem)


def read_description(task_folder: Path) -> str | None:
    """Return the description of a task, or None if no file has it."""
    metadata = task_folder / "metadata.json"
    description = (read_json(metadata) or {}).get("description")
    if isinstance(description, str):
        return plain(description)
    attempts = (read_attempt(folder) for folder in reversed(numbered(task_folder / "attempts")))
    return next((attempt.description for attempt in attempts if attempt is not None), None)


def fold_task(task_folder: Path) -> dict[str, Any] | None:
    """Return a task's file contents, folded from its attempts; None if no attempt can be read."""
    attempts = [read_attempt(folder) for folder in numbered(task_folder / "attempts")]
    known = [attempt for attempt in attempts if attempt is not None]
    old = read_json(task_folder / "metadata.json") or {}
    return task_files(task_folder.name, known, old) if known else None


def write_task(task_folder: Path, mine: Attempt | None = None) -> list[Path]:
    """Rewrite the task's files; return the paths of bad files that were set aside.

    `mine` is the attempt in progress, whose record is not read again. Raises ``OSError``.
    """
    attempts: list[Attempt] = []
    aside: list[Path] = []
    for folder in numbered(task_folder / "attempts"):
        if mine is not None and number_of(folder.name) == mine.id:
            attempts.append(mine)
            continue
        attempt = _recorded(folder)
        if attempt is None and (attempt := fold_attempt(folder)) is not None:
            aside += put(folder / "attempt.json", attempt.as_json())
        if attempt is not None:
            attempts.append(attempt)
    if attempts:
        metadata = task_folder / "metadata.json"
        old = read_json(metadata) or {}
        for name, content in task_files(task_folder.name, attempts, old).items():
            aside += put(task_folder / name, content)
    return aside


def _recorded(folder: Path) -> Attempt | None:
    path = folder / "attempt.json"
    try:
        return with_folder_ids(Attempt.model_validate_json(read_bytes(path)), folder)
    except (OSError, ValidationError):
        return None


def with_folder_ids(attempt: Attempt, folder: Path) -> Attempt:
    """Set the attempt's ids to those of its folders, which may have been moved."""
    return attempt.moved(folder.parent.parent.name, number_of(folder.name))
