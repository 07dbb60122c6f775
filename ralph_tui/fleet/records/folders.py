"""Where a fleet is recorded: ``.aiwg/ralph/fleets/fleet-001``.

| path | what |
|---|---|
| ``lock`` beside it | one fleet per repository at a time |
| ``events.jsonl`` | the fleet's own journal |
| ``log.txt`` | what its engine says |
| ``loops/3a/attempts/001`` | the mirror of a loop's run, as the folder of an attempt |
"""

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ralph_tui.adapters.records.attempts import prepare_folder
from ralph_tui.adapters.records.folders import named_path, number_of, numbered, ralph_folder
from ralph_tui.adapters.records.lock import Lock, Owner, acquire, holder, worker
from ralph_tui.adapters.records.runs import fleet_folders
from ralph_tui.errors import LockHeldError, UsageError, WorkspaceError, why
from ralph_tui.plain_files import make_folder
from ralph_tui.text.sanitize import one_line

_LOOP = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,79}")
"""What a loop's folder can be called."""


@dataclass(frozen=True)
class FleetFolder:
    """One fleet's folder; none of it need exist."""

    path: Path

    @property
    def name(self) -> str:
        """As the command line calls it: ``fleet-001``."""
        return self.path.name

    @property
    def journal(self) -> Path:
        """The fleet's own journal."""
        return self.path / "events.jsonl"

    @property
    def log(self) -> Path:
        """What its engine, and the libraries below it, say."""
        return self.path / "log.txt"

    @property
    def lock(self) -> Path:
        """The lock of all fleets of its repository."""
        return self.path.parent / "lock"

    def mirror(self, loop: str, attempt: int) -> Path:
        """The folder of the mirror of a loop's run.

        Raises ``ValueError`` for a loop whose id is no name of a folder.
        """
        if not _LOOP.fullmatch(loop):
            raise ValueError(f"{one_line(loop)!r} cannot be the id of a loop")
        return self.path / "loops" / loop / "attempts" / f"{attempt:03}"

    def owner(self) -> Owner | None:
        """The process that leads this fleet; None: there is none."""
        owner = worker(self.lock)
        return owner if owner is not None and owner.run == self.name else None


def fleets_folder(root: Path) -> Path:
    """Where the fleets of a repository are recorded."""
    return ralph_folder(root) / "fleets"


def find_fleets(root: Path) -> list[FleetFolder]:
    """All that have a journal, in their order."""
    return [FleetFolder(path) for path in fleet_folders(root)]


def find_fleet(root: Path, name: str | None = None) -> FleetFolder:
    """The fleet a user means: its name, its number, its folder; None: the newest.

    Raises ``UsageError`` when there is no such fleet, naming those there are.
    """
    fleets = find_fleets(root)
    if not fleets:
        raise UsageError(
            f"no fleet was recorded in {root} yet; start one with 'ralph-tui fleet run'"
        )
    if name is None:
        return fleets[-1]
    for fleet in fleets:
        if name == fleet.name or name == str(number_of(fleet.name)):
            return fleet
    try:
        there = named_path(name)
        if (there / "events.jsonl").is_file() and there.parent.name == "fleets":
            return FleetFolder(there.absolute())
    except OSError as error:
        raise UsageError(
            f"{one_line(name)} cannot be looked at: {why(error, 'name another fleet')}"
        ) from error
    known = ", ".join(fleet.name for fleet in fleets)
    raise UsageError(f"there is no fleet '{one_line(name)}' here; known fleets: {known}")


def take_lock(root: Path, fleet_id: str, started: str, name: str = "") -> Lock:
    """Take the repository's lock for a fleet; `Lock.rename` writes its name and socket in it.

    `started` is ISO-8601, UTC. Raises ``LockHeldError`` naming the fleet that runs already,
    ``WorkspaceError`` when the file cannot be made.
    """
    prepare_folder(root)
    path = fleets_folder(root) / "lock"
    try:
        return acquire(path, name, fleet_id, started)
    except LockHeldError as error:
        raise LockHeldError(_held(holder(path), root)) from error


def create_fleet(root: Path) -> FleetFolder:
    """The folder of the next fleet, made. Call it with the lock held.

    Raises ``WorkspaceError`` when it cannot be written.
    """
    prepare_folder(root)
    folder = fleets_folder(root)
    number = max((number_of(path.name) for path in numbered(folder)), default=0) + 1
    fleet = FleetFolder(folder / f"fleet-{number:03}")
    try:
        make_folder(fleet.path)
    except OSError as error:
        raise WorkspaceError(
            f"cannot write to {folder}: {why(error, 'make the folder writable')}"
        ) from error
    return fleet


def remove_unbegun(fleet: FleetFolder) -> None:
    """Remove the folder of a fleet that has recorded nothing; best effort."""
    with suppress(OSError):
        if not fleet.journal.exists() or not fleet.journal.stat().st_size:
            fleet.journal.unlink(missing_ok=True)
            fleet.log.unlink(missing_ok=True)
            fleet.path.rmdir()


def _held(owner: Owner | None, root: Path) -> str:
    ways = "watch it with 'ralph-tui fleet attach', or stop it with 'ralph-tui fleet stop'"
    if owner is None or not owner.pid:
        return f"another fleet runs in {root}: {ways}"
    who = f"{owner.run or 'another one'} (process {owner.pid} on {owner.host}"
    return f"a fleet runs in {root} already, {who}, since {owner.since}): {ways}"
