"""The log: one entry per episode, for everything that a human should notice.

Events that other panes show get no entry: a new best, a plan item, the effect of a learning.
"""

from datetime import datetime
from functools import cache

from ralph_tui import events as ev
from ralph_tui.state.fold import Fold, Handlers, Part, handlers_of
from ralph_tui.state.foreign import ForeignLog
from ralph_tui.state.log_entries import LogEntries, LogEntry, LogRow
from ralph_tui.state.log_episodes import Episodes
from ralph_tui.state.log_nesting import EntryNesting
from ralph_tui.state.log_news import News


class Ends(Part):
    """Nests the entries about the end of a run.

    An end joins the entry of the stop or abort that requested it; any other end, such as success,
    has its own entry. A resume joins the entry of the end.
    """

    def __init__(self, entries: LogEntries, episodes: Episodes) -> None:
        self._log = entries
        self._episodes = episodes
        self._ending: LogEntry | None = None
        """The entry for a requested or recorded end."""

    def on_stop(self, e: ev.StopRequested) -> None:
        if self._ending is not None and self._ending.open:
            self._log.nest(self._ending, e, e.row())
            if e.mode == "taken_back":
                self._log.close(self._ending)
                self._ending = None
        else:
            self._ending = self._log.add(e, e.row(), "end", going=True)

    def on_abort(self, e: ev.AbortRequested) -> bool | None:
        answer = self._episodes.consequence(e)
        if answer is not None:
            self._episodes.adopt("owner", answer)
            return False  # the answer's entry already says so
        if self._ending is not None and self._ending.open:
            self._log.nest(self._ending, e, e.row())
        else:
            self._ending = self._log.add(e, e.row(), "end", going=True)
        self._episodes.adopt("owner", self._ending)
        return None

    def on_finished(self, e: ev.RunFinished) -> None:
        entry = self._ending if e.outcome in ("interrupted", "aborted") else None
        if entry is not None and entry.open:
            self._log.nest(entry, e, e.row_asked_for())
            self._log.close(entry)
        else:
            self._ending = self._log.add(e, e.row(), "end")

    def on_crashed(self, e: ev.RunCrashed) -> None:
        self._ending = self._log.add(e, e.row(), "end")

    def on_resumed(self, e: ev.RunResumed) -> None:
        entry, self._ending = self._ending, None
        row = e.row()
        if entry is None:
            self._log.add(e, row, "end")
        else:
            self._log.nest(entry, e, row)
            self._log.close(entry)


class Waits(Part):
    """Nests the entries about pauses and waits.

    Consecutive waits for the same cause, without any agent work in between, share one entry.
    """

    def __init__(self, entries: LogEntries) -> None:
        self._log = entries
        self._pause: LogEntry | None = None
        self._paused_at: datetime | None = None
        self._wait: LogEntry | None = None
        self._waiting: ev.WaitStarted | None = None
        self._waited = 0.0
        """Total seconds of the consecutive waits so far."""

    def on_iteration(self, e: ev.IterationStarted) -> bool:
        self._wait = None
        return False

    def on_pause_wanted(self, e: ev.PauseRequested) -> None:
        self._pause = self._log.add(e, e.row(), "pause", going=True)
        self._paused_at = None

    def on_paused(self, e: ev.Paused) -> None:
        self._paused_at = e.at
        if self._pause is None:
            self._pause = self._log.add(e, e.row(), "pause", going=True)
        else:
            self._log.nest(self._pause, e, e.row_asked_for())

    def on_unpaused(self, e: ev.Unpaused) -> None:
        entry, since = self._pause, self._paused_at
        self._pause = self._paused_at = None
        if entry is None:
            self._log.add(e, e.row())
            return
        self._log.nest(entry, e, e.row_after(since))
        self._log.close(entry)

    def on_wait_started(self, e: ev.WaitStarted) -> None:
        entry, before = self._wait, self._waiting
        if entry is not None and before is not None and before.cause == e.cause and e.attempt > 1:
            last = entry.follow[-1].seq if entry.follow else entry.head.seq
            self._log.amend(entry, last, level="warn", text=e.again)
            entry.open = True
        else:
            self._waited = 0.0
            self._wait = self._log.add(e, e.row(), "wait", going=True)
        self._waiting = e

    def on_wait_ended(self, e: ev.WaitEnded) -> None:
        entry, self._waited = self._wait, self._waited + e.waited_s
        row = e.row_after(self._waited)
        if entry is None:
            self._log.add(e, row)
            return
        text = f"continued {row.text}"
        if entry.follow:
            self._log.amend(entry, entry.follow[-1].seq, level=row.level, text=text)
        else:
            self._log.nest(entry, e, row.nested._replace(text=text))
        self._log.close(entry)

    def on_leave(self, e: ev.RunFinished | ev.RunCrashed | ev.RunResumed) -> bool | None:
        """Close the entries of a pause or wait that was still open."""
        going = [one for one in (self._pause, self._wait) if one is not None and one.open]
        self._pause = self._wait = None
        for entry in going:
            self._log.close(entry)
        return None if going else False


