"""A knowledge file on disk: checked when read, repaired without loss, replaced as a whole.

Rules. Content that fits the schema counts, even with a wrong checksum, which only means that the
user edited the file. A file that does not fit is renamed after its date, and a usable backup
replaces it. Only content that was found to be sound is ever deleted or overwritten.
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
from ralph_tui.adapters.knowledge.locking import explain_refusal
from ralph_tui.adapters.knowledge.schema import VERSION, Entry, check
from ralph_tui.base.errors import KnowledgeError
from ralph_tui.base.file_lock import clear_unfinished
from ralph_tui.base.plain_files import NotPlainError, reading, write_whole
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.sanitize import one_line

LARGEST = 1 << 27
"""Maximum size of a file in bytes: enough for more than 200,000 learnings."""
_CLOSED = (errno.EACCES, errno.EPERM)
_TYPES = ("strategy", "antipattern", "estimate", "convention")

_NONE: list[Entry] = []

Condition = Literal["sound", "edited", "damaged", "missing"]
Repair = Literal["", "edited", "restored"]
"""The content used after a check: unchanged, the user's edit, or the older backup."""
Stamp = tuple[int, int, int, int]
"""Device, inode, size and time of change; they change with the file and its content."""


def checksum(entries: Sequence[Entry]) -> str:
    """Return the SHA-256 of the compact JSON; raise ``ValueError`` for numbers that JSON lacks."""
    return hashlib.sha256(stringify(entries).encode("utf-8")).hexdigest()


def moment(at: datetime) -> str:
    """Format a time like JavaScript's ``toISOString``, as in ``2026-11-20T08:49:29.814Z``."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def document_of(before: Entry, held: str, entries: Sequence[Entry], at: datetime) -> Entry:
    """Return a whole file with this list; other fields stay as in `before`."""
    document = {"version": VERSION, **before}
    document |= {"checksum": checksum(entries), "lastUpdated": moment(at)}
    document[held] = list(entries)
    if held == "learnings":
        document["stats"] = _stats(document.get("stats", {}), entries)
    return document


@dataclass(frozen=True)
class FileState:
    """The state of a file on disk."""

    condition: Condition
    document: Entry
    """Empty if the content cannot be used."""
    stamp: Stamp | None = None
    problem: str = ""
    """What is wrong with damaged content, without the file's name."""


