"""The alarm and overseer log: a row for everything that a human should have noticed."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from ralph_tui.events import (
    AlarmCleared,
    AlarmRaised,
    CommandRefused,
    GateFinished,
    JournalRestored,
    Noticed,
    PermissionsChanged,
    QuestionAnswered,
    QuestionAsked,
    ReadingTaken,
    RunCrashed,
    RunFinished,
    SessionFinished,
    StopRequested,
    ToolDenied,
    UnknownEvent,
    WaitStarted,
)
from ralph_tui.events.base import Event
from ralph_tui.state.overseer_rows import ROWS, Row, RowLevel
from ralph_tui.text.format import day_and_clock
from ralph_tui.text.sanitize import clip, one_line

GLYPHS: dict[RowLevel, str] = {"log": "●", "good": "✓", "warn": "▲", "critical": "◆", "owner": "▸"}
RAW_LIMIT = 300
"""Characters of the row of an event of a newer version; its detail has all."""


@dataclass(frozen=True, slots=True)
class LogRow:
    """One entry; `detail` is its evidence, opened on demand."""

    seq: int
    at: datetime
    iteration: int
    level: RowLevel
    word: str
    """LOG, WARN, STUCK...: severity is never told by colour alone."""
    text: str
    detail: str = ""

    @property
    def glyph(self) -> str:
        """Severity as a mark."""
        return GLYPHS[self.level]


class LogFold:
    """What the log lists, oldest first. It grows with alarms and wishes, not with agent output."""

    def __init__(self) -> None:
        self.revision = 0
        self.rows: list[LogRow] = []
        self._iteration = 0
        self._best = 0.0
        self._denied: set[str] = set()
        self._asked = ""
        """The last question that has a row of its own."""

    def handlers(self) -> dict[str, Callable[[Any], None]]:
        """See `Fold`."""
        return {
            **{kind: partial(self._worded, word) for kind, word in ROWS.items()},
            "iteration_started": self._iteration_started,
            "reading_taken": self._reading_taken,
            "gate_finished": self._gate_finished,
            "alarm_raised": self._alarm_raised,
            "alarm_cleared": self._alarm_cleared,
            "noticed": self._noticed,
            "session_finished": self._session_finished,
            "pause_requested": lambda e: self._add(e, "owner", "PAUSE", f"asked by {e.by}"),
            "paused": lambda e: self._add(e, "owner", "PAUSED", "waiting for you, no agent runs"),
            "unpaused": lambda e: self._add(e, "owner", "GO ON", f"said by {e.by}"),
            "stop_requested": self._stop_requested,
            "abort_requested": lambda e: self._add(e, "owner", "ABORT", f"asked by {e.by}"),
            "guidance_queued": lambda e: self._add(e, "owner", "GUIDE", e.text),
            "guidance_delivered": lambda e: self._add(e, "owner", "GUIDE", _delivered(e.into)),
            "command_refused": self._command_refused,
            "wait_started": self._wait_started,
            "wait_ended": lambda e: self._add(e, "log", "GO ON", f"waited {e.waited_s:.0f} s"),
            "question_asked": self._question_asked,
            "question_answered": self._question_answered,
            "question_withdrawn": lambda e: self._add(e, "log", "CLOSED", e.reason),
            "interrupt_requested": lambda e: self._add(e, "owner", "INTERRUPT", f"by {e.by}"),
            "permissions_changed": self._permissions_changed,
            "tool_denied": self._tool_denied,
            "journal_restored": self._journal_restored,
            "run_finished": self._run_finished,
            "run_crashed": self._run_crashed,
        }

    def _add(self, event: Event, level: RowLevel, word: str, text: str, detail: str = "") -> None:
        self.revision += 1
        self.rows.append(LogRow(event.seq, event.at, self._iteration, level, word, text, detail))

    def _worded(self, words: Callable[[Any], Row | None], event: Event) -> None:
        row = words(event)
        if row is not None:
            self._add(event, *row)

    def unknown(self, event: UnknownEvent) -> None:
        """An event of a newer version: a raw row, for it may matter."""
        self._add(event, "log", "NEWER", clip(one_line(event.words), RAW_LIMIT), event.words)

    def _iteration_started(self, event: Any) -> None:
        self._iteration = event.iteration

    def _reading_taken(self, event: ReadingTaken) -> None:
        if event.iteration == 0 or event.restarted:
            self._best = event.completion
            if event.restarted:
                self._add(
                    event,
                    "warn",
                    "SENSOR",
                    f"completion is now read from {event.source}",
                    event.note,
                )
        elif event.completion > self._best:
            self._add(
                event,
                "good",
                "BEST",
                f"{event.completion:.0f} % after iteration "
                f"{event.iteration}, {event.completion - self._best:+.0f} points",
            )
            self._best = event.completion

    def _gate_finished(self, event: GateFinished) -> None:
        if event.error:
            self._add(event, "warn", "GATE", event.error, event.tail)
        elif event.timed_out:
            self._add(event, "warn", "GATE", "the completion command ran out of time", event.tail)
        elif event.iteration == 0 and event.ok:
            self._add(
                event,
                "warn",
                "GATE",
                "the completion command already passes: the run ends "
                "only with a promise and a changed file",
            )

    def _alarm_raised(self, event: AlarmRaised) -> None:
        self._add(
            event,
            "warn" if event.severity == "warning" else "critical",
            event.alarm,
            event.reason,
            "recommended: " + ", ".join(event.interventions),
        )

    def _alarm_cleared(self, event: AlarmCleared) -> None:
        self._add(event, "good", event.alarm, "cleared")

    def _noticed(self, event: Noticed) -> None:
        level: RowLevel = {"log": "log", "warn": "warn", "error": "critical"}[event.level]  # type: ignore[assignment]
        self._add(event, level, event.level.upper(), event.text, event.detail)

    def _session_finished(self, event: SessionFinished) -> None:
        if event.outcome not in ("success", "stopped", "interrupted"):
            self._add(event, "warn", "AGENT", event.reason or event.outcome)
        elif event.outcome == "success" and event.reason:
            self._add(event, "warn", "AGENT", event.reason)
        elif event.leftovers:
            self._add(event, "log", "AGENT", f"{event.leftovers} left-over processes stopped")

    def _stop_requested(self, event: StopRequested) -> None:
        when = "now" if event.mode == "now" else "after this iteration"
        self._add(event, "owner", "STOP", f"{when}, asked by {event.by}")

    def _command_refused(self, event: CommandRefused) -> None:
        self._add(event, "log", event.command.upper(), event.reason)

    def _wait_started(self, event: WaitStarted) -> None:
        word = "DISK FULL" if event.cause == "disk_full" else "LIMIT"
        until = (
            ""
            if event.until is None
            else f", tried again at {day_and_clock(event.until, event.at)}"
        )
        self._add(event, "warn", word, f"waiting{until}; the iteration is not spent", event.reason)

    def _question_answered(self, event: QuestionAnswered) -> None:
        words = f"{event.answer.replace('_', ' ')}, by {event.by}"
        if event.question_id == self._asked:
            self._add(event, "owner", "ANSWER", words, event.text)

    def _question_asked(self, event: QuestionAsked) -> None:
        if event.topic in ("redirect", "pause"):
            return  # the intervention's own row tells of it, and of its answer
        self._asked = event.question_id
        choices = "\n".join(f"{o.key}  {o.answer}: {o.verb}" for o in event.options)
        default = event.default or "it waits"
        self._add(event, "warn", "QUESTION", event.text, f"{choices}\ndefault: {default}")

    def _permissions_changed(self, event: PermissionsChanged) -> None:
        allow = f", allowed: {', '.join(event.allow)}" if event.allow else ""
        self._add(event, "owner", "PERMIT", f"{event.mode}{allow}, from the next session on")

    def _tool_denied(self, event: ToolDenied) -> None:
        """Each kind of denial is told once, with the line that would permit it."""
        line = event.permit or event.tool
        if line in self._denied:
            return
        self._denied.add(line)
        self._add(
            event,
            "warn",
            "DENIED",
            f'{event.tool}: permissions.allow = ["{line}"] permits it',
            event.message,
        )

    def _journal_restored(self, event: JournalRestored) -> None:
        self._add(
            event,
            "warn",
            "RECORD",
            "the journal had been deleted; it was written again",
            event.path,
        )

    def _run_finished(self, event: RunFinished) -> None:
        good = event.outcome == "completed"
        self._add(
            event, "good" if good else "warn", event.outcome.upper().replace("_", " "), event.reason
        )

    def _run_crashed(self, event: RunCrashed) -> None:
        self._add(event, "critical", "CRASH", event.error, event.traceback)


def _delivered(into: str) -> str:
    return "delivered into the session" if into == "session" else "delivered with the prompt"
