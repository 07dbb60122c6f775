"""Pauses and waits in the log: for what, until when, and how long it took.

Rule: waits in a row, in which the agent did no work, are one entry.
"""

from datetime import datetime
from typing import Final

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
from ralph_tui.state.wording import Row, retry_words, wait_words
from ralph_tui.text.format import day_and_clock, duration
from ralph_tui.text.terms import WAITS, who_words

CLOCK: Final = "the clock"
"""`WaitEnded.by` where nobody asked for it."""


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
        row = Row("owner", "PAUSE", f"asked by {who_words(e.by)}")
        self._pause = self._log.add(e, row, "pause", going=True)
        self._paused_at = None

    def on_paused(self, e: Paused) -> None:
        self._paused_at = e.at
        if self._pause is None:
            self._pause = self._log.add(
                e, Row("owner", "PAUSE", "no agent runs"), "pause", going=True
            )
        else:
            self._log.nest(self._pause, e, Row("owner", "", "paused: no agent runs"))

    def on_unpaused(self, e: Unpaused) -> None:
        entry, since = self._pause, self._paused_at
        self._pause = self._paused_at = None
        by = who_words(e.by)
        if entry is None:
            self._log.add(e, Row("owner", "WENT ON", f"said by {by}"))
            return
        lasted = None if since is None else duration((e.at - since).total_seconds())
        text = f"taken back by {by}" if lasted is None else f"went on after {lasted}, said by {by}"
        self._log.nest(entry, e, Row("owner", "", text))
        self._log.close(entry)

    def on_wait_started(self, e: WaitStarted) -> None:
        entry, before = self._wait, self._waiting
        if entry is not None and before is not None and before.cause == e.cause and e.attempt > 1:
            again = "1 try in vain" if e.attempt == 2 else f"{e.attempt - 1} tries in vain"
            at = f"; {retry_words(e)}" if e.until else ""
            last = entry.follow[-1].seq if entry.follow else entry.head.seq
            self._log.amend(entry, last, level="warn", text=f"{again}{at}")
            entry.open = True
        else:
            self._waited = 0.0
            word = WAITS[e.cause].brief.upper()
            until = f"waiting until {day_and_clock(e.until, e.at)}" if e.until else "waiting"
            cause = wait_words(e, e.at)
            what = "" if cause == WAITS[e.cause].word else f": {cause}"
            row = Row("warn", word, f"{until}{what}; the iteration is not spent", e.reason)
            self._wait = self._log.add(e, row, "wait", going=True)
        self._waiting = e

    def on_wait_ended(self, e: WaitEnded) -> None:
        entry, self._waited = self._wait, self._waited + e.waited_s
        by = "" if e.by == CLOCK else f", asked by {who_words(e.by)}"
        row = Row("log", "", f"went on after {duration(self._waited)}{by}")
        if entry is None:
            self._log.add(e, row._replace(word="WENT ON", text=row.text.removeprefix("went on ")))
        elif entry.follow:
            self._log.amend(entry, entry.follow[-1].seq, level=row.level, text=row.text)
            self._log.close(entry)
        else:
            self._log.nest(entry, e, row)
            self._log.close(entry)

    def on_leave(self, e: RunFinished | RunCrashed | RunResumed) -> bool | None:
        """What was under way is not any more."""
        going = [one for one in (self._pause, self._wait) if one is not None and one.open]
        self._pause = self._wait = None
        for entry in going:
            self._log.close(entry)
        return None if going else False
