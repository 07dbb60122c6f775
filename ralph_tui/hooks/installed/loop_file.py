"""The state file of a loop whose sessions ralph-tui does not start: looked at, and begun.

The hooks do nothing where there is none. While a loop runs the file is that of its sessions: it is
never replaced under them.
"""

import glob
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ralph_tui.errors import RalphError
from ralph_tui.file_lock import locked
from ralph_tui.hooks.installed.places import beside, told, within
from ralph_tui.hooks.program.store import ASIDE
from ralph_tui.layers.context import state_file
from ralph_tui.layers.context.state_file import State
from ralph_tui.plain_files import read_bytes, write_whole
from ralph_tui.text.sanitize import clip, one_line

VARIABLE = "RALPH_STATE_FILE"


@dataclass(frozen=True)
class LoopFile:
    """As it was when it was looked at."""

    root: Path
    name: str
    """As its user would name it."""
    path: Path
    content: bytes | None

    @classmethod
    def of(cls, root: Path, environ: Mapping[str, str]) -> "LoopFile":
        """Raises ``RalphError`` for what cannot be read, and for a link out of the project."""
        name = environ.get(VARIABLE) or f".claude/{state_file.NAME}"
        path = Path(name) if Path(name).is_absolute() else within(root, name)
        shown = one_line(name)
        with told(shown, "read"):
            try:
                return cls(root, shown, path, read_bytes(path))
            except FileNotFoundError:
                return cls(root, shown, path, None)

    @property
    def state(self) -> State | None:
        """None where there is none, or nothing of use."""
        try:
            return None if self.content is None else state_file.parse(self.content).state
        except ValueError:
            return None

    @property
    def running(self) -> State | None:
        """That of a loop which is not over."""
        state = self.state
        return None if state is None or state_file.has_ended(state) else state

    def words(self, *, installed: bool) -> str:
        """Whether the hooks do anything here, one sentence without its end."""
        state = self.state
        if self.content is None:
            return (
                f"the hooks do nothing yet: they are active where {self.name} is, and "
                "'ralph-tui hooks install --objective TEXT' makes it"
            )
        if state is None:
            return f"{self.name} is no state file; the hooks set it aside, and do nothing then"
        task = clip(one_line(state["objective"]), 80)
        if state_file.has_ended(state):
            return (
                f"the loop of {self.name} is over ({one_line(state['status'])}): {task}; "
                "'ralph-tui hooks install --objective TEXT' begins another"
            )
        if not installed:
            return (
                f"{self.name} is there, but no hooks: nothing is watched; "
                "'ralph-tui hooks install' puts them in"
            )
        at = f"iteration {state['iteration']} of {state['max_iterations']}"
        return f"the hooks are active, by {self.name}: {at}, {task}"

    @property
    def set_aside(self) -> list[Path]:
        """What stood in its place and was no state file, the oldest first."""
        return sorted(self.path.parent.glob(f"{glob.escape(self.path.name)}.*{ASIDE}"))

    def clear_lock(self) -> None:
        """Take away the lock file, where nobody holds it."""
        lock = self._lock
        with suppress(OSError):
            if lock.exists():
                with locked(lock, 0):
                    lock.unlink()

    @property
    def _lock(self) -> Path:
        return self.path.with_name(f".{self.path.name}.lock")

    def refuse_running(self) -> None:
        """Raises ``RalphError`` where a loop runs, or what stands there is none of use."""
        state = self.state
        if self.content is not None and (state is None or not state_file.has_ended(state)):
            what = "a loop runs already" if state is not None else "something else is there"
            raise RalphError(
                f"{what} by {self.name}: nothing was changed; move the file away to begin anew"
            )

    def begin(self, state: State, now: datetime) -> Path | None:
        """Make it, and keep that of a loop that is over; gives back where. ``RalphError``."""
        with (
            told(self.name, "write"),
            locked(self._lock),
        ):
            there = read_bytes(self.path) if self.path.exists() else None
            if there != self.content:
                raise RalphError(
                    f"{self.name} was changed while you looked at it: it stays; say it again"
                )
            kept: Path | None = None
            if there is not None:
                kept = beside(self.path, now)
                write_whole(kept, there)
            write_whole(self.path, state_file.content_of(state))
        return kept
