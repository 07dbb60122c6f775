"""The alarm and overseer log: a row for everything that a human should have noticed."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial

from ralph_tui.events import (
    AbortRequested,
    AlarmCleared,
    AlarmRaised,
    Event,
    GateFinished,
    GuidanceDelivered,
    GuidanceQueued,
    InterruptRequested,
    IterationStarted,
    JournalRestored,
    Paused,
    PauseRequested,
    PermissionsChanged,
    QuestionAnswered,
    QuestionAsked,
    QuestionWithdrawn,
    ReadingTaken,
    RunCrashed,
    RunFinished,
    SessionFinished,
    StopRequested,
    ToolDenied,
    UnknownEvent,
    Unpaused,
    WaitEnded,
    WaitStarted,
)
from ralph_tui.state.context_wording import CONTEXT_ROWS
from ralph_tui.state.fold import Fold, Handlers, on
from ralph_tui.state.memory_wording import MemoryRows
from ralph_tui.state.model_wording import MODEL_ROWS
from ralph_tui.state.strategy_wording import StrategyRows
from ralph_tui.state.wording import (
    JOURNAL_RESTORED,
    PROMISE_NEEDED,
    ROWS,
    Row,
    Wording,
    answer_words,
    delivered_words,
    gate_words,
    permit_words,
    retry_words,
    session_words,
    stop_words,
    unpaused_words,
    wait_words,
)
from ralph_tui.text.format import duration, percent, points_gained, step
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.text.terms import LEVELS, OUTCOMES, SEVERITIES, WAITS, RowLevel, remedy_words

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
        return LEVELS[self.level].glyph


class LogFold(Fold):
    """What the log lists, oldest first. It grows with alarms and wishes, not with agent output."""

    def __init__(self) -> None:
        self.rows: list[LogRow] = []
        self._iteration = 0
        self._best = 0.0
        self._denied: set[tuple[str, ...]] = set()
        self._asked = ""
        """The last question that has a row of its own."""

    def handlers(self) -> Handlers:
        """See `Fold`; the words of an event are told apart from where they go."""
        worded: tuple[tuple[type[Event], Wording], ...] = (
            *ROWS.items(),
            *MODEL_ROWS.items(),
            *CONTEXT_ROWS.items(),
            *MemoryRows().wordings(),
            *StrategyRows().wordings(),
            on(ReadingTaken, self._reading),
            on(GateFinished, _gate),
            on(AlarmRaised, _alarm),
            on(AlarmCleared, lambda e: Row("good", e.alarm, "cleared")),
            on(SessionFinished, _session),
            on(PauseRequested, lambda e: Row("owner", "PAUSE", f"asked by {e.by}")),
            on(Paused, lambda _: Row("owner", "PAUSED", "waiting for you, no agent runs")),
            on(Unpaused, lambda e: Row("owner", "GO ON", unpaused_words(e))),
            on(StopRequested, lambda e: Row("owner", "STOP", stop_words(e))),
            on(AbortRequested, lambda e: Row("owner", "ABORT", f"asked by {e.by}")),
            on(GuidanceQueued, lambda e: Row("owner", "GUIDE", e.text)),
            on(GuidanceDelivered, lambda e: Row("owner", "GUIDE", delivered_words(e))),
            on(WaitStarted, _wait),
            on(WaitEnded, lambda e: Row("log", "GO ON", f"waited {duration(e.waited_s)}")),
            on(QuestionAsked, self._question),
            on(QuestionAnswered, self._answer),
            on(QuestionWithdrawn, lambda e: Row("log", "CLOSED", e.reason)),
            on(InterruptRequested, lambda e: Row("owner", "INTERRUPT", f"by {e.by}")),
            on(PermissionsChanged, _permissions),
            on(ToolDenied, self._denial),
            on(JournalRestored, _journal),
            on(RunFinished, _end),
            on(RunCrashed, lambda e: Row("critical", "CRASH", e.error, e.traceback)),
            on(UnknownEvent, _newer),
        )
        return (
            on(IterationStarted, self._iteration_started),
            *((event_type, partial(self._add, wording)) for event_type, wording in worded),
        )

    def _add(self, wording: Wording, event: Event) -> bool:
        row = wording(event)
        if row is None:
            return False
        self.rows.append(LogRow(event.seq, event.at, self._iteration, *row))
        return True

    def _iteration_started(self, event: IterationStarted) -> bool:
        self._iteration = event.iteration
        return False

    def _reading(self, event: ReadingTaken) -> Row | None:
        before, best = self._best, event.completion
        if event.iteration == 0 or event.restarted:
            self._best = best
            if not event.restarted:
                return None
            text = f"completion is now read from {event.source}"
            return Row("warn", "SENSOR", text, event.note)
        if best <= before:
            return None
        self._best = best
        gained = points_gained(step(before, best))
        text = f"{percent(best, before)} after iteration {event.iteration}, {gained}"
        return Row("good", "BEST", text)

    def _question(self, event: QuestionAsked) -> Row | None:
        if event.topic in ("redirect", "pause"):
            return None  # the intervention's own row tells of it, and of its answer
        self._asked = event.question_id
        choices = "\n".join(f"{o.key}  {o.answer}: {o.verb}" for o in event.options)
        default = event.default or "it waits"
        return Row("warn", "QUESTION", event.text, f"{choices}\ndefault: {default}")

    def _answer(self, event: QuestionAnswered) -> Row | None:
        if event.question_id != self._asked:
            return None
        return Row("owner", "ANSWER", answer_words(event), event.text)

    def _denial(self, event: ToolDenied) -> Row | None:
        """Each kind of denial is told once, with the lines that would permit it."""
        kind = event.lines or (event.tool, event.message)
        if kind in self._denied:
            return None
        self._denied.add(kind)
        return Row("warn", "DENIED", f"{event.tool}: {permit_words(event)}", event.message)


def _gate(event: GateFinished) -> Row | None:
    if event.error:
        return Row("warn", "GATE", event.error, event.tail)
    if event.timed_out:
        return Row("warn", "GATE", f"the completion command {gate_words(event)}", event.tail)
    if event.iteration == 0 and event.ok:
        return Row("warn", "GATE", f"the completion command already passes: {PROMISE_NEEDED}")
    return None


def _alarm(event: AlarmRaised) -> Row:
    detail = f"recommended: {remedy_words(event.interventions)}"
    return Row(SEVERITIES[event.severity], event.alarm, event.reason, detail)


def _session(event: SessionFinished) -> Row | None:
    if event.outcome not in ("success", "stopped", "interrupted", "rolled_over"):
        return Row("warn", "AGENT", session_words(event))
    if event.outcome == "success" and event.reason:
        return Row("warn", "AGENT", event.reason)
    if event.leftovers:
        return Row("log", "AGENT", f"{event.leftovers} left-over processes stopped")
    return None


def _wait(event: WaitStarted) -> Row:
    word = WAITS[event.cause].brief.upper()
    at = f", {retry_words(event)}" if event.until else ""
    what = f": {wait_words(event, event.at)}" if event.since is not None else ""
    return Row("warn", word, f"waiting{what}{at}; the iteration is not spent", event.reason)


def _permissions(event: PermissionsChanged) -> Row:
    allow = f", allowed: {', '.join(event.allow)}" if event.allow else ""
    return Row("owner", "PERMIT", f"{event.mode}{allow}, from the next session on")


def _journal(event: JournalRestored) -> Row:
    return Row("warn", "RECORD", JOURNAL_RESTORED, event.path)


def _end(event: RunFinished) -> Row:
    level: RowLevel = "good" if event.outcome == "completed" else "warn"
    return Row(level, OUTCOMES[event.outcome].word.upper(), event.reason)


def _newer(event: UnknownEvent) -> Row:
    """An event of a newer version: a raw row, for it may matter."""
    return Row("log", "NEWER", clip(one_line(event.words), RAW_LIMIT), event.words)
