"""What a screen needs of a run: events that become state, and somebody to take its commands.

Rule: a screen does not ask where its events come from; live, replayed and attached runs differ in
their source alone.
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
from ralph_tui.state.seen import Seen


class Files(Protocol):
    """The snapshots of a run, each named by its tree."""

    def changes(self, since: str, until: str) -> tuple[FileChange, ...]:
        """Changed files between two trees; ``RalphError`` when they are not there any more."""

    def from_present(self, tree: str) -> tuple[FileChange, ...]:
        """What bringing the files as they are now back to a tree would change.

        A file that is there only now is "deleted"; raises as `changes`.
        """

    def diff(self, since: str, until: str, path: str | None = None) -> str:
        """A unified diff of one path or all, as git wrote it: untrusted; raises as `changes`."""


class OnDisk(Protocol):
    """What is on disk of a run; its calls block, and come from any thread."""

    worktree: Path | None
    """Where the commands of this run are typed; None: it lies in no worktree's records."""

    @property
    def fleet(self) -> FleetWork | None:
        """What a fleet knows of it, as it is now; None: it is no loop of one."""

    def report(self) -> str:
        """The report, as Markdown; raises ``RalphError``."""

    def events(self) -> str:
        """All that is recorded by now, a JSON object per line; raises as `report`."""

    def write(self, name: str, text: str) -> Path:
        """Write a file of about this name, never over another one; raises as `report`.

        Gives back where it is.
        """

    def last_sign(self) -> datetime | None:
        """When its process wrote last, a journal or how it stands; None: that is not known."""

    def seen(self) -> Seen | None:
        """What this user saw of it last; None: nothing that is known."""

    def put_down(self, seen: Seen) -> None:
        """Keep what this user has seen; it never fails."""


class Source(Protocol):
    """Fills a `RunState`, and takes commands where there is somebody to obey them."""

    live: bool
    elsewhere: bool
    """Another process has the run: to leave this screen never stops it."""
    name: str
    """How the commands of this screen are signed."""
    lost: bool | str
    """That process is gone, and no end was recorded; in words, where those of a run that lies in a
    worktree are not true."""
    broken: bool
    """Its record breaks off: what stands behind the end of what is shown cannot be read."""
    restores_ended: bool
    """Takes a `Restore` also when the run is over."""
    overtaken: str
    """Who has gone on with the run since its end, as a sentence; empty: nobody is at it."""
    refused: deque[tuple[Command, str]]
    """Refused commands, each with the reason; the screen takes them out and says why."""
    folder: Path | None
    """The attempt's folder; None when there are no files to look at."""
    files: Files | None
    """What changed between two snapshots; None while it cannot be told."""
    record: OnDisk | None
    """What is on disk of it; None while nothing is."""
    note: str
    """One sentence about the record itself, such as where it breaks off; mostly empty."""
    player: Player | None
    """The means to move in time; None for what happens now."""

    def start(self) -> None:
        """Begin to deliver; called once, before the first poll."""

    def poll(self, state: RunState, now: float) -> RunState:
        """Bring the state up to date; `now` is monotonic. A jump back returns a new state."""

    def clock(self, state: RunState) -> datetime:
        """The present of what is shown: ages are told against it."""

    def send(self, command: Command) -> None:
        """Hand a wish to the engine, if there is one."""

    def stop(self) -> None:
        """The screen is gone."""
