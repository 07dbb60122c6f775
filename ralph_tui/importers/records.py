"""Records of other tools on disk: a found run, its files, and the values in them.

Only names below the run's folder are opened, never paths from within foreign records. An unreadable
file is skipped and noted once. A value of a wrong type, or an impossible number or time, counts as
missing.

Standard library only, to keep lists fast.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from stat import S_ISDIR
from typing import TYPE_CHECKING, BinaryIO

from ralph_tui import __version__
from ralph_tui.adapters.records.listing import OBJECTIVE, RunRow
from ralph_tui.base.errors import why
from ralph_tui.base.plain_files import is_plain, read_bytes, reading
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.json_fields import as_list, as_map, as_number, as_text
from ralph_tui.text.sanitize import clip, one_line

if TYPE_CHECKING:
    from ralph_tui.events.run import Outcome

Json = Mapping[str, object]
TOOL = "aiwg"
OUTCOMES: "Mapping[str, Outcome]" = {
    "completed": "completed",
    "success": "completed",
    "limit_reached": "limit_reached",
    "max_iterations": "limit_reached",
    "timeout": "limit_reached",
    "aborted": "aborted",
    "failed": "failed",
    "interrupted": "interrupted",
    "paused": "interrupted",
}
"""Our outcome for each of the tool's final statuses; any other status is not final."""
MAX_JSON = 128 << 20
"""Maximum size of a JSON file in bytes; a night's work stays far below it."""
MAX_NAMES = 50_000
"""Maximum number of names read from a folder."""
MAX_NOTES = 40
"""Maximum number of files named in notes; the rest are counted."""
_EARLIEST, _LATEST = 946_684_800.0, 4_102_444_800.0  # 2000 and 2100, epoch seconds
MAX_ITERATIONS = 100_000
"""Highest plausible iteration number."""
_SAFE = re.compile(r"[A-Za-z0-9]{1,8}")
_TAIL = re.compile(r"-([0-9a-f]{8})$")
_NUMBERED = re.compile(r"(\d{1,6})-")


@dataclass(frozen=True)
class ImportedRun:
    """A run that was found but not read."""

    name: str
    """Name on the command line, such as ``aiwg/1a2b3c4d``."""
    form: str
    """Letter of the form, which determines the files and their layout."""
    path: Path
    """The file that identifies the run."""
    folder: Path
    """The folder that contains its files."""
    base: Path
    """Links below this folder are not followed."""
    run_id: str = ""
    """The tool's id for the run; empty if it is unreadable."""
    slug: str = ""
    """A longer name from a list of loops."""
    session: str = ""
    """Session of a loop that its state file no longer describes; otherwise empty."""

    @property
    def imported(self) -> str:
        """The tool and form that wrote it, for display."""
        return f"{TOOL}, form {self.form}"

    @property
    def files(self) -> "RunFiles":
        """Its files, without notes."""
        return RunFiles(self.folder, self.base)

    @property
    def changed(self) -> float:
        """When its file was last written, in epoch seconds; 0 if it is gone."""
        try:
            return self.path.stat().st_mtime
        except OSError:
            return 0.0

    @property
    def stamp(self) -> str:
        """A hash that changes when its file is written or its folders change."""
        stamps = [f"{__version__} {self.form}"]
        beside: list[Path] = []
        with suppress(OSError):
            beside = sorted(path for path in self.folder.iterdir() if path.is_dir())
        for path in (self.path, self.folder, *beside):
            with suppress(OSError):
                status = path.lstat()
                size = 0 if S_ISDIR(status.st_mode) else status.st_size
                stamps.append(f"{path.name} {status.st_mtime_ns} {size}")
        return sha256("\n".join(stamps).encode("utf-8", "surrogateescape")).hexdigest()

    def row(
        self,
        *,
        objective: str,
        outcome: str | None,
        agent: str,
        iterations: int,
        max_iterations: int | None,
        readings: Iterable[float | None],
        started: datetime | None,
        updated: datetime | None,
        problem: str,
        interventions: int | None = None,
    ) -> RunRow:
        """Return the run's row in a list.

        `readings` are in percent, and None repeats the previous one.
        """
        known: list[float] = []
        for points in readings:
            known.append(points / 100 if points is not None else known[-1] if known else 0.0)
        lasted = (updated - started).total_seconds() if updated and started else 0.0
        return RunRow(
            name=self.name,
            objective=clip(one_line(objective), OBJECTIVE),
            status=outcome or "died",
            agent=agent,
            iterations=iterations,
            max_iterations=max_iterations,
            completions=tuple(known),
            interventions=interventions,
            started=started,
            updated=updated,
            seconds=max(0.0, lasted),
            imported=self.imported,
            problem=problem,
        )


def run_name(run_id: str, path: Path) -> str:
    """Return ``aiwg/`` and eight characters of the run's id, or of a hash of its path."""
    tail = _TAIL.search(run_id)
    short = tail[1] if tail else run_id[:8]
    if not _SAFE.fullmatch(short):
        short = sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{TOOL}/{short}"


