"""A journal that is looked back at: its lines are kept, and become events where they are asked for.

What a long record costs is to make its 100,000 events, most of which nobody looks at twice; what a
replay has to know of all of them is read off the lines. The file may go on growing, be cut,
replaced or deleted meanwhile: what was read of it stays.
"""

import re
from bisect import bisect_right
from datetime import datetime
from pathlib import Path

from ralph_tui.adapters.records import journal, refused
from ralph_tui.adapters.records.folders import from_here
from ralph_tui.adapters.records.newer import told_newer
from ralph_tui.adapters.records.tail import ReplacedError, Tail
from ralph_tui.events import Event, RunStarted
from ralph_tui.state.outline import TELLING, Outline

CUT_SHORT = "the journal was cut or replaced since it was opened; what was read before is shown"
GONE = "the journal was deleted since it was opened; what was read before is shown"
_HEAD = re.compile(rb'\{"seq":(\d+),"at":"([^"\\]+)","kind":"([^"\\]+)"')
"""How the writer begins a line; one that begins otherwise is read as a whole."""


_TELLING = frozenset({b"run_started", *(kind.encode() for kind in TELLING)})
"""Kinds whose events are read at once."""


class LazyJournal:
    """The events of a run, from its journal; one thread looks, any may read."""

    def __init__(self, path: Path) -> None:
        """Read what is there.

        Raises ``JournalError`` when there is no journal, it is empty, or it is not one of ours.
        """
        self.path = path
        self.outline = Outline()
        self._broken = ""
        """Which line is bad."""
        self._lost = ""
        """What became of the file."""
        self._lines: list[bytes] = []
        self._end: int | None = None
        """Events before the first bad line, once that is found."""
        self._started: RunStarted | None = None
        self._blank: list[int] = []
        """How many events stand before each line that is empty."""
        self._tail = Tail(path)
        refused.check_readable(path)
        while self.look():
            pass
        if not self._lines:
            raise refused.empty(path)

    def __len__(self) -> int:
        """How many events there are."""
        return len(self._lines) if self._end is None else self._end

    @property
    def problem(self) -> str:
        """One sentence about why this is not all; empty when it is."""
        return self._broken or self._lost

    @property
    def remark(self) -> str:
        """One sentence about what is not told of it; empty when all is."""
        newer = told_newer(self._started) if self._started else ""
        return newer or (journal.CUT_OFF if self._tail.rest else "")

    def events(self, start: int, stop: int) -> list[Event]:
        """Those from index `start` to before `stop`; fewer where a line turns out to be bad."""
        made: list[Event] = []
        for index in range(start, min(stop, len(self))):
            try:
                made.append(self._parse(self._lines[index]))
            except ValueError:
                self._break_off(index, "cannot be read")
                break
        return made

    def look(self) -> bool:
        """Take in some of what has come since the last look; whether there was any."""
        if self._broken or self._lost == CUT_SHORT:
            return False
        try:
            lines = self._tail.lines()
        except ReplacedError:
            self._lost = CUT_SHORT
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
        """It is looked at no more."""
        self._tail.close()

    def _skim(self, line: bytes) -> bool:
        """One line more of which only its time matters; False where it is to be looked at."""
        head = _HEAD.match(line)
        if not head or head[3] in _TELLING or int(head[1]) != len(self._lines) + 1:
            return False
        try:
            self.outline.at.append(datetime.fromisoformat(head[2].decode()).timestamp())
        except ValueError:
            return False
        self._lines.append(line)
        return True

    def _take(self, line: bytes) -> bool:
        """One line more, read as a whole; False where the record breaks off."""
        index = len(self._lines)
        try:
            event = self._parse(line)
        except ValueError:
            if not index:
                raise refused.not_ours(self.path, self._number(index)) from None
            return self._break_off(index, "cannot be read")
        if not index:
            if not isinstance(event, RunStarted):
                raise refused.not_the_start(self.path, self._number(index))
            self._started = event
        if event.seq != index + 1:
            return self._break_off(index, f"has number {event.seq} where {index + 1} belongs")
        self.outline.add(event.kind, event.at.timestamp(), lambda: event)
        self._lines.append(line)
        return True

    def _parse(self, line: bytes) -> Event:
        return journal.parse_line(line, self._started)

    def _break_off(self, index: int, why: str) -> bool:
        self._end = index
        place = f"{from_here(self.path)}:{self._number(index)}"
        self._broken = f"{place} {why}; what comes before it is shown"
        return False

    def _number(self, index: int) -> int:
        """The line of the file that an event stands in."""
        return index + 1 + bisect_right(self._blank, index)
