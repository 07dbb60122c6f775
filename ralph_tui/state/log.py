"""The log of what happened: one entry per episode, for everything that a human should have noticed.

What other panes tell has no entry: a new best, an item of the plan, what a learning has helped.
"""

from functools import partial

from ralph_tui.events import (
    AgentChanged,
    AssessmentRefined,
    CriterionJudged,
    Event,
    GateFinished,
    JournalRestored,
    Noticed,
    PermissionsChanged,
    PromptEditRequested,
    ReadingTaken,
    SessionFinished,
    StandingInstructionChanged,
    StrategyPlanned,
    ToolDenied,
    UnknownEvent,
)
from ralph_tui.state.fold import Fold, Handlers, handlers_of, on
from ralph_tui.state.foreign import ForeignLog
from ralph_tui.state.goal import PASSES_BEFORE
from ralph_tui.state.log_affairs import Affairs
from ralph_tui.state.log_ends import Ends
from ralph_tui.state.log_entries import LogEntries, LogEntry, LogRow
from ralph_tui.state.log_episodes import Episodes
from ralph_tui.state.log_waits import Waits
from ralph_tui.state.memory_wording import MemoryRows
from ralph_tui.state.model_wording import MODEL_ROWS
from ralph_tui.state.roster_wording import changed_row
from ralph_tui.state.strategy_wording import StrategyRows
from ralph_tui.state.wording import (
    JOURNAL_RESTORED,
    ROWS,
    Row,
    Wording,
    gate_words,
    permit_words,
    session_words,
)
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.text.terms import permission_words

RAW_LIMIT = 300
"""Characters of the row of an event of a newer version; its detail has all."""


class LogFold(Fold):
    """What the log lists, oldest first. It grows with alarms and wishes, not with agent output."""

    def __init__(self) -> None:
        self._log = LogEntries()
        self._episodes = Episodes(self._log)
        self._memory, self._strategies = MemoryRows(), StrategyRows()
        self._nesting = (
            self._episodes,
            Affairs(self._log, self._episodes),
            Waits(self._log),
            Ends(self._log, self._episodes),
            ForeignLog(self._log),
        )
        self.parts = (self._log, *self._nesting, self._memory, self._strategies)
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
        """See `Fold`; the words of an event are told apart from where they go."""
        strategies = self._strategies
        alone: tuple[tuple[type[Event], Wording], ...] = (
            *((kind, MODEL_ROWS[kind]) for kind in (CriterionJudged, AssessmentRefined)),
            *self._memory.wordings(),
            *(row for row in strategies.wordings() if row[0] is not StrategyPlanned),
            *((kind, ROWS[kind]) for kind in (StandingInstructionChanged, PromptEditRequested)),
            on(ReadingTaken, _sensor),
            on(PermissionsChanged, _permissions),
            on(AgentChanged, changed_row),
            on(JournalRestored, lambda e: Row("warn", "RECORD", JOURNAL_RESTORED, e.path)),
            on(UnknownEvent, _newer),
        )
        once: tuple[tuple[type[Event], Wording], ...] = (
            on(GateFinished, _gate),
            on(SessionFinished, _session),
            (Noticed, ROWS[Noticed]),
        )
        planned = dict(strategies.wordings())[StrategyPlanned]
        return (
            *(row for part in self._nesting for row in handlers_of(part)),
            *((kind, partial(self._add, wording)) for kind, wording in alone),
            *((kind, partial(self._add_once, wording)) for kind, wording in once),
            on(StrategyPlanned, partial(self._strategy, planned)),
            *super().handlers(),
        )

    def _add(self, wording: Wording, event: Event) -> bool:
        row = wording(event)
        if row is not None:
            self._log.add(event, row)
        return row is not None

    def _strategy(self, wording: Wording, event: StrategyPlanned) -> bool:
        row = wording(event)
        if row is None or event.approach == "persist":
            return False
        entry = self._episodes.current
        if entry is None:
            self._log.add(event, row)
        else:
            self._log.nest(entry, event, row._replace(text=self._episodes.beyond(row.text)))
        return True

    def _add_once(self, wording: Wording, event: Event) -> bool:
        """What comes again has one entry: what it says then is nested, the same is counted."""
        row = wording(event)
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
            row = Row("warn", "DENIED", f"{event.tool}: {permit_words(event)}", event.message)
            self._told[kind] = self._log.add(event, row, "denied")
        return True


def _sensor(event: ReadingTaken) -> Row | None:
    if event.iteration == 0 or not event.restarted:
        return None
    return Row("warn", "SENSOR", f"completion is now read from {event.source}", event.note)


def _gate(event: GateFinished) -> Row | None:
    if event.error:
        return Row("warn", "TESTS", event.error, event.tail)
    if event.timed_out:
        return Row("warn", "TESTS", f"the completion command {gate_words(event)}", event.tail)
    if event.iteration == 0 and event.ok:
        return Row("warn", "TESTS", PASSES_BEFORE)
    return None


def _session(event: SessionFinished) -> Row | None:
    if event.limit is not None:
        return None  # the wait for it is told
    if event.outcome not in ("success", "stopped", "interrupted", "rolled_over"):
        return Row("warn", "AGENT", session_words(event))
    if event.outcome == "success" and event.reason:
        return Row("warn", "AGENT", event.reason)
    if event.leftovers:
        kind = "process" if event.leftovers == 1 else "processes"
        return Row("log", "AGENT", f"{event.leftovers} left-over {kind} stopped")
    return None


def _permissions(event: PermissionsChanged) -> Row:
    allow = f", allowed: {', '.join(event.allow)}" if event.allow else ""
    return Row(
        "owner", "PERMIT", f"{permission_words(event.mode)}{allow}, from the next session on"
    )


def _newer(event: UnknownEvent) -> Row:
    """An event of a newer version: a raw row, for it may matter."""
    return Row("log", "NEWER", clip(one_line(event.words), RAW_LIMIT), event.words)


__all__ = ["LogEntry", "LogFold", "LogRow"]
