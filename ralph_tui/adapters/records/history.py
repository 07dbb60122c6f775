"""Past tasks: all of them from the index, or one from the records of its attempts.

A task's name from the command line is looked up among the existing folders, so that it cannot lead
anywhere else.
"""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui.adapters.records.folders import attempt_folder, number_of, numbered, ralph_folder
from ralph_tui.adapters.records.listing import row_of
from ralph_tui.adapters.records.lock import holder
from ralph_tui.adapters.records.runs import (
    RecordedRun,
    attempts_of_hooked,
    describe_no_runs,
    find_hooked,
)
from ralph_tui.adapters.records.status import (
    describe_status,
    newer_version_note,
    phase_without_end,
    worked_s,
)
from ralph_tui.adapters.records.task_index import TaskIndex
from ralph_tui.adapters.records.task_table import TaskRow
from ralph_tui.base.errors import UsageError, WorkspaceError, why
from ralph_tui.text.json_fields import as_map
from ralph_tui.text.sanitize import one_line
from ralph_tui.text.terms import ENDLESS, UNHEARD

if TYPE_CHECKING:
    from ralph_tui.adapters.records.aiwg.records import Attempt

UNFINISHED = ("running", "paused")


@dataclass(frozen=True)
class TaskHistory:
    """One task and the records of its attempts."""

    name: str
    folder: Path
    attempts: "tuple[Attempt, ...]"
    """Readable attempts, oldest first; at least one."""
    problems: tuple[str, ...] = ()
    """Why other attempts cannot be read, one sentence each."""

    def attempt(self, number: int) -> "Attempt":
        """Return an attempt; raise ``UsageError`` if it does not exist or cannot be read."""
        for attempt in self.attempts:
            if attempt.id == number:
                return attempt
        known = ", ".join(str(attempt.id) for attempt in self.attempts)
        raise UsageError(f"{self.name} has no readable attempt {number}; it has {known}")


def list_tasks(root: Path) -> dict[str, TaskRow]:
    """Return all readable tasks, oldest first; an unfinished task without a process has died,
    unless hooks recorded it.

    Raises ``WorkspaceError`` if the records cannot be listed.
    """
    records = ralph_folder(root)
    try:
        rows = TaskIndex(records).read()
    except OSError as error:
        raise WorkspaceError(
            f"cannot read {records}: {why(error, 'make the folder readable')}"
        ) from error
    going_on = [
        name for name, row in rows.items() if _is_open(row.status, ended=bool(row.last_outcome))
    ]
    alive = _live_attempt(root).partition("/")[0] if going_on else ""
    loops = _loops_of_hooks(root) if going_on else {}
    dead = {
        name: rows[name]._replace(status=_without_process(root, _newest_attempt(root, name), loops))
        for name in going_on
        if name != alive
    }
    return rows | dead


def status_of(root: Path, attempt: "Attempt") -> str:
    """Return the recorded status, or what is known of a run with neither a process nor an end."""
    name = f"{attempt.task_id}/{attempt.id:03}"
    if not _is_open(attempt.status, ended=attempt.outcome is not None):
        return attempt.status
    if _live_attempt(root) == name:
        return attempt.status
    return _without_process(root, name, _loops_of_hooks(root))


def _without_process(root: Path, name: str, loops: dict[str, RecordedRun]) -> str:
    """Return the status of a run without an end or a process; `loops` are those of hooks."""
    loop = loops.get(name)
    if loop is None:
        run = RecordedRun(attempt_folder(root, name) / "events.jsonl")
        return ENDLESS[phase_without_end(run)[0]].word
    return "running" if row_of(loop, None).live else UNHEARD.word


def _loops_of_hooks(root: Path) -> dict[str, RecordedRun]:
    """Return the loops that hooks recorded, by attempt."""
    known = attempts_of_hooked(root)
    return {
        str(as_map(known.get(run.folder.name)).get("attempt")): run for run in find_hooked(root)
    }


def _newest_attempt(root: Path, task: str) -> str:
    folders = numbered(ralph_folder(root) / "tasks" / task / "attempts")
    return f"{task}/{folders[-1].name}" if folders else ""


def _is_open(status: str, *, ended: bool) -> bool:
    """True if no end was recorded: the run is live or was killed, even if since repaired."""
    return status in UNFINISHED or (status == "failed" and not ended)


def read_task(root: Path, name: str) -> TaskHistory:
    """Return one task; raise ``UsageError`` if it does not exist or cannot be read."""
    from ralph_tui.adapters.records.aiwg.tasks import read_attempt  # noqa: PLC0415  a list is quick

    folder = _folder_of(root, name)
    attempts, problems = [], []
    for path in numbered(folder / "attempts"):
        attempt = None if path.is_symlink() else read_attempt(path)
        if attempt is None:
            shown = one_line(path.name)
            problems.append(f"{name}/{shown} cannot be read; it has no record and no journal")
        else:
            run = RecordedRun(path / "events.jsonl")
            attempts.append(_with_duration(attempt, run))
            if newer := newer_version_note(run):
                problems.append(f"{name}/{path.name} was {newer}")
    if not attempts:
        raise UsageError(
            f"{name} cannot be read; no attempt in {folder} has a record or journal: the run "
            "ended before it started, or the files were deleted"
        )
    return TaskHistory(name, folder, tuple(attempts), tuple(problems))


def _with_duration(attempt: "Attempt", run: RecordedRun) -> "Attempt":
    """Extend the duration of a run without an end, whose record ends with the last iteration."""
    ended = attempt.outcome is not None
    if not _is_open(attempt.status, ended=ended) or not run.journal.exists():
        return attempt
    lasted = {"duration_s": round(describe_status(run, worked_s), 3)}
    done = attempt.execution.model_copy(update=lasted)
    return attempt.model_copy(update={"execution": done})


def _folder_of(root: Path, name: str) -> Path:
    tasks = ralph_folder(root) / "tasks"
    if name == Path(name).name and number_of(name):
        with suppress(OSError, ValueError):  # too long for a path, or contains NUL
            folder = tasks / name
            if folder.is_dir() and not folder.is_symlink():
                return folder
    if not tasks.is_dir():
        raise UsageError(describe_no_runs(root, "task"))
    raise UsageError(
        f"there is no task '{one_line(name)[:80]}' here; 'ralph-tui history' lists all tasks"
    )


def _live_attempt(root: Path) -> str:
    """Return the task and attempt of the live run, or ""."""
    try:
        owner = holder(ralph_folder(root) / "lock")
    except WorkspaceError:
        return ""
    return owner.run if owner is not None and owner.alive else ""
