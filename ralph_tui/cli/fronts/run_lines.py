"""The plain lines of one run in order: time, iteration, and each fact once.

Each event formats its own line; this module omits repetitions.
"""

from collections import Counter

from ralph_tui import events as ev
from ralph_tui.events.control import alarm_word
from ralph_tui.state.foreign import ForeignRows
from ralph_tui.state.guidance import GuidanceFold, unsent_words
from ralph_tui.state.log_news import News
from ralph_tui.text.format import clock
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.text.tool_kinds import shows_failing_tests
from ralph_tui.text.words import without_particulars

WIDTH = 160
"""Maximum width of a line in columns; the journal has the full text."""
FULL_WIDTH = 2000
"""Maximum width, in columns, of instructions and of the agent's own words."""
FULL_LENGTH = (
    ev.RunFinished, ev.RunCrashed, ev.Noticed, ev.AgentNoted, ev.AgentSpoke, ev.AgentReported,
    ev.StrategyPlanned, ev.ReflectionWritten, ev.GuidanceQueued, ev.RedirectDecided,
    ev.QuestionAsked, ev.SessionFinished, ev.AgentChanged, ev.WaitStarted,
)  # fmt: skip
MULTILINE = (ev.AgentSpoke, ev.AgentReported, ev.ToolDenied)
"""Events whose text keeps its line breaks when it is printed."""
RECOMPUTED = (ev.AlarmRaised, ev.AlarmCleared, ev.InterventionMade)
"""Events that our layers compute for a run of another tool."""


def stamp_lines(event: ev.Event, text: str | None, where: str = "") -> str | None:
    """Put local time and `where` before each line of the text; None without text."""
    if not text:
        return None
    at, whole = clock(event.at, seconds=True), isinstance(event, FULL_LENGTH)
    pieces = text.splitlines() if isinstance(event, MULTILINE) else [text]
    return "\n".join(
        f"{at} {where}{clip(one_line(piece), FULL_WIDTH if whole else WIDTH)}" for piece in pieces
    )


class PlainLines:
    """The lines of one run, in order: time, iteration, and the fact."""

    def __init__(
        self, iteration: int = 0, max_iterations: int = 0, *, measured: bool = False
    ) -> None:
        """Start at this point of the run; 0 and 0 before its first event."""
        self._measured = measured
        self._iteration, self._of = iteration, max_iterations
        self._reasons: set[str] = set()
        """Reasons already shown for this iteration's alarms and interventions."""
        self._cleared: set[str] = set()
        """Alarms cleared in this iteration; the end of their episode gets no line."""
        self._ended = ""
        """Why the last session ended; a wait for the same reason does not repeat it."""
        self._noted: set[str] = set()
        """Kinds of agent notes shown in this iteration: a call is often retried."""
        self._failures = Counter[tuple[str, str]]()
        """Failures of layers so far; a repeated failure gets a line at 10, 20, 100 and so on."""
        self._said = ""
        """The agent's last message; a report that repeats it gets no line."""
        self._asked: dict[str, ev.QuestionAsked] = {}
        self._decided = False
        """True if the decision about the latest REDIRECT already has a line."""
        self._news = News()
        self._foreign = ForeignRows()
        self._imported = ""
        self._guidance = GuidanceFold()
        self._on_words = dict(self._guidance.handlers())
        self._calls: dict[str, ev.ToolStarted] = {}
        """Running tool calls by id."""

    def line(self, event: ev.Event) -> str | None:
        """Return the line for an event, local time first; None for repeats and screen-only events.

        An agent's message keeps its lines, and a denied tool has two.
        """
        self._follow(event)
        width = 2 * len(str(self._of)) + 1
        where = f"{f'{self._iteration}/{self._of}':>{width}} " if self._of else ""
        text = self._event_text(event)
        if text and self._imported and isinstance(event, RECOMPUTED):
            text = f"{text} (recomputed)"
        return stamp_lines(event, text, where)

    def _follow(self, event: ev.Event) -> None:
        if on_words := self._on_words.get(type(event)):
            on_words(event)
        match event:
            case ev.RunStarted():
                self._of, self._imported = event.max_iterations, event.imported
            case ev.IterationStarted():
                self._iteration, self._of = event.iteration, event.max_iterations
                self._reasons, self._cleared, self._said = set(), set(), ""
                self._noted = set()
            case ev.LimitsChanged():
                self._of = event.max_iterations
            case ev.ReadingTaken():
                self._measured = True
            case ev.AlarmRaised():
                self._reasons.add(event.reason)
            case ev.ValidationDone():
                self._reasons |= {issue.text for issue in event.issues}
            case ev.AlarmCleared():
                self._cleared.add(alarm_word(event.alarm))
            case ev.SessionFinished():
                self._ended = event.reason
            case ev.AgentSpoke() if event.parent is None:
                self._said = event.text
            case ev.ToolStarted():
                self._calls[event.tool_id] = event

    def _failure_line(self, event: ev.Noticed) -> str | None:
        """Report a layer's failure once, then only a count."""
        kind = event.source, without_particulars(event.text)
        self._failures[kind] += 1
        times = self._failures[kind]
        if times == 1:
            return event.line()
        return f"{event.line()} ({times} times so far)" if set(str(times)[1:]) == {"0"} else None

    def _event_text(self, event: ev.Event) -> str | None:
        match event:
            case ev.Noticed() if event.level == "error" and event.detail:
                return self._failure_line(event)
            case ev.AgentNoted() if event.level == "warn":
                kind = event.text.partition(": ")[0]
                known = kind in self._noted
                self._noted.add(kind)
                return None if known else event.line()
            case ev.AgentReported():
                return event.line(self._said)
            case ev.RunFinished():
                unsent = unsent_words(self._guidance.unsent)
                line = event.line(measured=self._measured)
                return f"{line} · {unsent}" if unsent else line
            case ev.InterventionMade():
                return self._reason_line(event)
            case ev.HealthChecked() | ev.ToolFinished() if self._is_repeat(event):
                return None
            case ev.WaitStarted():
                return event.line(why=event.reason != self._ended)
            case ev.QuestionAsked():
                return self._question_line(event)
            case ev.QuestionAnswered():
                return self._answer_line(event)
            case ev.RedirectDecided() if self._decided:
                self._decided = False
                return f"redirect {event.sends}" if event.sends else None
            case ev.ForeignVerdict():
                row = self._foreign.row(event)
                return row and row.line
            case ev.StrategyPlanned():
                row = self._news.planned(event)
                return row and row.line
        return event.line()

    def _is_repeat(self, event: ev.HealthChecked | ev.ToolFinished) -> bool:
        if isinstance(event, ev.HealthChecked):
            return event.ended in self._cleared
        call = self._calls.pop(event.tool_id, None)
        return call is not None and shows_failing_tests(call.tool, call.summary, event.summary)

    def _answer_line(self, event: ev.QuestionAnswered) -> str:
        asked = self._asked.pop(event.question_id, None)
        if asked is not None and asked.request is None and asked.topic in ("redirect", "pause"):
            self._decided = True
        return event.line(asked)

    def _reason_line(self, event: ev.InterventionMade) -> str | None:
        if any(event.reason.startswith(known.rstrip(".")) for known in self._reasons):
            return None
        self._reasons.add(event.reason)
        return event.line()

    def _question_line(self, event: ev.QuestionAsked) -> str | None:
        """Return the question's line, omitting a known reason; None if it expires at once."""
        self._asked[event.question_id] = event
        self._decided = False
        if event.deadline is not None and event.deadline <= event.at:
            return None
        return event.line(said=event.text in self._reasons)
