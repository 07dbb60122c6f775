"""The mirror of a loop's run: its journal line by line, and its ``status.json``.

It is a cache of what lies where the loop runs, and can be fetched again: what is broken in it is
dropped. What comes for it is untrusted: each line is read as an event and written as it was read.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ralph_tui.adapters.records.files import write_json
from ralph_tui.adapters.records.journal import parse_line
from ralph_tui.adapters.records.runs import STATUS_VERSION, RecordedRun
from ralph_tui.errors import why, workspace_error
from ralph_tui.events import Event, RunStarted
from ralph_tui.events.text import cleaned
from ralph_tui.plain_files import make_folder, open_plain, reading

MOST_STATUS = 400
"""Fields of a ``status.json`` that are kept."""


class GapError(ValueError):
    """Lines came that do not follow the last one: they have to be asked for from there."""


class Mirror:
    """The mirror of one attempt; one writer."""

    def __init__(self, folder: Path) -> None:
        """Go on behind what is in `folder`; nothing need be there.

        Raises ``WorkspaceError`` where it cannot be written.
        """
        self.run = RecordedRun(folder / "events.jsonl")
        self.seq = 0
        """The last event that it has."""
        self._started: RunStarted | None = None
        try:
            make_folder(folder)
            self._recall()
        except OSError as error:
            raise self._refused(error) from error

    @property
    def run_id(self) -> str:
        """Of the run; empty: nothing of it is known."""
        return self._started.run_id if self._started else ""

    def append(self, first: int, lines: Sequence[str | bytes]) -> list[Event]:
        """Take lines in, the first with number `first`; gives back those that were new.

        Raises `GapError` where lines between are missing, ``ValueError`` for what is no event of
        this run (what came before it is kept), ``WorkspaceError`` where it cannot be written.
        """
        if first > self.seq + 1:
            raise GapError(f"event {first} came where {self.seq + 1} belongs")
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
        """Keep what the run's status file says; gives it back with every text sanitized.

        Raises ``ValueError`` for what is no such file, or of another run.
        """
        run_id = self._started.run_id if self._started else status.get("run_id")
        ours = status.get("version") == STATUS_VERSION and isinstance(status.get("phase"), str)
        if not ours or status.get("run_id") != run_id or len(status) > MOST_STATUS:
            raise ValueError("it is no status of this loop's run")
        kept: dict[str, Any] = cleaned(dict(status))
        try:
            write_json(self.run.status, kept, durable=False)
        except OSError as error:
            raise self._refused(error) from error
        return kept

    def _read(self, line: str | bytes, number: int) -> Event:
        event = parse_line(line.encode() if isinstance(line, str) else line, self._started)
        if event.seq != number:
            raise ValueError(f"event {event.seq} came where {number} belongs")
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
            raise self._refused(error) from error

    def _recall(self) -> None:
        """Take up what is there, and cut off what cannot be read."""
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

    def _refused(self, error: OSError) -> Exception:
        what = why(error, "make the folder writable")
        return workspace_error(f"cannot write to {self.run.folder}: {what}", error)
