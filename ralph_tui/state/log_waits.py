"""Pauses and waits in the log: for what, until when, and how long it took.

Rule: waits in a row, in which the agent did no work, are one entry.
"""

from datetime import datetime

from ralph_tui.events import (
    IterationStarted,
    Paused,
    PauseRequested,
    RunCrashed,
    RunFinished,
    RunResumed,
    Unpaused,
    WaitEnded,
    WaitStarted,
)
from ralph_tui.state.fold import Part
from ralph_tui.state.log_entries import LogEntries, LogEntry


class Waits(Part):
    """What is nested where, while nothing runs."""

    def __init__(self, entries: LogEntries) -> None:
        self._log = entries
        self._pause: LogEntry | None = None
        self._paused_at: datetime | None = None
        self._wait: LogEntry | None = None
        self._waiting: WaitStarted | None = None
        self._waited = 0.0
        """Seconds of the waits in a row."""

    def on_iteration(self, e: IterationStarted) -> bool:
        self._wait = None
        return False

    def on_pause_wanted(self, e: PauseRequested) -> None:
        self._pause = self._log.add(e, e.row(), "pause", going=True)
        self._paused_at = None

    def on_paused(self, e: Paused) -> None:
        self._paused_at = e.at
        if self._pause is None:
            self._pause = self._log.add(e, e.row(), "pause", going=True)
        else:
            self._log.nest(self._pause, e, e.row_asked_for())

    def on_unpaused(self, e: Unpaused) -> None:
        entry, since = self._pause, self._paused_at
        self._pause = self._paused_at = None
        if entry is None:
            self._log.add(e, e.row())
            return
        self._log.nest(entry, e, e.row_after(since))
        self._log.close(entry)

    def on_wait_started(self, e: WaitStarted) -> None:
        entry, before = self._wait, self._waiting
        if entry is not None and before is not None and before.cause == e.cause and e.attempt > 1:
            last = entry.follow[-1].seq if entry.follow else entry.head.seq
            self._log.amend(entry, last, level="warn", text=e.again)
            entry.open = True
        else:
            self._waited = 0.0
            self._wait = self._log.add(e, e.row(), "wait", going=True)
        self._waiting = e

    def on_wait_ended(self, e: WaitEnded) -> None:
        entry, self._waited = self._wait, self._waited + e.waited_s
        row = e.row_after(self._waited)
        if entry is None:
            self._log.add(e, row)
            return
        text = f"went on {row.text}"
        if entry.follow:
            self._log.amend(entry, entry.follow[-1].seq, level=row.level, text=text)
        else:
            self._log.nest(entry, e, row.nested._replace(text=text))
        self._log.close(entry)

    def on_leave(self, e: RunFinished | RunCrashed | RunResumed) -> bool | None:
        """What was under way is not any more."""
        going = [one for one in (self._pause, self._wait) if one is not None and one.open]
        self._pause = self._wait = None
        for entry in going:
            self._log.close(entry)
        return None if going else False
