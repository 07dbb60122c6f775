"""The folder of one attempt, and of the task it belongs to.

The same description run again is a new attempt of the same task; a new description is a new task.
"""

from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from ralph_tui.errors import WorkspaceError
from ralph_tui.events.run import Outcome
from ralph_tui.observation.gate import GateResult
from ralph_tui.records.files import read_json, write_json, write_text
from ralph_tui.records.folders import number_of, numbered, ralph_folder
from ralph_tui.text import redact

TASK_STATUS: dict[Outcome, str] = {"completed": "completed"}
"""A task's status after an attempt; every end that is not named here is ``failed``."""


def prepare_folder(root: Path) -> Path:
    """Make ``.aiwg/ralph`` and keep it out of the user's commits.

    Raises ``WorkspaceError`` when it cannot be written.
    """
    folder = ralph_folder(root)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        keep_out(folder)
    except OSError as error:
        raise WorkspaceError(
            f"cannot write to {folder}: {error.strerror}; make the folder writable"
        ) from error
    return folder


def keep_out(folder: Path) -> None:
    """The ``.gitignore`` that hides the records from git."""
    ignore = folder / ".gitignore"
    if not ignore.exists():
        folder.mkdir(parents=True, exist_ok=True)
        ignore.write_text("*\n")


class AttemptFolder:
    """One attempt on disk: everything but its journal's content."""

    def __init__(self, root: Path, task: str, attempt: str, description: str) -> None:
        """See `create`; `folder` need not exist yet."""
        self.root = root
        self.task = task
        self.attempt = attempt
        self.description = description
        self.task_folder = ralph_folder(root) / "tasks" / task
        self.folder = self.task_folder / "attempts" / attempt

    @classmethod
    def create(cls, root: Path, description: str, now: datetime) -> "AttemptFolder":
        """The next attempt of the task with this description, or the first of a new one.

        Call it with the worktree's lock held. Raises ``WorkspaceError`` when it cannot be written.
        """
        prepare_folder(root)
        description = redact(description)
        tasks = ralph_folder(root) / "tasks"
        known = {path.name: read_json(path / "metadata.json") or {} for path in numbered(tasks)}
        task = next(
            (name for name, meta in known.items() if meta.get("description") == description),
            f"task-{max((number_of(name) for name in known), default=0) + 1:03}",
        )
        attempts = numbered(tasks / task / "attempts")
        number = max((number_of(path.name) for path in attempts), default=0) + 1
        attempt = cls(root, task, f"{number:03}", description)
        try:
            attempt.folder.mkdir(parents=True)
            attempt._write_metadata(now, "running")
        except OSError as error:
            raise WorkspaceError(
                f"cannot write to {attempt.folder}: {error.strerror}; make the folder writable"
            ) from error
        return attempt

    @property
    def name(self) -> str:
        """As the command line names it: ``task-001/002``."""
        return f"{self.task}/{self.attempt}"

    @property
    def journal(self) -> Path:
        """The journal's path."""
        return self.folder / "events.jsonl"

    @property
    def status(self) -> Path:
        """The path of the projection that `status` reads."""
        return self.folder / "status.json"

    def finish(self, outcome: Outcome, now: datetime) -> None:
        """Say in the task's metadata how it ended; on a full disk the journal alone says it."""
        with suppress(OSError):
            self._write_metadata(now, TASK_STATUS.get(outcome, "failed"))

    def _write_metadata(self, now: datetime, status: str) -> None:
        path = self.task_folder / "metadata.json"
        stamp = now.isoformat().replace("+00:00", "Z")
        old = read_json(path) or {}
        write_json(
            path,
            {
                "tags": [],
                "related_tasks": [],
                "completion_criteria": None,
                "created": stamp,
                **old,
                "id": self.task,
                "description": self.description,
                "updated": stamp,
                "completed": stamp if status == "completed" else None,
                "status": status,
                "current_attempt": int(self.attempt),
                "total_attempts": max(int(self.attempt), int(old.get("total_attempts") or 0)),
            },
        )

    def iteration_folder(self, iteration: int) -> Path:
        """``results/iter-001``, made when missing; the baseline is iteration 0."""
        keep_out(ralph_folder(self.root))
        folder = self.folder / "results" / f"iter-{iteration:03}"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def relative(self, path: Path) -> str:
        """A path inside the attempt's folder as the journal names it."""
        return path.relative_to(self.folder).as_posix()

    def write_prompt(self, iteration: int, prompt: str) -> Path:
        """Keep the prompt as sent, secrets taken out."""
        path = self.iteration_folder(iteration) / "prompt.md"
        write_text(path, redact(prompt))
        return path

    def write_verification(self, iteration: int, result: GateResult) -> None:
        """Keep the gate's result as JSON."""
        write_json(self.iteration_folder(iteration) / "verification.json", asdict(result))
