"""What other tools left on disk: a run that was found, its files, and the values in them.

Files are opened by their names below the run's folder, and by nothing else: paths that stand inside
of foreign records are never opened. What cannot be read costs itself and is a note, once. A value
of a wrong type, an impossible number or time reads as absent.
Standard library only: lists of runs are quick.
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
ENDS: "Mapping[str, Outcome]" = {
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
"""A status of theirs as an outcome of ours; any other is no end."""
LARGEST_JSON = 128 << 20
"""Bytes of a JSON file: what a tool writes in a night stays far below."""
MOST_NAMES = 50_000
"""Names of a folder that are looked at."""
MOST_NOTES = 40
"""Files that are named in notes; further ones are counted."""
_EARLIEST, _LATEST = 946_684_800.0, 4_102_444_800.0  # 2000 and 2100, seconds
MOST_ITERATIONS = 100_000
"""A number beyond it counts nothing that has happened."""
_SAFE = re.compile(r"[A-Za-z0-9]{1,8}")
_TAIL = re.compile(r"-([0-9a-f]{8})$")
_NUMBERED = re.compile(r"(\d{1,6})-")


@dataclass(frozen=True)
class ImportedRun:
    """One of them, found and not read."""

    name: str
    """What the command line calls it: ``aiwg/1a2b3c4d``."""
    form: str
    """The letter of its form: which files it left, and how they hang together."""
    path: Path
    """The file that it is the run of."""
    folder: Path
    """What it left lies below it."""
    base: Path
    """No link is followed below it."""
    run_id: str = ""
    """As the tool calls it; empty where that cannot be read."""
    slug: str = ""
    """A longer name that a list of loops has for it."""
    session: str = ""
    """Of two loops in one file: the session of the one that the file is not about."""

    @property
    def imported(self) -> str:
        """What wrote it, in words."""
        return f"{TOOL}, form {self.form}"

    @property
    def files(self) -> "RunFiles":
        """Its files, without a note yet."""
        return RunFiles(self.folder, self.base)

    @property
    def changed(self) -> float:
        """When its file was written last, seconds since the epoch; 0 where it is gone."""
        try:
            return self.path.stat().st_mtime
        except OSError:
            return 0.0

    @property
    def stamp(self) -> str:
        """Differs once its file was written, or one came or went in its folder or right below."""
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
        """What a list says of it; `readings` in points, None repeats the one before it."""
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


def named(run_id: str, path: Path) -> str:
    """``aiwg/`` and eight characters that tell the run from others: of its id, else of its path."""
    tail = _TAIL.search(run_id)
    short = tail[1] if tail else run_id[:8]
    if not _SAFE.fullmatch(short):
        short = sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{TOOL}/{short}"


@dataclass
class RunFiles:
    """What lies below a run's folder; notes tell what of it cannot be used."""

    folder: Path
    """The run's own: names are relative to it."""
    base: Path
    """No link is followed below it: it is the folder, or a parent of it."""
    notes: list[str] = field(default_factory=list)
    """A sentence for each file that cannot be read, in the order in which they were met."""
    unnamed: int = 0
    """Further files that cannot be read."""

    def json(self, name: str) -> Json | None:
        """The object that a file holds; None where there is no file, or a note says why not."""
        try:
            content = read_bytes(self.folder / name, below=self.base, most=LARGEST_JSON)
        except FileNotFoundError:
            return None
        except OSError as error:
            self.note(name, why(error, "move it out of the way"))
            return None
        try:
            value = parse_json(content)
        except ValueError:
            self.note(name, "it is empty" if not content.strip() else "it is no whole JSON")
            return None
        if not isinstance(value, dict):
            self.note(name, "it holds no JSON object")
            return None
        return as_map(value)

    @contextmanager
    def opened(self, name: str) -> Iterator[BinaryIO | None]:
        """A file open for reading; None where there is none, or a note says why not."""
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
        """Whether there is a plain file of this name."""
        return is_plain(self.folder / name)

    def lies(self, name: str) -> bool:
        """Whether there is anything of this name."""
        return os.path.lexists(self.folder / name)

    def why_not(self, name: str) -> str:
        """Why a file that was asked for is of no use."""
        begins = f"{one_line(name)} cannot be used: "
        said = (note for note in self.notes if note.startswith(begins))
        return next(said, f"{one_line(name)} is missing")

    def first(self, *names: str) -> str:
        """The first of these names that a file has; empty for none, what else has one is noted."""
        for name in names:
            if self.has(name):
                return name
            if self.lies(name):
                self.note(name, "it is no plain file; move it out of the way")
        return ""

    def size(self, name: str) -> int:
        """Bytes of a file; 0 where there is none."""
        with suppress(OSError):
            return (self.folder / name).lstat().st_size
        return 0

    def names(self, folder: str, *, folders: bool = False) -> list[str]:
        """Names of what lies in a folder, or of the folders in it, sorted.

        Links are no folders; what is named like a file and is none is told when it is opened.
        """
        found: list[str] = []
        with suppress(OSError), os.scandir(self.folder / folder) as entries:
            for entry in entries:
                wanted = not folders or entry.is_dir(follow_symlinks=False)
                if len(found) < MOST_NAMES and wanted:
                    found.append(entry.name)
        return sorted(found)

    def numbers(self, folder: str, ending: str) -> list[int]:
        """The numbers of ``003-prompt.md`` and its like, sorted."""
        names = (name for name in self.names(folder) if name.endswith(ending))
        return sorted({int(match[1]) for name in names if (match := _NUMBERED.match(name))})

    def note(self, name: str, what: str) -> None:
        """Say of a file why it is of no use."""
        sentence = f"{one_line(name)} cannot be used: {one_line(what)}"
        if sentence in self.notes:
            return
        if len(self.notes) < MOST_NOTES:
            self.notes.append(sentence)
        else:
            self.unnamed += 1


def as_when(value: object) -> datetime | None:
    """A time, UTC: ISO-8601, or an epoch in milliseconds or seconds."""
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
    """The number of an iteration or of a limit: a whole one from 0 that can be counted to."""
    number = as_number(value)
    if number is None or number != int(number) or not 0 <= number <= MOST_ITERATIONS:
        return None
    return int(number)


def as_points(value: object) -> float | None:
    """Completion in points, 0-100; 1 is one point."""
    number = as_number(value)
    return None if number is None or not 0 <= number <= 100 else number


def as_seconds(value: object) -> float | None:
    """Milliseconds as seconds; None for none, or for more than a year."""
    number = as_number(value)
    return None if number is None or not 0 <= number < 3.2e10 else number / 1000


def as_minutes(value: object) -> float:
    """Minutes as seconds; 0 for none, or for more than a year."""
    number = as_number(value)
    return 60 * number if number is not None and 0 < number < 530_000 else 0.0


def as_texts(value: object) -> list[str]:
    """Texts of a list, or the one text that stands in its place; empty ones are left out."""
    if isinstance(value, str):
        return [value] if value.strip() else []
    return [text for item in as_list(value) if (text := as_text(item)).strip()]
