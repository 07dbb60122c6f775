"""The journal of a loop whose sessions ralph-tui did not start: lines as those of a run's own.

Who appends holds the lock of the state file. A line that a killed call has left torn is cut.
"""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ralph_tui.errors import RalphError, why
from ralph_tui.plain_files import is_plain, make_folder, open_plain, write_whole
from ralph_tui.text.foreign_json import parse_json

Fields = dict[str, Any]
"""An event without its number and time."""

RECORDS = Path(".aiwg") / "ralph"
NAME = "events.jsonl"
_TAIL = 1 << 16
"""Bytes in which the last line stands."""


def folder_of(root: Path, name: str) -> Path:
    """Where the journal of a loop lies."""
    return root / RECORDS / "hooks" / name


def has_begun(folder: Path) -> bool:
    """Whether anything was recorded."""
    try:
        return (folder / NAME).lstat().st_size > 0
    except OSError:
        return False


def append(folder: Path, events: list[Fields], now: datetime) -> None:
    """Number, stamp and write events; ``RalphError``, and then nothing of them is there."""
    if not events:
        return
    path = folder / NAME
    try:
        descriptor = _open(path)
        try:
            _append(descriptor, path, events, now)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise RalphError(
            f"what the hooks see cannot be recorded in {path}: {why(error, 'make it writable')}"
        ) from error


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
    try:
        return open_plain(path, flags, 0o600)
    except FileNotFoundError:
        records = path.parents[2]
        make_folder(records)
        if not is_plain(records / ".gitignore"):
            write_whole(records / ".gitignore", b"*\n", durable=False)
        make_folder(path.parent)
        return open_plain(path, flags, 0o600)


def _append(descriptor: int, path: Path, events: list[Fields], now: datetime) -> None:
    size = os.fstat(descriptor).st_size
    tail = os.pread(descriptor, _TAIL, max(0, size - _TAIL))
    end = tail.rfind(b"\n") + 1
    if end < len(tail):
        size -= len(tail) - end
        os.ftruncate(descriptor, size)
    seq, at = _last(tail[:end], path) if size else (0, datetime.fromtimestamp(0, UTC))
    at = max(at, now)
    lines = b""
    for number, event in enumerate(events, seq + 1):
        stamped = {"seq": number, "at": f"{at:%Y-%m-%dT%H:%M:%S.%fZ}", **event}
        # As compact as a run's own lines: by their form they are known without being parsed.
        line = json.dumps(stamped, ensure_ascii=False, separators=(",", ":"))
        lines += line.encode("utf-8", "replace") + b"\n"
    try:
        written = os.write(descriptor, lines)
        while written < len(lines):
            written += os.write(descriptor, lines[written:])
    except OSError:
        os.ftruncate(descriptor, size)
        raise


def _last(tail: bytes, path: Path) -> tuple[int, datetime]:
    """Number and time of the last line. Raises ``RalphError``."""
    line = tail.rstrip(b"\n").rpartition(b"\n")[2]
    try:
        event = parse_json(line)
        at = datetime.fromisoformat(event["at"])
        return int(event["seq"]), at if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, TypeError, KeyError) as error:
        raise RalphError(
            f"the last line of {path} cannot be read, so nothing more is recorded there: move the "
            "file out of the way, and a new one is begun"
        ) from error
