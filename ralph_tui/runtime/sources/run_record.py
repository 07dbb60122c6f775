"""What is on disk of a run, for its screen: its report, its events, files that its user takes away.

Rule: nothing is written over, and nothing comes to lie where an agent works or git would see it.
Files lie beside the run's journal; where that is none of our records, or goes with its demo, they
lie in a folder of their own where the command was typed.
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
from ralph_tui.state.seen import Seen
from ralph_tui.text.sanitize import one_line

INSIDE, ELSEWHERE = "exports", "ralph-tui-exports"
"""The folder beside a journal, and the one where the command was typed."""


class RunRecord:
    """See `ports.source.OnDisk`, which it implements."""

    def __init__(self, journal: Path, recording: Recording | None = None) -> None:
        """`recording`: what was read of the journal; without it, it is read whenever asked."""
        self._journal = journal.absolute()
        self._run = RecordedRun(self._journal)
        first = recording.events[0] if recording is not None and recording.events else None
        foreign = isinstance(first, RunStarted) and first.imported
        self.worktree = None if foreign else worktree_around(self._journal.parent)
        self._recording = recording

    @property
    def fleet(self) -> FleetWork | None:
        return None

    def report(self) -> str:
        # It loads git; few screens need it.
        from ralph_tui.runtime.sources.reporting import report_of  # noqa: PLC0415

        return report_of(self._read(), worktree_root(self._journal.parent))

    def events(self) -> str:
        return "".join(f"{event.model_dump_json()}\n" for event in self._read().events)

    def write(self, name: str, text: str) -> Path:
        """See `OnDisk`: ``screen.svg``, then ``screen-2.svg`` and so on."""
        path = Path(name)
        try:
            folder, own = self._folder()
            path = folder / name
            if own:
                make_folder(folder)
            else:
                keep_out(folder)
            path, file = _fresh(path)
            _fill(path, file, text)
        except OSError as error:
            advice = why(error, "make the folder writable")
            raise RalphError(f"cannot write {one_line(str(from_here(path)))}: {advice}") from error
        return path

    def last_sign(self) -> datetime | None:
        """See `OnDisk`: how it stands is written once a second, also while it waits."""
        if self.worktree is None:  # a copy was written when it was copied
            return None
        with suppress(OSError):
            return datetime.fromtimestamp(self._run.status.stat().st_mtime, UTC)
        return None

    def seen(self) -> Seen | None:
        if self.worktree is None:
            return None
        return read_seen(ralph_folder(self.worktree), self._run.name)

    def put_down(self, seen: Seen) -> None:
        if self.worktree is not None and self._journal.exists():
            write_seen(ralph_folder(self.worktree), self._run.name, seen)

    def _read(self) -> Recording:
        return self._recording if self._recording is not None else read_journal(self._journal)

    def _folder(self) -> tuple[Path, bool]:
        """Where files are written, and whether that is within our records."""
        attempt = self._journal.parent
        goes = any(part.startswith(SCRATCH) for part in attempt.parts)
        ours = self.worktree is not None and not goes
        return (attempt / INSIDE, True) if ours else (Path.cwd() / ELSEWHERE, False)


def _fresh(path: Path) -> tuple[Path, BinaryIO]:
    """An empty file of this name, or of the first one like it that nobody has."""
    for number in count(1):
        free = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
        with suppress(FileExistsError):
            return free, fresh(free)
    raise AssertionError  # numbers do not end


def _fill(path: Path, file: BinaryIO, text: str) -> None:
    """Write the whole of it, or leave nothing behind."""
    try:
        with file:
            write_all(file, text.encode("utf-8", "replace"))
            os.fsync(file.fileno())
    except OSError:
        with suppress(OSError):
            path.unlink()
        raise
