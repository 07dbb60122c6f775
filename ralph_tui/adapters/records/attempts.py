"""The folder of an attempt, and the folder of its task.

Running a description again creates a new attempt of the same task; a new description creates a new
task.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Any

from ralph_tui.adapters.records.aiwg.action_log import ActionLog
from ralph_tui.adapters.records.aiwg.assessment import assessment_of
from ralph_tui.adapters.records.aiwg.attempt import project
from ralph_tui.adapters.records.aiwg.records import Attempt
from ralph_tui.adapters.records.aiwg.tasks import read_description, with_folder_ids, write_task
from ralph_tui.adapters.records.aiwg.write import put, write_all, write_record
from ralph_tui.adapters.records.files import write_text
from ralph_tui.adapters.records.folders import keep_out, number_of, numbered, ralph_folder
from ralph_tui.adapters.records.task_index import TaskIndex
from ralph_tui.base.errors import WorkspaceError, why
from ralph_tui.base.plain_files import make_folder
from ralph_tui.layers.sensor.gate import GateResult
from ralph_tui.state import RunState
from ralph_tui.text.sanitize import plain
from ralph_tui.text.secrets import redact

_PROMPT = re.compile(r"prompt(?:-([1-9]\d{0,8}))?\.md")


def prepare_folder(root: Path) -> Path:
    """Make ``.aiwg/ralph`` and keep it out of the user's commits.

    Raises ``WorkspaceError`` if it cannot be written.
    """
    folder = ralph_folder(root)
    try:
        keep_out(folder)
    except OSError as error:
        raise WorkspaceError(
            f"cannot write to {folder}: {why(error, 'make the folder writable')}"
        ) from error
    return folder


def _next_prompt(folder: Path) -> str:
    found = (_PROMPT.fullmatch(path.name) for path in folder.iterdir())
    number = 1 + max((int(name[1] or 1) for name in found if name), default=0)
    return "prompt.md" if number == 1 else f"prompt-{number}.md"


class AttemptFolder:
    """The files of one attempt; the content of its journal is written elsewhere."""

    def __init__(self, root: Path, task: str, attempt: str, description: str) -> None:
        """See `create`; `folder` may not exist yet."""
        self.root = root
        self.task = task
        self.attempt = attempt
        self.description = description
        self.task_folder = ralph_folder(root) / "tasks" / task
        self.folder = self.task_folder / "attempts" / attempt
        self._actions = ActionLog(self.journal, self.folder / "actions.jsonl")
        self._index = TaskIndex(ralph_folder(root))
        self._elsewhere = ""
        """Path of a journal outside the folder, relative to the records."""
        self._writing = Lock()
        self._latest: Mapping[str, Any] = {}
        """The newest projection, which no older one may replace."""

    @classmethod
    def create(cls, root: Path, description: str, now: datetime) -> "AttemptFolder":
        """Create the next attempt of the task with this description, or the first of a new task.

        The caller must hold the worktree's lock. Raises ``WorkspaceError`` if it cannot be written.
        """
        prepare_folder(root)
        attempt = cls.following(root, description)
        try:
            make_folder(attempt.folder)
            attempt.begin(number_of(attempt.attempt), now)
        except OSError as error:
            with suppress(OSError):  # remove an attempt that has no files
                for empty in (attempt.folder, attempt.folder.parent, attempt.task_folder):
                    empty.rmdir()
            raise WorkspaceError(
                f"cannot write to {error.filename or attempt.folder}: "
                f"{why(error, 'make the folder writable')}"
            ) from error
        return attempt

    @classmethod
    def following(cls, root: Path, description: str) -> "AttemptFolder":
        """Return the attempt that `create` would create; nothing is written."""
        description = plain(description)
        tasks = ralph_folder(root) / "tasks"
        found = tasks.iterdir() if tasks.is_dir() else ()
        names = {path.name for path in found if number_of(path.name)}
        likely = TaskIndex(ralph_folder(root)).likely(names, description)
        known = (name for name in likely if read_description(tasks / name) == description)
        fresh = max(map(number_of, names), default=0) + 1
        task = next(known, f"task-{fresh:03}")
        attempts = numbered(ralph_folder(root) / "tasks" / task / "attempts")
        number = max((number_of(path.name) for path in attempts), default=0) + 1
        return cls(root, task, f"{number:03}", description)

    def read_from(self, journal: Path) -> None:
        """Use a journal elsewhere in the records, which hooks have written."""
        self._elsewhere = journal.relative_to(ralph_folder(self.root)).as_posix()
        self._actions = ActionLog(journal, self.folder / "actions.jsonl")

    @property
    def name(self) -> str:
        """The name on the command line, such as ``task-001/002``."""
        return f"{self.task}/{self.attempt}"

    @property
    def journal(self) -> Path:
        """Path of the journal."""
        return self.folder / "events.jsonl"

    @property
    def status(self) -> Path:
        """Path of the status file, which `status` reads."""
        return self.folder / "status.json"

    def project(self, state: RunState) -> dict[str, Any]:
        """Return the contents of derived files. Quick; call it on the thread that owns `state`."""
        self._latest = projected = project(state)
        if self._elsewhere:
            projected["attempt.json"]["journal"] = self._elsewhere
            if projected["outcome.json"] is None:  # nothing is running
                projected["attempt.json"]["status"] = "failed"
        return projected

    def write_projections(self, projected: Mapping[str, Any]) -> None:
        """Write the result of `project`, new actions, and the task's files.

        Blocks; any thread may call it. Does nothing if a newer projection exists; the call with
        that one writes it. Raises ``OSError``; the next call writes what is missing.
        """
        with self._writing:
            if projected is not self._latest:
                return
            keep_out(ralph_folder(self.root))
            mine = with_folder_ids(Attempt.model_validate(projected["attempt.json"]), self.folder)
            with self._index.changing(self.task, over=mine.outcome is not None):
                write_all(self.folder, projected)
                self._actions.catch_up()
                write_task(self.task_folder, mine)

    def begin(self, number: int, now: datetime) -> None:
        """Write what is known before the run's first event."""
        attempt = Attempt(
            id=number, task_id=self.task, description=self.description, started=now, updated=now
        )
        with self._index.changing(self.task, over=False):
            put(self.folder / "attempt.json", attempt.as_json())
            write_task(self.task_folder, attempt)

    def iteration_folder(self, iteration: int) -> Path:
        """Return ``results/iter-001``, creating it if missing; the baseline is iteration 0."""
        keep_out(ralph_folder(self.root))
        folder = self.folder / "results" / f"iter-{iteration:03}"
        make_folder(folder)
        return folder

    def relative(self, path: Path) -> str:
        """Return a path relative to the attempt's folder, as stored in the journal."""
        return path.relative_to(self.folder).as_posix()

    def write_prompt(self, iteration: int, prompt: str, unsent: str | None = None) -> Path:
        """Write a prompt, with its secrets redacted; see `Records`.

        The files are ``prompt.md``, ``prompt-2.md`` and so on. A sent prompt is never overwritten,
        even if a run is resumed after its journal was cut.
        """
        folder = self.iteration_folder(iteration)
        path = self.folder / unsent if unsent is not None else folder / _next_prompt(folder)
        write_text(path, redact(prompt))
        return path

    def write_iteration_file(self, iteration: int, name: str, content: Any) -> Path:
        """Write an iteration's file, setting aside a bad one in the way; see `Records`."""
        path = self.iteration_folder(iteration) / name
        put(path, redact(content) if isinstance(content, str) else content)
        return path

    def assessment(self, state: RunState, iteration: int) -> dict[str, Any] | None:
        return assessment_of(state, iteration)

    def write_verification(self, iteration: int, result: GateResult) -> None:
        """Save the result of a verification as JSON, omitting unknown values."""
        known = {name: value for name, value in asdict(result).items() if value is not None}
        write_record(self.iteration_folder(iteration) / "verification.json", known)
