"""The log of what happened: one entry per episode, for everything that a human should have noticed.

What other panes tell has no entry: a new best, an item of the plan, what a learning has helped.
"""

from functools import cache

from ralph_tui.events import (
    EVENT_TYPES,
    Event,
    GateFinished,
    LearningChanged,
    LearningPromoted,
    LearningsRetrieved,
    LearningStaged,
    Noticed,
    ReadingTaken,
    Row,
    SessionFinished,
    StrategyPlanned,
    ToolDenied,
    UnknownEvent,
    ValidationDone,
)
from ralph_tui.state.fold import Fold, Handlers, handlers_of
from ralph_tui.state.foreign import ForeignLog
from ralph_tui.state.log_affairs import Affairs
from ralph_tui.state.log_ends import Ends
from ralph_tui.state.log_entries import LogEntries, LogEntry, LogRow
from ralph_tui.state.log_episodes import Episodes
from ralph_tui.state.log_news import News
from ralph_tui.state.log_waits import Waits


class LogFold(Fold):
    """What the log lists, oldest first. It grows with alarms and wishes, not with agent output."""

    def __init__(self) -> None:
        self._log = LogEntries()
        self._episodes = Episodes(self._log)
        self._news = News()
        self._nesting = (
            self._episodes,
            Affairs(self._log, self._episodes),
            Waits(self._log),
            Ends(self._log, self._episodes),
            ForeignLog(self._log),
        )
        self.parts = (self._log, *self._nesting, self._news)
        self._told: dict[tuple[str, ...], LogEntry] = {}
        """What is told once: by word and sentence, its entry."""

    @property
    def entries(self) -> list[LogEntry]:
        """All of them."""
        return self._log.all

    @property
    def rows(self) -> list[LogRow]:
        """What all entries say, entry by entry."""
        return [row for entry in self.entries for row in entry.rows]

    def changed_since(self, clock: int) -> tuple[int, int]:
        """The clock now, and the first entry that was changed or added since `clock`."""
        return self._log.changed_since(clock)

    def handlers(self) -> Handlers:
        """See `Fold`; an event that has a row and is nested nowhere has an entry of its own."""
        known = [row for part in self._nesting for row in handlers_of(part)]
        known += super().handlers()
        taken = {kind for kind, _ in known}
        return (*known, *((kind, self._alone) for kind in _with_rows() if kind not in taken))

    def _alone(self, event: Event) -> bool:
        return self._add(event, event.row())

    def on_reading(self, event: ReadingTaken) -> bool:
        return self._add(event, event.row())

    def on_validated(self, event: ValidationDone) -> bool:
        return self._add(event, self._news.validated(event))

    def on_learning(
        self, event: LearningsRetrieved | LearningStaged | LearningPromoted | LearningChanged
    ) -> bool:
        return self._add(event, self._news.learned(event))

    def _add(self, event: Event, row: Row | None) -> bool:
        if row is not None:
            self._log.add(event, row)
        return row is not None

    def on_planned(self, event: StrategyPlanned) -> bool:
        row = self._news.planned(event)
        if row is None or event.approach == "persist":
            return False
        entry = self._episodes.current
        if entry is None:
            self._log.add(event, row)
        else:
            self._log.nest(entry, event, row._replace(text=self._episodes.beyond(row.text)))
        return True

    def on_repeated(self, event: GateFinished | SessionFinished | Noticed) -> bool:
        """What comes again has one entry: what it says then is nested, the same is counted."""
        row = event.row()
        if row is None:
            return False
        about, colon, rest = row.text.partition(": ")
        topic = (row.word, about) if colon else (row.word, row.text)
        whole = (row.word, about, rest)
        entry = self._told.get(whole) or self._told.get(topic)
        if entry is None:
            entry = self._told[topic] = self._log.add(event, row)
        elif whole in self._told:
            self._log.again(entry)
        else:
            where = f"iteration {self._log.iteration}: {rest}"
            self._log.nest(entry, event, row._replace(word="", text=where))
        self._told[whole] = entry
        return True

    def on_tool_denied(self, event: ToolDenied) -> bool:
        """Each kind of denial is told once and counted, with the lines that would permit it."""
        kind = ("DENIED", *(event.lines or (event.tool, event.message)))
        if kind in self._told:
            self._log.again(self._told[kind])
        else:
            self._told[kind] = self._log.add(event, event.row(), "denied")
        return True


@cache
def _with_rows() -> list[type[Event]]:
    kinds: list[type[Event]] = [*EVENT_TYPES.values(), UnknownEvent]
    return [kind for kind in kinds if kind.row is not Event.row]


__all__ = ["LogEntry", "LogFold", "LogRow"]
