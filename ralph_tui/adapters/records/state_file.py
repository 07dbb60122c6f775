"""``ralph-state.json`` of our own runs, merged under a lock with what other tools have written.

If the file is invalid, or belongs to another loop that has not ended, a copy with the date in its
name is kept.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ralph_tui.base.errors import WorkspaceError, why
from ralph_tui.base.file_lock import clear_unfinished, locked
from ralph_tui.base.plain_files import make_folder, read_bytes, write_whole
from ralph_tui.layers.context.loop_state import items_of, merge
from ralph_tui.layers.context.state_file import State, content_of, has_ended, parse, read
from ralph_tui.layers.sensor.plan import Progress
from ralph_tui.text.sanitize import one_line
from ralph_tui.text.secrets import redact

LARGEST = 1 << 24
"""Maximum size of a state file, in bytes."""


class RunStateFile:
    """Implementation of `ports.LoopStateFile`."""

    def __init__(self, root: Path, name: str, read_plan: Callable[[], Progress | None]) -> None:
        """`name` is relative to the worktree."""
        self._root = root
        self._path = root / name
        self._name = one_line(name)
        self._read_plan = read_plan
        self._before: Mapping[str, Any] = {}
        """The fields as last written."""

    def keep(self, fields: Mapping[str, Any]) -> list[str]:
        plan = items_of(self._read_plan())
        now = {**fields, **{name: [redact(item) for item in items] for name, items in plan.items()}}
        try:
            return self._keep(now)
        except OSError as error:
            raise WorkspaceError(
                f"the state file {self._name} cannot be written: "
                f"{why(error, 'check its permissions, or set context.state_file to another path')}"
            ) from error

    def _keep(self, now: Mapping[str, Any]) -> list[str]:
        make_folder(self._path.parent, below=self._root)
        with locked(self._path.with_name(f".{self._path.name}.lock"), below=self._root):
            clear_unfinished(self._path, below=self._root)
            notices: list[str] = []
            there = self._read(now, notices)
            state = merge(there, self._before, now)
            content = content_of(state)
            if content != content_of(there) or not self._before:
                write_whole(self._path, content, below=self._root, durable=False)
            self._before = now
        return notices

    def _read(self, now: Mapping[str, Any], notices: list[str]) -> State:
        try:
            content = read_bytes(self._path, below=self._root, most=LARGEST)
        except FileNotFoundError:
            return read({}).state
        try:
            found = parse(content)
        except ValueError as error:
            kept = self._set_aside(content, "bad")
            notices.append(
                f"{self._name} was not a state file ({one_line(str(error))}) and was saved "
                f"as {kept}"
            )
            return read({}).state
        if found.problems:
            kept = self._set_aside(content, "bad")
            notices.append(f"in {self._name} {found.problems[0]}; the old file was saved as {kept}")
        elif found.state.get("run_id") != now["run_id"] and not has_ended(found.state):
            kept = self._set_aside(content, "bak")
            notices.append(f"{self._name} belonged to another loop and was saved as {kept}")
        return found.state

    def _set_aside(self, content: bytes, ending: str) -> str:
        name = f"{self._path.name}.{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}.{ending}"
        write_whole(self._path.with_name(name), content, below=self._root)
        return name
