"""A fleet on disk: its folder and lock, its journal, and the mirrors of its loops' runs.

The fleet's record is in ``.aiwg/ralph/fleets/fleet-001``:

| path | content |
|---|---|
| ``lock`` beside it | allows one fleet per repository at a time |
| ``events.jsonl`` | the fleet's own journal |
| ``log.txt`` | output of its engine |
| ``loops/3a/attempts/001`` | mirror of a loop's run, laid out like the folder of an attempt |
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ralph_tui.adapters.records.attempts import prepare_folder
from ralph_tui.adapters.records.files import write_json
from ralph_tui.adapters.records.folders import (
    named_path,
    number_of,
    numbered,
    ralph_folder,
    worktree_root,
)
from ralph_tui.adapters.records.journal import Recording, parse_line, read_events
from ralph_tui.adapters.records.lock import Lock, Owner, acquire, holder, worker
from ralph_tui.adapters.records.runs import STATUS_VERSION, RecordedRun, fleet_folders
from ralph_tui.base.errors import LockHeldError, UsageError, WorkspaceError, why, workspace_error
from ralph_tui.base.plain_files import make_folder, open_plain, reading
from ralph_tui.events import Event, RunStarted
from ralph_tui.events.text import cleaned
from ralph_tui.fleet.events import SCHEMA_VERSION, FleetEvent, FleetStarted, parse_fleet_event
from ralph_tui.fleet.state import FleetState
from ralph_tui.text.sanitize import one_line

_LOOP = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,79}")
"""Valid names of a loop's folder."""


@dataclass(frozen=True)
class FleetFolder:
    """One fleet's folder; it need not exist."""

    path: Path

    @property
    def name(self) -> str:
        """Name on the command line, such as ``fleet-001``."""
        return self.path.name

    @property
    def journal(self) -> Path:
        """Path of the fleet's own journal."""
        return self.path / "events.jsonl"

    @property
    def log(self) -> Path:
        """Path of the output of its engine and the libraries below it."""
        return self.path / "log.txt"

    @property
    def lock(self) -> Path:
        """Path of the lock that all fleets of its repository share."""
        return self.path.parent / "lock"

    def mirror(self, loop: str, attempt: int) -> Path:
        """Return the folder that mirrors a loop's run.

        Raises ``ValueError`` for a loop id that is not valid as a folder name.
        """
        if not _LOOP.fullmatch(loop):
            raise ValueError(f"{one_line(loop)!r} cannot be the id of a loop")
        return self.path / "loops" / loop / "attempts" / f"{attempt:03}"

    def owner(self) -> Owner | None:
        """Return the process that runs this fleet; None if it is not running."""
        owner = worker(self.lock)
        return owner if owner is not None and owner.run == self.name else None


def fleets_folder(root: Path) -> Path:
    """Return the folder that contains a repository's fleets."""
    return ralph_folder(root) / "fleets"


def find_fleets(root: Path) -> list[FleetFolder]:
    """Return all fleets that have a journal, in order."""
    return [FleetFolder(path) for path in fleet_folders(root)]


def find_fleet(root: Path, name: str | None = None) -> FleetFolder:
    """Find a fleet by its name, number or folder; None finds the newest.

    Raises ``UsageError`` if there is no such fleet; the message lists the existing ones.
    """
    fleets = find_fleets(root)
    if not fleets:
        raise UsageError(
            f"no fleet has been recorded in {root} yet; start one with 'ralph-tui fleet run'"
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
            f"{one_line(name)} cannot be read: {why(error, 'choose another fleet')}"
        ) from error
    raise unknown_fleet(name, [fleet.name for fleet in fleets])


def unknown_fleet(name: str, known: Iterable[str]) -> UsageError:
    """Return the error for a fleet that does not exist; it lists those that do."""
    fleets = ", ".join(known)
    return UsageError(
        f"there is no fleet '{one_line(name)}' here; known fleets: {fleets}; choose one of them, "
        "or omit the name for the newest"
    )


