"""Entries of the log: one per episode, with its consequences nested below.

Rule: a row appears once, in one entry. New rows go at the end of an entry. A row's text may be
updated, but not its time and place.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

from ralph_tui.events import AlarmRaised, Event, InterventionMade, Row
from ralph_tui.state.fold import Part
from ralph_tui.text.terms import LEVELS, RowLevel

Kind = Literal[
    "episode",  # an alarm or a question of the overseer about progress, until it ends
    "guidance",
    "pause",
    "wait",
    "question",
    "restore",
    "context",  # a window that fills up, and the handoff that follows
    "denied",
    "end",  # an end of the run, requested or not, and its resume
    "notice",  # everything else
]


class LogRow(NamedTuple):
    """One fact; `detail` is its evidence, opened on demand."""

    seq: int
    at: datetime
    iteration: int
    level: RowLevel
    word: str
    """LOG, WARN, STUCK and so on: colour alone must not show severity. May be empty if nested."""
    text: str
    detail: str = ""

    @property
    def glyph(self) -> str:
        return LEVELS[self.level].glyph


@dataclass(slots=True)
class LogEntry:
    """An event and its consequences."""

    number: int
    """Position in the log, from 0."""
    kind: Kind
    head: LogRow
    follow: list[LogRow] = field(default_factory=list)
    """Rows about actions, decisions, effects and the end, oldest first."""
    times: int = 1
    """How many times the same text was reported."""
    last: int = 0
    """The iteration of the latest report."""
    open: bool = False
    """True until the episode ends; entries without an end are never open."""

    @property
    def rows(self) -> list[LogRow]:
        """The head and the rows that follow it."""
        return [self.head, *self.follow]


class LogEntries(Part):
    """The list of entries and the only way to change it."""

    def __init__(self) -> None:
        self.all: list[LogEntry] = []
        self.iteration = 0
        self.recomputed = False
        """True for a run recorded by another tool: our layers compute their findings now."""
        self.asking: LogEntry | None = None
        """The log entry for the latest question."""
        self._clock = 0
        self._touched: dict[int, int] = {}
        """Clock value of each entry's last change, by entry number, in order of change."""

    def changed_since(self, clock: int) -> tuple[int, int]:
        """Return the current clock and the first entry that was changed or added since `clock`."""
        first = len(self.all)
        for number in reversed(self._touched):
            if self._touched[number] <= clock:
                break
            first = min(first, number)
        return self._clock, first

    def add(
        self, event: Event, row: Row, kind: Kind = "notice", *, going: bool = False
    ) -> LogEntry:
        """Add an entry at the end and return it."""
        head = self._row(event, row)
        entry = LogEntry(len(self.all), kind, head, last=head.iteration, open=going)
        self.all.append(entry)
        self._touch(entry)
        return entry

    def nest(self, entry: LogEntry, event: Event, row: Row) -> LogRow:
        """Add a row below an entry and return it."""
        entry.follow.append(self._row(event, row))
        self._touch(entry)
        return entry.follow[-1]

    def again(self, entry: LogEntry) -> None:
        """Count a repeat of the same text."""
        entry.times += 1
        entry.last = self.iteration
        self._touch(entry)

    def amend(self, entry: LogEntry, seq: int, **changes: Any) -> None:
        """Update the row of event `seq`."""
        if entry.head.seq == seq:
            entry.head = entry.head._replace(**changes)
        for index in range(len(entry.follow) - 1, -1, -1):
            if entry.follow[index].seq == seq:
                entry.follow[index] = entry.follow[index]._replace(**changes)
                break
        self._touch(entry)

    def close(self, entry: LogEntry) -> None:
        """Mark the entry as ended."""
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
