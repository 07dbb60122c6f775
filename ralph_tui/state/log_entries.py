"""Entries of the log: one per episode, with what came of it nested below.

Rule: a row is told once, in one entry. An entry grows at its end; what a row says may be brought up
to date, its time and its place stay.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from ralph_tui.events import AlarmRaised, Event, InterventionMade, Row
from ralph_tui.state.fold import Part
from ralph_tui.text.terms import LEVELS, RowLevel

Kind = Literal[
    "episode",  # an alarm or a question of the overseer about progress, until it is over
    "guidance",
    "pause",
    "wait",
    "question",
    "restore",
    "context",  # a window that fills, and the handoff that follows
    "denied",
    "end",  # an end of the run, wished for or not, and its resume
    "notice",  # all else
]


@dataclass(frozen=True, slots=True)
class LogRow:
    """One fact; `detail` is its evidence, opened on demand."""

    seq: int
    at: datetime
    iteration: int
    level: RowLevel
    word: str
    """LOG, WARN, STUCK...: severity is never told by colour alone. A nested row may have none."""
    text: str
    detail: str = ""

    @property
    def glyph(self) -> str:
        """Severity as a mark."""
        return LEVELS[self.level].glyph


@dataclass(slots=True)
class LogEntry:
    """What happened, and what came of it."""

    number: int
    """Its place in the log, from 0."""
    kind: Kind
    head: LogRow
    follow: list[LogRow] = field(default_factory=list)
    """What was done, who decided, what it changed, how it ended; oldest first."""
    times: int = 1
    """How often it came in the very same words."""
    last: int = 0
    """The iteration in which it came last."""
    open: bool = False
    """It is not over yet; what has no end is never open."""

    @property
    def rows(self) -> list[LogRow]:
        """The head, and what follows it."""
        return [self.head, *self.follow]


class LogEntries(Part):
    """The list, and the only way to change it."""

    def __init__(self) -> None:
        self.all: list[LogEntry] = []
        self.iteration = 0
        self.recomputed = False
        """Another tool has recorded the run: what our layers make of it, they make of it now."""
        self.asking: LogEntry | None = None
        """Where the question that was asked last is told."""
        self._clock = 0
        self._touched: dict[int, int] = {}
        """By number of an entry when it was changed last, in that order."""

    def changed_since(self, clock: int) -> tuple[int, int]:
        """The clock now, and the first entry that was changed or added since `clock`."""
        first = len(self.all)
        for number in reversed(self._touched):
            if self._touched[number] <= clock:
                break
            first = min(first, number)
        return self._clock, first

    def add(
        self, event: Event, row: Row, kind: Kind = "notice", *, going: bool = False
    ) -> LogEntry:
        """A new entry at the end."""
        head = self._row(event, row)
        entry = LogEntry(len(self.all), kind, head, last=head.iteration, open=going)
        self.all.append(entry)
        self._touch(entry)
        return entry

    def nest(self, entry: LogEntry, event: Event, row: Row) -> LogRow:
        """A row below an entry."""
        entry.follow.append(self._row(event, row))
        self._touch(entry)
        return entry.follow[-1]

    def again(self, entry: LogEntry) -> None:
        """It came once more, in the same words."""
        entry.times += 1
        entry.last = self.iteration
        self._touch(entry)

    def amend(self, entry: LogEntry, seq: int, **changes: Any) -> None:
        """Bring the row of event `seq` up to date."""
        if entry.head.seq == seq:
            entry.head = replace(entry.head, **changes)
        for index in range(len(entry.follow) - 1, -1, -1):
            if entry.follow[index].seq == seq:
                entry.follow[index] = replace(entry.follow[index], **changes)
                break
        self._touch(entry)

    def close(self, entry: LogEntry) -> None:
        """It is over."""
        entry.open = False
        self._touch(entry)

    def _row(self, event: Event, row: Row) -> LogRow:
        if self.recomputed and isinstance(event, AlarmRaised | InterventionMade):
            row = row._replace(text=f"recomputed: {row.text}".removesuffix(": "))
        return LogRow(event.seq, event.at, self.iteration, *row)

    def _touch(self, entry: LogEntry) -> None:
        self._clock += 1
        self._touched.pop(entry.number, None)
        self._touched[entry.number] = self._clock