class KnowledgeFile:
    """``ralph-learnings.json`` with its backup, or ``staging.json``, which has none."""

    def __init__(self, path: Path, held: str, *, backup: bool, warn: Callable[[str], None]) -> None:
        """`warn` is called with sentences for the user; `held` is ``learnings`` or ``staged``."""
        self.path = path
        self.held = held
        self.backup = path.with_name(f"{path.name}.bak") if backup else None
        self._warn = warn
        self._known = FileState("missing", {})
        """The content as last read or written."""
        self._found = self._known
        """The content as last read, sound or not, so that a repair need not read it again."""

    @property
    def name(self) -> str:
        """The name to show the user: the last three parts of the path."""
        return one_line("/".join(self.path.parts[-3:]))

    @property
    def entries(self) -> list[Entry]:
        """The list as last read; do not change it in place."""
        found: list[Entry] = self._known.document.get(self.held, _NONE)
        return found

    @property
    def checksum(self) -> str:
        """The checksum of the list as last read; empty if there is no file."""
        return str(self._known.document.get("checksum", ""))

    @property
    def stamp(self) -> Stamp | None:
        """A value that differs when the content does; None without content."""
        return self._known.stamp

    def refresh(self) -> bool:
        """Read the file if it has changed; return True if it is sound. Needs no lock.

        Raises ``KnowledgeError`` if a newer program wrote the file.
        """
        if (stamp := _stamp(self.path)) is not None and stamp == self._known.stamp:
            return True
        if stamp is None or stamp != self._found.stamp:
            self._found = self._read(self.path)
        found = self._found
        if found.condition == "missing" and not self._had_content():
            self._known = found
            return True
        if found.condition == "sound":
            self._known = found
            return True
        return False

    def repair(self) -> Repair:
        """Read the file, repair it if it is not sound, and return how it was repaired.

        The caller must hold the lock. Raises ``KnowledgeError``.
        """
        if self.refresh():
            return ""
        try:
            return self._repair(self._found)
        except OSError as error:
            raise self._failure("mended", error) from error

    def write(self, entries: Sequence[Entry], at: datetime) -> None:
        """Replace the list. Raises ``KnowledgeError``.

        The caller must hold the lock, and the file must be sound.
        """
        document = document_of(self._known.document, self.held, entries, at)
        content = (stringify(document, 2) + "\n").encode("utf-8")
        if len(content) > LARGEST:
            raise KnowledgeError(
                f"{self.name} cannot be written, because it would exceed "
                f"{LARGEST // (1 << 20)} MB, the largest size that can be read; "
                "make it smaller by hand, or move it"
            )
        try:
            clear_unfinished(self.path, below=self.path.parent)
            if self.backup is not None and self._known.stamp is not None:
                clear_unfinished(self.backup, below=self.path.parent)
                self._move_folder_aside(self.backup)
                write_whole(self.backup, _content(self.path), below=self.path.parent)
            write_whole(self.path, content, below=self.path.parent)
            self._known = self._found = FileState("sound", document, _stamp(self.path))
        except OSError as error:
            raise self._failure("written", error) from error

    def _move_folder_aside(self, backup: Path) -> None:
        """Rename a folder that has the backup's name, because its content may be needed."""
        if backup.is_dir() and not backup.is_symlink():
            kept = _set_aside(backup, "damaged")
            name = kept.name if kept is not None else ""
            self._warn(f"{self.name}.bak is a folder; it is kept as {name}")

    def _failure(self, be_done: str, error: OSError) -> KnowledgeError:
        return KnowledgeError(
            f"{self.name} cannot be {be_done}: {one_line(explain_refusal(error))}"
        )

    def _had_content(self) -> bool:
        """True if there was content before, or if a backup shows that there was."""
        return bool(self.entries) or (self.backup is not None and os.path.lexists(self.backup))

    def _read(self, path: Path) -> FileState:
        try:
            stamp = _stamp(path)
            document = load_json(_content(path))
            refuse_other_version(document, self.name)
            check(document, self.held)
            if document.get("checksum") == checksum(document[self.held]):
                return FileState("sound", document, stamp)
            return FileState("edited", document, stamp)
        except FileNotFoundError:
            return FileState("missing", {})
        except OSError as error:
            if not (isinstance(error, NotPlainError) or error.errno in _CLOSED):
                raise self._failure("read", error) from error  # its content may still be valid
            return FileState("damaged", {}, problem=error.strerror or str(error))
        except ValueError as error:
            return FileState("damaged", {}, problem=str(error))

    def _repair(self, found: FileState) -> Repair:
        if found.condition == "edited":
            self._accept(found)
            return "edited"
        if found.condition == "missing" and self.entries and not self._is_outdated():
            self._known = FileState("missing", self._known.document)
            self._rewrite()
            self._warn(
                f"{self.name} was deleted while in use and has been restored; to delete a "
                "learning, use 'ralph-tui memory delete'"
            )
            return ""
        return "restored" if self._fall_back(found) else ""

    def _is_outdated(self) -> bool:
        """True if the backup is newer than the known content, because others write it too."""
        if self.backup is None:
            return False
        backup = self._read(self.backup)
        known, kept = (
            one.get("lastUpdated", "") for one in (self._known.document, backup.document)
        )
        return backup.condition == "sound" and kept > known

    def _accept(self, found: FileState) -> None:
        """Accept an edit by the user, and save the previous content, which is in the backup."""
        kept = _set_aside(self.backup, "") if self.backup is not None else None
        known, self._known = self._known, found
        try:
            self._rewrite()
        except KnowledgeError:  # the edit has not been accepted
            self._known = known
            if kept is not None and self.backup is not None:
                kept.replace(self.backup)
            raise
        before = f"; its old content is in {kept.name}" if kept is not None else ""
        self._warn(f"{self.name} was edited by hand; your version is used{before}")

    def _fall_back(self, found: FileState) -> bool:
        """Replace a damaged or missing file with its backup; return False if that is unusable."""
        backup = self._read(self.backup) if self.backup is not None else FileState("missing", {})
        aside = _set_aside(self.path, "damaged")
        if self.backup is not None and backup.condition == "damaged":
            _set_aside(self.backup, "damaged")
        self._known = FileState("missing", backup.document)
        usable = backup.condition in ("sound", "edited")
        if usable:
            self._rewrite()
        what = f"cannot be used ({one_line(found.problem)})" if aside else "is missing"
        then = (
            "its backup was used instead"
            if usable
            else "it has no usable backup, so its learnings are lost"
        )
        kept = f"; it is kept as {aside.name}" if aside is not None else ""
        self._warn(f"{self.name} {what}: {then}{kept}")
        return usable

    def _rewrite(self) -> None:
        """Write the known content with its checksum; its update time stays the same."""
        text = self._known.document.get("lastUpdated")
        try:
            at = datetime.fromisoformat(text) if isinstance(text, str) else datetime.now(UTC)
            at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
        except (ValueError, OverflowError):  # not a date, or out of range in UTC
            at = datetime.now(UTC)
        self.write(self.entries, at)


def _content(path: Path) -> bytes:
    with reading(path, below=path.parent) as file:
        size = os.fstat(file.fileno()).st_size
        content = file.read(LARGEST + 1) if size <= LARGEST else b""
    if max(size, len(content)) > LARGEST:  # it may grow while being read
        raise ValueError(f"it is larger than {LARGEST // (1 << 20)} MB")
    return content


def refuse_other_version(document: Any, name: str) -> None:
    """Raise ``KnowledgeError`` if the JSON names a version that we do not know."""
    version = document.get("version", VERSION) if isinstance(document, dict) else VERSION
    if isinstance(version, str) and version.partition(".")[0] not in ("0", "1"):
        raise KnowledgeError(
            f"{name} has version {one_line(version)[:20]} from a newer program; update ralph-tui"
        )


def load_json(content: bytes) -> Any:
    """Parse JSON; raise a ``ValueError`` that names the line."""
    try:
        return parse_json(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"line {line}: it is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}: it is not JSON ({error.msg})") from None
    except ValueError as error:
        # Python's error message for a number with thousands of digits is long.
        long = str(error).startswith("Exceeds the limit")
        raise ValueError("a number in it is too large" if long else str(error)) from None


def _stamp(path: Path) -> Stamp | None:
    try:
        there = path.lstat()
    except OSError:
        return None
    return there.st_dev, there.st_ino, there.st_size, there.st_mtime_ns


def _set_aside(path: Path, word: str) -> Path | None:
    """Rename a file after the date of its last change; return the new path, or None."""
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
