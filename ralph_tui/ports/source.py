"""A run as screens use it: a source of events, and a receiver for commands.

Rule: a screen does not know where events come from. Live, replayed and attached runs differ only in
their source.
"""

from collections import deque
from datetime import datetime
from pathlib import Path
from typing import Protocol

from ralph_tui.commands import Command
from ralph_tui.events.workspace import FileChange
from ralph_tui.ports.player import Player
from ralph_tui.state import RunState
from ralph_tui.state.fleet_work import FleetWork
from ralph_tui.state.last_seen import LastSeen


class Files(Protocol):
    """A run's snapshots, each identified by its git tree."""

    def changes(self, since: str, until: str) -> tuple[FileChange, ...]:
        """Return the files changed between two trees. Raises ``RalphError`` if a tree is gone."""

    def from_present(self, tree: str) -> tuple[FileChange, ...]:
        """Return what restoring the current files to a tree would change.

        A file that exists only now is "deleted"; raises like `changes`.
        """

    def diff(self, since: str, until: str, path: str | None = None) -> str:
        """Return git's unified diff of one path or all; untrusted text. Raises like `changes`."""


class OnDisk(Protocol):
    """A run's record on disk. Calls block, and may come from any thread."""

    worktree: Path | None
    """The folder to type the run's commands in; None if its record is not in a worktree."""

    @property
    def fleet(self) -> FleetWork | None:
        """The fleet's current information about the run; None if no fleet runs it."""

    def report(self) -> str:
        """Return the report as Markdown. Raises ``RalphError``."""

    def events(self) -> str:
        """Return all events recorded so far, one JSON object per line. Raises like `report`."""

    def write(self, name: str, text: str) -> Path:
        """Write a file with this or a similar name, never overwriting another; return its path.

        Raises like `report`.
        """

    def last_sign(self) -> datetime | None:
        """Return when its process last wrote the journal or status file; None if unknown."""

    def seen(self) -> LastSeen | None:
        """Return what the user last saw of the run; None if unknown."""

    def save_seen(self, seen: LastSeen) -> None:
        """Save what the user has seen; never fails."""


class Source(Protocol):
    """Updates a `RunState`, and accepts commands if an engine can carry them out."""

    live: bool
    elsewhere: bool
    """True if another process runs it, so leaving the screen never stops it."""
    name: str
    """Sender's name for commands from this screen."""
    lost: bool | str
    """True if the run's process is gone and no end was recorded.

    A string is a specific explanation, used if the one for runs in a worktree does not apply.
    """
    broken: bool
    """True if the record is damaged: events after the last one shown cannot be read."""
    restores_ended: bool
    """True if a `Restore` is accepted even after the run's end."""
    overtaken: str
    """Sentence naming who has continued the run since its end; empty if no one has."""
    refused: deque[tuple[Command, str]]
    """Refused commands, each with its reason; the screen removes and reports them."""
    folder: Path | None
    """The attempt's folder; None if there are no files to show."""
    files: Files | None
    """Changes between snapshots; None while they cannot be determined."""
    record: OnDisk | None
    """The run's record on disk; None while it does not exist."""
    note: str
    """One sentence about the record itself, such as where it breaks off; usually empty."""
    player: Player | None
    """Playback control; None for a live run."""

    def start(self) -> None:
        """Start delivering events; called once, before the first poll."""

    def poll(self, state: RunState, now: float) -> RunState:
        """Update the state; `now` is monotonic seconds. A jump back returns a new state."""

    def clock(self, state: RunState) -> datetime:
        """Return the current time of the displayed run, the reference for ages."""

    def send(self, command: Command) -> None:
        """Send a command to the engine, if there is one."""

    def stop(self) -> None:
        """Stop delivering events; the screen has closed."""