class LogFold(Fold):
    """Entries of the log, oldest first.

    Their number grows with alarms and requests, not with the agent's output.
    """

    def __init__(self) -> None:
        self._log = LogEntries()
        self._episodes = Episodes(self._log)
        self._news = News()
        self._nesting = (
            self._episodes,
            EntryNesting(self._log, self._episodes),
            Waits(self._log),
            Ends(self._log, self._episodes),
            ForeignLog(self._log),
        )
        self.parts = (self._log, *self._nesting, self._news)
        self._by_text: dict[tuple[str, ...], LogEntry] = {}
        """Entries for messages that get only one entry, by word and text."""

    @property
    def entries(self) -> list[LogEntry]:
        return self._log.all

    @property
    def rows(self) -> list[LogRow]:
        """The rows of all entries, entry by entry."""
        return [row for entry in self.entries for row in entry.rows]

    def changed_since(self, clock: int) -> tuple[int, int]:
        """Return the current clock and the first entry that was changed or added since `clock`."""
        return self._log.changed_since(clock)

    def handlers(self) -> Handlers:
        """Yield the handlers; an event whose row is not nested anywhere gets its own entry."""
        known = [row for part in self._nesting for row in handlers_of(part)]
        known += super().handlers()
        taken = {kind for kind, _ in known}
        return (*known, *((kind, self._add_unnested) for kind in _with_rows() if kind not in taken))

    def _add_unnested(self, event: ev.Event) -> bool:
        return self._add(event, event.row())

    def on_reading(self, event: ev.ReadingTaken) -> bool:
        return self._add(event, event.row())

    def on_validated(self, event: ev.ValidationDone) -> bool:
        return self._add(event, self._news.validated(event))

    def on_learning(
        self,
        event: ev.LearningsRetrieved | ev.LearningStaged | ev.LearningPromoted | ev.LearningChanged,
    ) -> bool:
        return self._add(event, self._news.learned(event))

    def _add(self, event: ev.Event, row: ev.Row | None) -> bool:
        if row is not None:
            self._log.add(event, row)
        return row is not None

    def on_planned(self, event: ev.StrategyPlanned) -> bool:
        row = self._news.planned(event)
        if row is None or event.approach == "persist":
            return False
        entry = self._episodes.current
        if entry is None:
            self._log.add(event, row)
        else:
            self._log.nest(entry, event, row._replace(text=self._episodes.without_known(row.text)))
        return True

    def on_repeated(self, event: ev.GateFinished | ev.SessionFinished | ev.Noticed) -> bool:
        """Keep one entry for a repeated message: count exact repeats and nest new details."""
        row = event.row()
        if row is None:
            return False
        about, colon, rest = row.text.partition(": ")
        topic = (row.word, about) if colon else (row.word, row.text)
        whole = (row.word, about, rest)
        entry = self._by_text.get(whole) or self._by_text.get(topic)
        if entry is None:
            entry = self._by_text[topic] = self._log.add(event, row)
        elif whole in self._by_text:
            self._log.again(entry)
        else:
            where = f"iteration {self._log.iteration}: {rest}"
            self._log.nest(entry, event, row._replace(word="", text=where))
        self._by_text[whole] = entry
        return True

    def on_tool_denied(self, event: ev.ToolDenied) -> bool:
        """Show each kind of denial once, with the lines that would permit it, and count repeats."""
        kind = ("DENIED", *(event.lines or (event.tool, event.message)))
        if kind in self._by_text:
            self._log.again(self._by_text[kind])
        else:
            self._by_text[kind] = self._log.add(event, event.row(), "denied")
        return True


@cache
def _with_rows() -> list[type[ev.Event]]:
    kinds: list[type[ev.Event]] = [*ev.EVENT_TYPES.values(), ev.UnknownEvent]
    return [kind for kind in kinds if kind.row is not ev.Event.row]


__all__ = ["LogEntry", "LogFold", "LogRow"]