def take_lock(root: Path, fleet_id: str, started: str, name: str = "") -> Lock:
    """Take the repository's lock for a fleet; `Lock.rename` later adds its name and socket.

    `started` is ISO-8601, UTC. Raises ``LockHeldError`` naming the fleet that already runs, and
    ``WorkspaceError`` if the file cannot be created.
    """
    prepare_folder(root)
    path = fleets_folder(root) / "lock"
    try:
        return acquire(path, name, fleet_id, started)
    except LockHeldError as error:
        raise LockHeldError(_describe_lock(holder(path), root)) from error


def create_fleet(root: Path) -> FleetFolder:
    """Create and return the folder of the next fleet. The caller must hold the lock.

    Raises ``WorkspaceError`` if the folder cannot be written.
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
    """Remove the folder of a fleet that has recorded nothing; ignore errors."""
    with suppress(OSError):
        if not fleet.journal.exists() or not fleet.journal.stat().st_size:
            fleet.journal.unlink(missing_ok=True)
            fleet.log.unlink(missing_ok=True)
            fleet.path.rmdir()


def _describe_lock(owner: Owner | None, root: Path) -> str:
    ways = "watch it with 'ralph-tui fleet attach', or stop it with 'ralph-tui fleet stop'"
    if owner is None or not owner.pid:
        return f"another fleet is running in {root}: {ways}"
    who = f"{owner.run or 'another one'} (process {owner.pid} on {owner.host}"
    return f"a fleet is already running in {root}, {who}, since {owner.since}): {ways}"


@dataclass(frozen=True)
class FleetRecording:
    """A fleet's journal with its events and state."""

    journal: Recording

    @property
    def events(self) -> list[FleetEvent]:
        """All events that can be read."""
        return cast("list[FleetEvent]", self.journal.events)

    @property
    def remark(self) -> str:
        """A sentence about the parts that are missing; empty if none is."""
        started = self.journal.events[0]
        newer = isinstance(started, FleetStarted) and started.schema_version > SCHEMA_VERSION
        newer_text = (
            "recorded by a newer ralph-tui: anything this version does not know is left out"
        )
        return self.journal.problem or (newer_text if newer else self.journal.remark)

    @property
    def broken(self) -> str:
        """Where the journal breaks off and how to repair it; empty if it is intact."""
        where = self.journal.problem.partition(";")[0]
        broken_text = (
            f"the fleet's journal breaks off: {where}; remove that line if ralph-tui did not"
        )
        return where and f"{broken_text} write it"

    def state(self) -> FleetState:
        """Fold all events into a new state."""
        return FleetState().replay(self.events)


def read_fleet(path: Path) -> FleetRecording:
    """Read a fleet's whole journal, up to the first bad line; drop an incomplete last line.

    The `Recording` shows where a writer may continue, and `cut` removes the rest. Raises
    ``JournalError`` if there is no journal, or if it is empty or not a fleet's journal.
    """

    def parse(line: bytes, _: FleetStarted | None) -> FleetEvent:
        return parse_fleet_event(line)

    return FleetRecording(read_events(path, FleetStarted, parse))


def copied_words(folder: FleetFolder, started: FleetStarted) -> str:
    """Describe a record that is only a copy, because the fleet's own repository still exists.

    Empty for any other record.
    """
    own = Path(started.root)
    if not own.is_dir() or own.samefile(worktree_root(folder.path)):
        return ""
    where = one_line(started.root)
    return f"this record of {folder.name} is a copy: the fleet was started in {where}"


MAX_STATUS = 400
"""Maximum number of fields accepted in a ``status.json``."""


class GapError(ValueError):
    """The received lines do not follow the last one; the missing lines must be requested."""


