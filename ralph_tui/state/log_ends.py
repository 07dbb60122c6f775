"""The ends of a run in the log: asked for or not, and the resume that follows.

Rule: a wish to end, the end, and the resume are one entry; an end by success has its own.
"""

from ralph_tui.events import AbortRequested, RunCrashed, RunFinished, RunResumed, StopRequested
from ralph_tui.state.fold import Part
from ralph_tui.state.log_entries import LogEntries, LogEntry
from ralph_tui.state.log_episodes import Episodes
from ralph_tui.state.wording import ROWS, Row, stop_words
from ralph_tui.text.format import count, duration, percent
from ralph_tui.text.terms import OUTCOMES, RowLevel, who_words


class Ends(Part):
    """What is nested where, when a run ends."""

    def __init__(self, entries: LogEntries, episodes: Episodes) -> None:
        self._log = entries
        self._episodes = episodes
        self._ending: LogEntry | None = None
        """An end that was asked for, or has come."""

    def on_stop(self, e: StopRequested) -> None:
        row = Row("owner", "STOP", stop_words(e))
        if self._ending is not None and self._ending.open:
            self._log.nest(self._ending, e, row)
            if e.mode == "taken_back":
                self._log.close(self._ending)
                self._ending = None
        else:
            self._ending = self._log.add(e, row, "end", going=True)

    def on_abort(self, e: AbortRequested) -> bool | None:
        answer = self._episodes.consequence(e)
        if answer is not None:
            self._episodes.adopt("owner", answer)
            return False  # the answer says it
        row = Row("owner", "ABORT", f"asked by {who_words(e.by)}")
        if self._ending is not None and self._ending.open:
            self._log.nest(self._ending, e, row)
        else:
            self._ending = self._log.add(e, row, "end", going=True)
        self._episodes.adopt("owner", self._ending)
        return None

    def on_finished(self, e: RunFinished) -> None:
        level: RowLevel = "good" if e.outcome == "completed" else "warn"
        word = OUTCOMES[e.outcome].word.upper()
        entry = self._ending if e.outcome in ("interrupted", "aborted") else None
        if entry is not None and entry.open:
            where = f"{percent(e.completion)} after {count(e.iterations, 'iteration')}"
            self._log.nest(entry, e, Row(level, word, where, e.reason))
            self._log.close(entry)
        else:
            self._ending = self._log.add(e, Row(level, word, e.reason), "end")

    def on_crashed(self, e: RunCrashed) -> None:
        row = Row("critical", "FAILED", e.error, e.traceback)
        self._ending = self._log.add(e, row, "end")

    def on_resumed(self, e: RunResumed) -> None:
        row = ROWS[RunResumed](e)
        assert row is not None
        entry, self._ending = self._ending, None
        if e.away_s >= 1:
            row = row._replace(text=f"after {duration(e.away_s)}: {row.text}")
        if entry is None:
            self._log.add(e, row, "end")
        else:
            self._log.nest(entry, e, row)
            self._log.close(entry)
