"""The files of a task on disk: read, and written again when an attempt has gone on.

An attempt whose record is missing or unreadable is folded from its journal again.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ralph_tui.adapters.records.aiwg.action_log import ActionLog
from ralph_tui.adapters.records.aiwg.assessment import assessments
from ralph_tui.adapters.records.aiwg.attempt import attempt_of, project
from ralph_tui.adapters.records.aiwg.records import Attempt
from ralph_tui.adapters.records.aiwg.task_files import task_files
from ralph_tui.adapters.records.aiwg.write import put, put_all
from ralph_tui.adapters.records.files import read_json, without_unknown
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
    status = without_unknown(summarize(state))
    contents = {**project(state), **assessments(state), "status.json": status}
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


def fold_task(task_folder: Path) -> dict[str, Any] | None:
    """The task's files as they are to be, from its attempts; None when none can be read."""
    attempts = [read_attempt(folder) for folder in numbered(task_folder / "attempts")]
    known = [attempt for attempt in attempts if attempt is not None]
    old = read_json(task_folder / "metadata.json") or {}
    return task_files(task_folder.name, known, old) if known else None


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
        return in_its_place(Attempt.model_validate_json(read_bytes(path)), folder)
    except (OSError, ValidationError):
        return None


def in_its_place(attempt: Attempt, folder: Path) -> Attempt:
    """The folders' names count: an attempt may have come from elsewhere."""
    return attempt.moved(folder.parent.parent.name, number_of(folder.name))
