"""The files of a run, for its screen: its report, its events, and the user's exports.

Nothing is overwritten, and no file is put where an agent works or git would see it. Exports go
beside the run's journal. If that is not in our records, or is deleted with its demo, they go to a
folder in the current directory.
"""

import os
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import BinaryIO

from ralph_tui.adapters.records.folders import (
    from_here,
    keep_out,
    ralph_folder,
    worktree_around,
    worktree_root,
)
from ralph_tui.adapters.records.journal import Recording, read_journal
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.adapters.records.seen import read_seen, write_seen
from ralph_tui.analysis.next_steps import SCRATCH
from ralph_tui.base.errors import RalphError, why
from ralph_tui.base.plain_files import fresh, make_folder, write_all
from ralph_tui.events import RunStarted
from ralph_tui.state.fleet_work import FleetWork
from ralph_tui.state.last_seen import LastSeen
from ralph_tui.text.sanitize import one_line

INSIDE, ELSEWHERE = "exports", "ralph-tui-exports"
"""Folders for exports: next to a journal, and in the current directory."""


class RunRecord:
    """Implements `ports.source.OnDisk` for a journal."""

    def __init__(self, journal: Path, recording: Recording | None = None) -> None:
        """`recording` is the journal if already read; otherwise it is read when needed."""
        self._journal = journal.absolute()
        self._run = RecordedRun(self._journal)
        first = recording.events[0] if recording is not None and recording.events else None
        foreign = isinstance(first, RunStarted) and first.imported
        self.worktree = None if foreign else worktree_around(self._journal.parent)
        self._recording = recording

    @property
    def fleet(self) -> FleetWork | None:
        # A mirror does not know the branch; the fleet's own screen does.
        return FleetWork(self._run.name, "", record=self._run.name) if self._run.loop else None

    def report(self) -> str:
        # Loads git, which few screens need.
        from ralph_tui.runtime.sources.build_report import build_report  # noqa: PLC0415

        return build_report(self._read(), worktree_root(self._journal.parent))

    def events(self) -> str:
        return "".join(f"{event.model_dump_json()}\n" for event in self._read().events)

    def write(self, name: str, text: str) -> Path:
        """Write a file with a free name: ``screen.svg``, then ``screen-2.svg`` and so on."""
        path = Path(name)
        try:
            folder, own = self._folder()
            path = folder / name
            if own:
                make_folder(folder)
            else:
                keep_out(folder)
            path, file = _create(path)
            _fill(path, file, text)
        except OSError as error:
            advice = why(error, "make the folder writable")
            raise RalphError(f"cannot write {one_line(str(from_here(path)))}: {advice}") from error
        return path

    def last_sign(self) -> datetime | None:
        """Return when the status was last written: once a second, even while the run waits."""
        if self.worktree is None:  # a copy has the time at which it was made
            return None
        with suppress(OSError):
            return datetime.fromtimestamp(self._run.status.stat().st_mtime, UTC)
        return None

    def seen(self) -> LastSeen | None:
        if self.worktree is None:
            return None
        return read_seen(ralph_folder(self.worktree), self._run.name)

    def save_seen(self, seen: LastSeen) -> None:
        if self.worktree is not None and self._journal.exists():
            write_seen(ralph_folder(self.worktree), self._run.name, seen)

    def _read(self) -> Recording:
        return self._recording if self._recording is not None else read_journal(self._journal)

    def _folder(self) -> tuple[Path, bool]:
        """Return where to write files, and whether that is within our records."""
        attempt = self._journal.parent
        goes = any(part.startswith(SCRATCH) for part in attempt.parts)
        ours = self.worktree is not None and not goes
        return (attempt / INSIDE, True) if ours else (Path.cwd() / ELSEWHERE, False)


def _create(path: Path) -> tuple[Path, BinaryIO]:
    """Create a file of this name, or of the first numbered one that is free."""
    for number in count(1):
        free = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
        with suppress(FileExistsError):
            return free, fresh(free)
    raise AssertionError  # the numbers never run out


def _fill(path: Path, file: BinaryIO, text: str) -> None:
    """Write the whole text, or leave nothing behind."""
    try:
        with file:
            write_all(file, text.encode("utf-8", "replace"))
            os.fsync(file.fileno())
    except OSError:
        with suppress(OSError):
            path.unlink()
        raise
