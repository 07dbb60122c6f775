"""A journal for replay, whose lines are parsed only when their events are needed.

Parsing the 100,000 events of a long record would take a long time, and most are never viewed. What
replay needs to know about every event is read from the raw lines. Meanwhile, the file may grow or
be cut, replaced or deleted; lines that have been read are kept.
"""

from bisect import bisect_right
from datetime import datetime
from pathlib import Path

from ralph_tui.adapters.records import journal, refused
from ralph_tui.adapters.records.folders import from_here
from ralph_tui.adapters.records.newer import newer_sentence
from ralph_tui.adapters.records.tail import ReplacedError, Tail
from ralph_tui.events import WRITTEN_HEAD, Event, RunStarted
from ralph_tui.state.outline import PARSED_KINDS, Outline

TRUNCATED = "the journal has been cut or replaced since it was opened; showing what was read before"
GONE = "the journal has been deleted since it was opened; showing what was read before"

_OUTLINED = frozenset({b"run_started", *(kind.encode() for kind in PARSED_KINDS)})
"""Kinds of events that are parsed at once."""


class LazyJournal:
    """The events of a run, from its journal. Only one thread may call `look`; any may read."""

    def __init__(self, path: Path) -> None:
        """Read the existing lines.

        Raises ``JournalError`` if the journal is missing, empty or not one of ours.
        """
        self.path = path
        self.outline = Outline()
        self._broken = ""
        """The message about the bad line, if any."""
        self._lost = ""
        """The message about a truncated, replaced or deleted file, if any."""
        self._lines: list[bytes] = []
        self._end: int | None = None
        """Number of events before the first bad line, once it is known."""
        self._started: RunStarted | None = None
        self._blank: list[int] = []
        """Number of events before each blank line."""
        self._tail = Tail(path)
        refused.check_readable(path)
        while self.look():
            pass
        if not self._lines:
            raise refused.empty(path)

    def __len__(self) -> int:
        return len(self._lines) if self._end is None else self._end

    @property
    def problem(self) -> str:
        """A sentence about why the record is incomplete; empty if it is complete."""
        return self._broken or self._lost

    @property
    def remark(self) -> str:
        """A sentence about what cannot be shown; empty if everything can be shown."""
        newer = newer_sentence(self._started) if self._started else ""
        return newer or (journal.CUT_OFF if self._tail.rest else "")

    def events(self, start: int, stop: int) -> list[Event]:
        """Return events `start` to `stop` (exclusive); fewer if a line is bad."""
        made: list[Event] = []
        for index in range(start, min(stop, len(self))):
            try:
                made.append(self._parse(self._lines[index]))
            except ValueError:
                self._stop_at(index, "cannot be read")
                break
        return made

    def look(self) -> bool:
        """Read some new lines; return True if there were any."""
        if self._broken or self._lost == TRUNCATED:
            return False
        try:
            lines = self._tail.lines()
        except ReplacedError:
            self._lost = TRUNCATED
            return False
        for line in lines:
            if self._skim(line):
                continue
            if not line.strip():
                self._blank.append(len(self._lines))
            elif not self._take(line):
                break
        if not lines:
            self._lost = "" if self._tail.named else GONE
        return bool(lines)

    def close(self) -> None:
        self._tail.close()

    def _skim(self, line: bytes) -> bool:
        """Add a line for which only the time is needed; return False if it must be parsed."""
        head = WRITTEN_HEAD.match(line)
        if not head or head[3] in _OUTLINED or int(head[1]) != len(self._lines) + 1:
            return False
        try:
            self.outline.at.append(datetime.fromisoformat(head[2].decode()).timestamp())
        except ValueError:
            return False
        self._lines.append(line)
        return True

    def _take(self, line: bytes) -> bool:
        """Parse and add a line; return False if the record is damaged there."""
        index = len(self._lines)
        try:
            event = self._parse(line)
        except ValueError:
            if not index:
                raise refused.foreign_line_error(self.path, self._number(index)) from None
            return self._stop_at(index, "cannot be read")
        if not index:
            if not isinstance(event, RunStarted):
                raise refused.wrong_start_error(self.path, self._number(index))
            self._started = event
        if event.seq != index + 1:
            return self._stop_at(index, f"has number {event.seq} instead of {index + 1}")
        self.outline.add(event.kind, event.at.timestamp(), lambda: event)
        self._lines.append(line)
        return True

    def _parse(self, line: bytes) -> Event:
        return journal.parse_line(line, self._started)

    def _stop_at(self, index: int, why: str) -> bool:
        self._end = index
        place = f"{from_here(self.path)}:{self._number(index)}"
        self._broken = f"{place} {why}; only earlier events are shown"
        return False

    def _number(self, index: int) -> int:
        """Return the line number of an event in the file."""
        return index + 1 + bisect_right(self._blank, index)
