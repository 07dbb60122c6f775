"""A knowledge file on disk: read with suspicion, mended without a loss, replaced as a whole.

Rules. What fits the schema counts, whoever wrote it: another checksum means an edit by hand. What
does not is set aside under its date, and its backup, where there is a usable one, takes its place.
Nothing is ever deleted or written over that was not read as sound.
"""

import errno
import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from ralph_tui.adapters.knowledge.javascript import stringify
from ralph_tui.adapters.knowledge.locking import refused
from ralph_tui.adapters.knowledge.schema import VERSION, Entry, check
from ralph_tui.base.errors import KnowledgeError
from ralph_tui.base.file_lock import clear_unfinished
from ralph_tui.base.plain_files import NotPlainError, reading, write_whole
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.sanitize import one_line

LARGEST = 1 << 27
"""Bytes of a file that is read: 200 000 learnings and more."""
_CLOSED = (errno.EACCES, errno.EPERM)
_TYPES = ("strategy", "antipattern", "estimate", "convention")

_NONE: list[Entry] = []

Condition = Literal["sound", "edited", "damaged", "missing"]
Mended = Literal["", "edited", "restored"]
"""Whose content counts from now on: as it was; an edit by hand; the backup, which is older."""
Stamp = tuple[int, int, int, int]
"""Device, inode, size and time of change: another file, or another content, has another one."""


def checksum(entries: Sequence[Entry]) -> str:
    """SHA-256 over the compact JSON; ``ValueError`` for numbers that JSON cannot hold."""
    return hashlib.sha256(stringify(entries).encode("utf-8")).hexdigest()


def moment(at: datetime) -> str:
    """As JavaScript's ``toISOString``: ``2026-11-20T08:49:29.814Z``."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def document_of(before: Entry, held: str, entries: Sequence[Entry], at: datetime) -> Entry:
    """A whole file with this list; what else was in it stays."""
    document = {"version": VERSION, **before}
    document |= {"checksum": checksum(entries), "lastUpdated": moment(at)}
    document[held] = list(entries)
    if held == "learnings":
        document["stats"] = _stats(document.get("stats", {}), entries)
    return document


@dataclass(frozen=True)
class Found:
    """What stands under a name."""

    condition: Condition
    document: Entry
    """Empty unless it can be used."""
    stamp: Stamp | None = None
    problem: str = ""
    """Of what is damaged: what is wrong, without the file's name."""


class KnowledgeFile:
    """``ralph-learnings.json`` with its backup, or ``staging.json``, which has none."""

    def __init__(self, path: Path, held: str, *, backup: bool, tell: Callable[[str], None]) -> None:
        """`held`: the name of its list; `tell` takes a sentence for the owner."""
        self.path = path
        self.held = held
        self.backup = path.with_name(f"{path.name}.bak") if backup else None
        self._tell = tell
        self._known = Found("missing", {})
        """As it was last read or written."""

    @property
    def name(self) -> str:
        """As its owner would name it: the last three parts of its path."""
        return one_line("/".join(self.path.parts[-3:]))

    @property
    def entries(self) -> list[Entry]:
        """Its list, as last read; not to be changed in place."""
        found: list[Entry] = self._known.document.get(self.held, _NONE)
        return found

    @property
    def stamp(self) -> Stamp | None:
        """What tells this content from another; None while there is none."""
        return self._known.stamp

    def look(self) -> bool:
        """Read it if it has changed; whether what is known is sound now. Needs no lock.

        Raises ``KnowledgeError`` when it is of a version to come.
        """
        if (stamp := _stamp(self.path)) is not None and stamp == self._known.stamp:
            return True
        found = self._read(self.path)
        if found.condition == "missing" and not self._lost():
            self._known = found
            return True
        if found.condition == "sound":
            self._known = found
            return True
        return False

    def mend(self) -> Mended:
        """Read it, and make it sound where it is not; gives back how.

        The lock must be held. Raises ``KnowledgeError``.
        """
        if self.look():
            return ""
        try:
            return self._mend(self._read(self.path))
        except OSError as error:
            raise self._cannot("mended", error) from error

    def write(self, entries: Sequence[Entry], at: datetime) -> None:
        """Replace its list; the lock must be held and the file sound. Raises ``KnowledgeError``."""
        document = document_of(self._known.document, self.held, entries, at)
        content = (stringify(document, 2) + "\n").encode("utf-8")
        if len(content) > LARGEST:
            raise KnowledgeError(
                f"{self.name} cannot be written: it would be larger than {LARGEST // (1 << 20)} MB "
                "and could not be read again; make it smaller by hand, or move it away"
            )
        try:
            clear_unfinished(self.path, below=self.path.parent)
            if self.backup is not None and self._known.stamp is not None:
                clear_unfinished(self.backup, below=self.path.parent)
                self._clear_way(self.backup)
                write_whole(self.backup, _content(self.path), below=self.path.parent)
            write_whole(self.path, content, below=self.path.parent)
            self._known = Found("sound", document, _stamp(self.path))
        except OSError as error:
            raise self._cannot("written", error) from error

    def _clear_way(self, backup: Path) -> None:
        """Whatever but a folder gives way to a file; what is in a folder may be needed."""
        if backup.is_dir() and not backup.is_symlink():
            kept = _set_aside(backup, "damaged")
            name = kept.name if kept is not None else ""
            self._tell(f"{self.name}.bak is a folder; it is kept as {name}")

    def _cannot(self, be_done: str, error: OSError) -> KnowledgeError:
        return KnowledgeError(f"{self.name} cannot be {be_done}: {one_line(refused(error))}")

    def _lost(self) -> bool:
        """Whether there was something, or a backup says that there was."""
        return bool(self.entries) or (self.backup is not None and os.path.lexists(self.backup))

    def _read(self, path: Path) -> Found:
        try:
            stamp = _stamp(path)
            document = parsed(_content(path))
            refuse_other_version(document, self.name)
            check(document, self.held)
            if document.get("checksum") == checksum(document[self.held]):
                return Found("sound", document, stamp)
            return Found("edited", document, stamp)
        except FileNotFoundError:
            return Found("missing", {})
        except OSError as error:
            if not (isinstance(error, NotPlainError) or error.errno in _CLOSED):
                raise self._cannot("read", error) from error  # it may be sound all the same
            return Found("damaged", {}, problem=error.strerror or str(error))
        except ValueError as error:
            return Found("damaged", {}, problem=str(error))

    def _mend(self, found: Found) -> Mended:
        if found.condition == "edited":
            self._accept(found)
            return "edited"
        if found.condition == "missing" and self.entries and not self._outdated():
            self._known = Found("missing", self._known.document)
            self._rewrite()
            self._tell(
                f"{self.name} was removed while it was in use and has been written again; "
                "to forget a learning, say 'ralph-tui memory delete'"
            )
            return ""
        return "restored" if self._fall_back(found) else ""

    def _outdated(self) -> bool:
        """Whether the backup holds more than what is known: others write, too."""
        if self.backup is None:
            return False
        backup = self._read(self.backup)
        known, kept = (
            one.get("lastUpdated", "") for one in (self._known.document, backup.document)
        )
        return backup.condition == "sound" and kept > known

    def _accept(self, found: Found) -> None:
        """An edit by hand: the state before it, which the backup is, is kept."""
        kept = _set_aside(self.backup, "") if self.backup is not None else None
        known, self._known = self._known, found
        try:
            self._rewrite()
        except KnowledgeError:  # it stays what it is: an edit that is not taken up yet
            self._known = known
            if kept is not None and self.backup is not None:
                kept.replace(self.backup)
            raise
        before = f"; what it was before is in {kept.name}" if kept is not None else ""
        self._tell(f"{self.name} was changed by hand, and that counts{before}")

    def _fall_back(self, found: Found) -> bool:
        """The backup takes the place of what is damaged or gone; whether there was a usable one."""
        backup = self._read(self.backup) if self.backup is not None else Found("missing", {})
        aside = _set_aside(self.path, "damaged")
        if self.backup is not None and backup.condition == "damaged":
            _set_aside(self.backup, "damaged")
        self._known = Found("missing", backup.document)
        usable = backup.condition in ("sound", "edited")
        if usable:
            self._rewrite()
        what = f"cannot be used ({one_line(found.problem)})" if aside else "is missing"
        then = (
            "its backup has taken its place"
            if usable
            else "it has no usable backup, so nothing of it is known"
        )
        kept = f"; it is kept as {aside.name}" if aside is not None else ""
        self._tell(f"{self.name} {what}: {then}{kept}")
        return usable

    def _rewrite(self) -> None:
        """What is known, with its checksum; when it was last updated stays what it was."""
        text = self._known.document.get("lastUpdated")
        try:
            at = datetime.fromisoformat(text) if isinstance(text, str) else datetime.now(UTC)
            at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
        except (ValueError, OverflowError):  # no date, or one that is in no year of UTC
            at = datetime.now(UTC)
        self.write(self.entries, at)