@dataclass
class RunFiles:
    """The files below a run's folder, with notes about unusable ones."""

    folder: Path
    """The run's own folder; names are relative to it."""
    base: Path
    """The folder or a parent of it; links below it are not followed."""
    notes: list[str] = field(default_factory=list)
    """A sentence for each unreadable file, in the order of discovery."""
    unnamed: int = 0
    """Number of further unreadable files."""

    def json(self, name: str) -> Json | None:
        """Return the object in a file; None if it is missing, or unusable and noted."""
        try:
            content = read_bytes(self.folder / name, below=self.base, most=MAX_JSON)
        except FileNotFoundError:
            return None
        except OSError as error:
            self.note(name, why(error, "move it out of the way"))
            return None
        try:
            value = parse_json(content)
        except ValueError:
            self.note(name, "it is empty" if not content.strip() else "it is not complete JSON")
            return None
        if not isinstance(value, dict):
            self.note(name, "it is not a JSON object")
            return None
        return as_map(value)

    @contextmanager
    def open_file(self, name: str) -> Iterator[BinaryIO | None]:
        """Open a file for reading; yield None if it is missing, or unreadable and noted."""
        file = None
        try:
            file = reading(self.folder / name, below=self.base)
        except FileNotFoundError:
            pass
        except OSError as error:
            self.note(name, why(error, "move it out of the way"))
        with file or nullcontext():
            yield file

    def has(self, name: str) -> bool:
        """True if there is a plain file with this name."""
        return is_plain(self.folder / name)

    def exists(self, name: str) -> bool:
        """True if there is anything with this name."""
        return os.path.lexists(self.folder / name)

    def explain_missing(self, name: str) -> str:
        """Return why a requested file is unusable."""
        begins = f"{one_line(name)} cannot be used: "
        said = (note for note in self.notes if note.startswith(begins))
        return next(said, f"{one_line(name)} is missing")

    def first(self, *names: str) -> str:
        """Return the first name that is a plain file; empty if none is. Note other files."""
        for name in names:
            if self.has(name):
                return name
            if self.exists(name):
                self.note(name, "it is not a plain file; move it out of the way")
        return ""

    def size(self, name: str) -> int:
        """Return the size of a file in bytes; 0 if it is missing."""
        with suppress(OSError):
            return (self.folder / name).lstat().st_size
        return 0

    def names(self, folder: str, *, folders: bool = False) -> list[str]:
        """Return the sorted names in a folder, or of the folders in it.

        Links are not folders. A name that turns out not to be a plain file is reported when it is
        opened.
        """
        found: list[str] = []
        with suppress(OSError), os.scandir(self.folder / folder) as entries:
            for entry in entries:
                wanted = not folders or entry.is_dir(follow_symlinks=False)
                if len(found) < MAX_NAMES and wanted:
                    found.append(entry.name)
        return sorted(found)

    def numbers(self, folder: str, ending: str) -> list[int]:
        """Return the sorted numbers of files such as ``003-prompt.md``."""
        names = (name for name in self.names(folder) if name.endswith(ending))
        return sorted({int(match[1]) for name in names if (match := _NUMBERED.match(name))})

    def note(self, name: str, what: str) -> None:
        """Note why a file is unusable."""
        sentence = f"{one_line(name)} cannot be used: {one_line(what)}"
        if sentence in self.notes:
            return
        if len(self.notes) < MAX_NOTES:
            self.notes.append(sentence)
        else:
            self.unnamed += 1


def as_time(value: object) -> datetime | None:
    """Parse a UTC time: ISO-8601, or an epoch in milliseconds or seconds; None if invalid."""
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
        try:
            found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        except OverflowError:
            return None
        return found if 2000 <= found.year < 2100 else None
    seconds = as_number(value)
    if seconds is None:
        return None
    if seconds > _LATEST:
        seconds /= 1000
    return datetime.fromtimestamp(seconds, UTC) if _EARLIEST <= seconds < _LATEST else None


def as_ordinal(value: object) -> int | None:
    """Parse the number of an iteration or a limit: a plausible whole number from 0; else None."""
    number = as_number(value)
    if number is None or number != int(number) or not 0 <= number <= MAX_ITERATIONS:
        return None
    return int(number)


def as_points(value: object) -> float | None:
    """Parse completion in percent, 0-100; a value of 1 is 1 %."""
    number = as_number(value)
    return None if number is None or not 0 <= number <= 100 else number


def as_seconds(value: object) -> float | None:
    """Convert milliseconds to seconds; None if missing or over a year."""
    number = as_number(value)
    return None if number is None or not 0 <= number < 3.2e10 else number / 1000


def as_minutes(value: object) -> float:
    """Convert minutes to seconds; 0 if missing or over a year."""
    number = as_number(value)
    return 60 * number if number is not None and 0 < number < 530_000 else 0.0


def as_texts(value: object) -> list[str]:
    """Return the texts of a list, or a single text as a list; leave out empty ones."""
    if isinstance(value, str):
        return [value] if value.strip() else []
    return [text for item in as_list(value) if (text := as_text(item)).strip()]