class Mirror:
    """The mirror of one attempt's run: its journal line by line, and its ``status.json``.

    It is a cache of files on the loop's host and can be fetched again, so broken parts are dropped.
    Its input is untrusted: each line is parsed as an event, and only the parsed event is written.
    It has a single writer.
    """

    def __init__(self, folder: Path) -> None:
        """Continue after the existing content of `folder`, which may be empty or missing.

        Raises ``WorkspaceError`` if the folder cannot be written.
        """
        self.run = RecordedRun(folder / "events.jsonl")
        self.seq = 0
        """Number of the last event in the mirror."""
        self._started: RunStarted | None = None
        try:
            make_folder(folder)
            self._load()
        except OSError as error:
            raise self._write_error(error) from error

    @property
    def run_id(self) -> str:
        """Id of the run; empty until it is known."""
        return self._started.run_id if self._started else ""

    def append(self, first: int, lines: Sequence[str | bytes]) -> list[Event]:
        """Append lines, the first with number `first`, and return those that were new.

        Raises `GapError` if lines before them are missing, and ``WorkspaceError`` if writing fails.
        Raises ``ValueError`` for a line that is not an event of this run; earlier lines are kept.
        """
        if first > self.seq + 1:
            raise GapError(f"event {first} arrived instead of {self.seq + 1}")
        new: list[Event] = []
        fault: ValueError | None = None
        for line in lines[self.seq + 1 - first :]:
            try:
                new.append(self._read(line, self.seq + 1 + len(new)))
            except ValueError as error:
                fault = error
                break
        if new:
            self._write(b"".join(event.model_dump_json().encode() + b"\n" for event in new))
            self.seq += len(new)
        if fault is not None:
            raise fault
        return new

    def put_status(self, status: Mapping[str, Any]) -> dict[str, Any]:
        """Write the run's status file, and return it with all text sanitized.

        Raises ``ValueError`` if it is not a valid status or belongs to another run.
        """
        run_id = self._started.run_id if self._started else status.get("run_id")
        ours = status.get("version") == STATUS_VERSION and isinstance(status.get("phase"), str)
        if not ours or status.get("run_id") != run_id or len(status) > MAX_STATUS:
            raise ValueError("it is not a status of this loop's run")
        kept: dict[str, Any] = cleaned(dict(status))
        try:
            write_json(self.run.status, kept, durable=False)
        except OSError as error:
            raise self._write_error(error) from error
        return kept

    def _read(self, line: str | bytes, number: int) -> Event:
        event = parse_line(line.encode() if isinstance(line, str) else line, self._started)
        if event.seq != number:
            raise ValueError(f"event {event.seq} arrived instead of {number}")
        if number == 1:
            if not isinstance(event, RunStarted):
                raise ValueError("its first event does not begin a run")
            self._started = event
        return event

    def _write(self, lines: bytes) -> None:
        try:
            descriptor = open_plain(self.run.journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                end = os.fstat(descriptor).st_size
                view = memoryview(lines)
                try:
                    while view:
                        view = view[os.write(descriptor, view) :]
                except OSError:
                    os.ftruncate(descriptor, end)
                    raise
            finally:
                os.close(descriptor)
        except OSError as error:
            raise self._write_error(error) from error

    def _load(self) -> None:
        """Load the existing journal, and cut it off at the first unreadable line."""
        good = 0
        try:
            with reading(self.run.journal) as file:
                for line in file:
                    try:
                        if not line.endswith(b"\n"):
                            break
                        self._read(line, self.seq + 1)
                    except ValueError:
                        break
                    self.seq += 1
                    good += len(line)
        except FileNotFoundError:
            return
        descriptor = open_plain(self.run.journal, os.O_WRONLY)
        try:
            os.ftruncate(descriptor, good)
        finally:
            os.close(descriptor)

    def _write_error(self, error: OSError) -> Exception:
        what = why(error, "make the folder writable")
        return workspace_error(f"cannot write to {self.run.folder}: {what}", error)
