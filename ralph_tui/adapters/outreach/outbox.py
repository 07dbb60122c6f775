"""Messages saved until they are delivered, even after the end of the run or the process.

Each message and channel has a file in ``.aiwg/ralph/outbox``. It is marked before an attempt and
removed after a success. If a process dies in between, the file stays marked. Then a tracker is
searched for the message before a new issue is opened, and a webhook gets the same
``Idempotency-Key`` again.

The agent can also write here, so files are foreign text and are sent only to the channels in the
settings.
"""

import hashlib
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import ValidationError

from ralph_tui.adapters.outreach.message import Message
from ralph_tui.adapters.records.files import read_json, write_json
from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.events.base import Fact

MAX_FILES = 100
"""Maximum number of messages per channel; beyond that, the oldest are removed."""
MAX_BYTES = 1 << 18
"""Maximum size of a file in bytes."""
LONGEST_AGE = timedelta(days=7)
MAX_RUNS = 100
"""Maximum number of runs whose issues are remembered."""


def outbox_folder(root: Path) -> Path:
    """Return the folder of a worktree's undelivered messages."""
    return ralph_folder(root) / "outbox"


class _File(Fact):
    version: int = 1
    attempted: bool = False
    message: Message


@dataclass
class QueuedMessage:
    """A message that is waiting for one channel."""

    message: Message
    path: Path | None
    """None if the message could not be written to disk; it is lost when the process ends."""
    attempted: bool = False
    """True if an attempt has begun, so that the message may have arrived."""
    left_over: bool = False
    """True if an earlier run left it."""


class Outbox:
    """Undelivered messages of one channel, oldest first."""

    def __init__(self, folder: Path, channel: str) -> None:
        """`folder` is created with the first message."""
        self._folder = folder
        self._channel = channel

    def put(self, message: Message) -> QueuedMessage:
        """Save a message; if there are too many, the oldest are removed."""
        mark = hashlib.sha256(message.key.encode()).hexdigest()[:12]
        name = f"{message.raised:%Y%m%dT%H%M%S%f}-{mark}-{self._channel}.json"
        entry = QueuedMessage(message, self._folder / name)
        self._write(entry)
        for path in self._files()[:-MAX_FILES]:
            _unlink(path)
        return entry

    def waiting(self, now: datetime) -> deque[QueuedMessage]:
        """Return messages left by earlier runs, and remove those that are too old."""
        found: deque[QueuedMessage] = deque()
        for path in self._files():
            file = _read(path)
            if file is None:
                continue
            if now - file.message.raised > LONGEST_AGE:
                _unlink(path)
            else:
                found.append(QueuedMessage(file.message, path, file.attempted, left_over=True))
        return found

    def mark(self, entry: QueuedMessage) -> None:
        """Record on disk that an attempt is beginning."""
        entry.attempted = True
        self._write(entry)

    def remove(self, entry: QueuedMessage) -> None:
        """Remove a message that has been delivered or never will be."""
        if entry.path is not None:
            _unlink(entry.path)

    def _files(self) -> list[Path]:
        with suppress(OSError):
            return sorted(self._folder.glob(f"*-{self._channel}.json"))
        return []

    def _write(self, entry: QueuedMessage) -> None:
        if entry.path is None:
            return
        file = _File(attempted=entry.attempted, message=entry.message)
        try:
            # Not synced to disk, because the engine is waiting for this.
            write_json(entry.path, file.model_dump(mode="json"), durable=False)
        except OSError:
            entry.path = None


class IssueNumbers:
    """The issue number of each run, so that a resumed run comments on its own issue."""

    def __init__(self, folder: Path, tracker: str) -> None:
        """`tracker` identifies the repository, because numbers differ between repositories."""
        self._path = folder / "issues.json"
        self._tracker = tracker
        self._new: dict[str, int | None] = {}
        """Issue numbers from this process, kept in memory in case the disk is full."""

    def get(self, run_id: str) -> int | None:
        key = self._key(run_id)
        number = self._new[key] if key in self._new else self._read().get(key)
        return number if isinstance(number, int) and number > 0 else None

    def put(self, run_id: str, number: int | None) -> None:
        key = self._key(run_id)
        self._new[key] = number
        known = {name: value for name, value in self._read().items() if name != key}
        if number is not None:
            known[key] = number
        with suppress(OSError):
            write_json(self._path, dict(list(known.items())[-MAX_RUNS:]), durable=False)

    def _key(self, run_id: str) -> str:
        return f"{self._tracker} {run_id}"

    def _read(self) -> dict[str, object]:
        return (read_json(self._path) or {}) if _small_file(self._path) else {}


def _read(path: Path) -> _File | None:
    try:
        return _File.model_validate(read_json(path)) if _small_file(path) else None
    except ValidationError:
        return None


def _small_file(path: Path) -> bool:
    try:
        return path.lstat().st_size <= MAX_BYTES
    except OSError:
        return False


def _unlink(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