def _content(path: Path) -> bytes:
    with reading(path, below=path.parent) as file:
        size = os.fstat(file.fileno()).st_size
        content = file.read(LARGEST + 1) if size <= LARGEST else b""
    if max(size, len(content)) > LARGEST:  # it may grow while it is read
        raise ValueError(f"it is larger than {LARGEST // (1 << 20)} MB")
    return content


def refuse_other_version(document: Any, name: str) -> None:
    """``KnowledgeError`` where the JSON says that its form is not one that we know."""
    version = document.get("version", VERSION) if isinstance(document, dict) else VERSION
    if isinstance(version, str) and version.partition(".")[0] not in ("0", "1"):
        raise KnowledgeError(
            f"{name} is of version {one_line(version)[:20]}, which a newer program has "
            "written: bring ralph-tui up to date"
        )


def parsed(content: bytes) -> Any:
    """The JSON that it holds; ``ValueError`` that names the line."""
    try:
        return parse_json(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"line {line}: it is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}: it is no JSON ({error.msg})") from None
    except ValueError as error:
        # Python reads no number of thousands of digits, and says so at length.
        long = str(error).startswith("Exceeds the limit")
        raise ValueError("a number in it is too large" if long else str(error)) from None


def _stamp(path: Path) -> Stamp | None:
    try:
        there = path.lstat()
    except OSError:
        return None
    return there.st_dev, there.st_ino, there.st_size, there.st_mtime_ns


def _set_aside(path: Path, word: str) -> Path | None:
    """Rename it by the date of its last change; None when there is nothing."""
    try:
        changed = datetime.fromtimestamp(path.lstat().st_mtime, UTC)
    except FileNotFoundError:
        return None
    base = ".".join(part for part in (path.name, word, f"{changed:%Y%m%d-%H%M%S}") if part)
    target, number = path.with_name(base), 1
    while os.path.lexists(target):
        number += 1
        target = path.with_name(f"{base}-{number}")
    path.rename(target)
    return target


def _stats(before: Entry, entries: Sequence[Entry]) -> Entry:
    by_type = dict.fromkeys(_TYPES, 0)
    by_task: dict[str, int] = {}
    for entry in entries:
        by_type[entry["type"]] = by_type.get(entry["type"], 0) + 1
        task = entry.get("taskType", "general")
        by_task[task] = by_task.get(task, 0) + 1
    stats = {**before, "totalLearnings": len(entries), "byType": by_type}
    return {**stats, "byTaskType": by_task} if "byTaskType" in before else stats
