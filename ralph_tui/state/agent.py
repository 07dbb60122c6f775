"""The agent's stream: text and one row per tool call. Only the newest rows are kept."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from ralph_tui import events as ev
from ralph_tui.events.agent import NO_FAULT
from ralph_tui.state.fold import Fold, Handlers, Part, on
from ralph_tui.text.tool_edits import Edit, edits_of
from ralph_tui.text.tool_kinds import shows_failing_tests


class Call(Protocol):
    """A tool call that has not returned."""

    tool: str
    asked_at: datetime | None
    ran_from: datetime | None


class AskedCalls(Part):
    """Tracks when open calls began to wait for the user's answer and when they ran."""

    def __init__(self) -> None:
        self._waiting: dict[str, Call] = {}
        """Keyed by request id."""
        self._question = ("", "")
        """Ids of the latest question about a tool call and of its request."""

    def handlers(self, calls: Callable[[], Iterable[Call]]) -> Handlers:
        """Return the handlers to merge into the fold's own.

        `calls` returns the open calls, oldest first.
        """
        return (
            on(ev.AgentAsked, lambda e: self._asked(e, calls())),
            on(ev.AgentAskedNoMore, lambda e: self._is_continued(e.request_id, e.at)),
            on(ev.AgentRefusedAgain, lambda e: self._is_continued(e.request_id, e.at)),
            on(ev.QuestionAsked, self._question_asked),
            on(ev.QuestionAnswered, self._answered),
        )

    def _asked(self, e: ev.AgentAsked, calls: Iterable[Call]) -> bool:
        """Attach the request to the latest call of its tool that has no request yet."""
        of_tool = [call for call in calls if call.tool == e.tool]
        free = [call for call in of_tool if call.asked_at is None and call.ran_from is None]
        if free:
            free[-1].asked_at = e.at
            self._waiting[e.request_id] = free[-1]
        return bool(free)

    def _question_asked(self, e: ev.QuestionAsked) -> bool:
        if e.request is not None:
            self._question = (e.question_id, e.request.request_id)
        return False

    def _answered(self, e: ev.QuestionAnswered) -> bool:
        question, request = self._question
        return e.question_id == question and self._is_continued(request, e.at)

    def _is_continued(self, request: str, at: datetime) -> bool:
        call = self._waiting.pop(request, None)
        if call is not None:
            call.asked_at, call.ran_from = None, at
        return call is not None


KEPT_ROWS = 5000
"""Maximum number of rows kept; the journal has the older ones.

At 300 bytes a row, this limits the pane to a few megabytes.
"""
KEPT_TEXT = 2000

RowKind = Literal["session", "text", "tool", "note", "report"]


@dataclass(slots=True)
class AgentRow:
    """One row of the stream; a tool's row is completed when the tool returns."""

    seq: int
    at: datetime
    iteration: int
    kind: RowKind
    text: str
    """The agent's words, or what the tool works on."""
    tool: str = ""
    nested: bool = False
    """True if the row belongs to a subagent."""
    running: bool = False
    ok: bool = True
    result: str = ""
    last_line: int | None = None
    """Line of an edit's last change; None if unknown."""
    duration_s: float = 0.0
    asked_at: datetime | None = None
    """When the call began to wait for the user's answer; None while it is not waiting."""
    ran_from: datetime | None = None
    """When the call began to run after the user's answer; None if the user was not asked."""
    level: str = "log"
    offset: int = 0
    """Position of the full text in the iteration's transcript."""
    left_out: int = 0
    """Number of lines that the text lacks; see `AgentSpoke`."""
    edits: tuple[Edit, ...] = ()
    """Edits that the tool call requests."""


class AgentFold(Fold):
    """State of the agent pane."""

    def __init__(self) -> None:
        self.rows: deque[AgentRow] = deque(maxlen=KEPT_ROWS)
        self.first = 0
        """Number of rows dropped so far, which is the absolute number of `rows[0]`."""
        self.tool_calls = 0
        self.tool_errors = 0
        self.promised = False
        """True if the latest session claimed that the task was done."""
        self.report: ev.AgentReported | None = None
        """The latest session's report, with the learnings and blockers of its whole iteration."""
        self.began = 0
        """Number of the event that started the latest session."""
        self.began_at: datetime | None = None
        self._before: ev.AgentReported | None = None
        """Learnings and blockers that earlier sessions of the iteration reported."""
        self.ended: ev.SessionFinished | None = None
        """How the latest session ended; None while it runs."""
        self._open: dict[str, AgentRow] = {}
        self._asked = AskedCalls()
        self.parts = (self._asked,)
        self._decides = ""
        """Who decides whether the task is done, as in ``you decide``."""
        self._failed: set[str | None] = set()
        """Ids of the failed tool calls of the latest session."""

    def handlers(self) -> Handlers:
        yield from super().handlers()
        yield from self._asked.handlers(lambda: list(self._open.values()))

    @property
    def running(self) -> AgentRow | None:
        """The latest tool call that has not returned."""
        return next(reversed(self._open.values()), None)

    def _add(self, row: AgentRow) -> None:
        if len(self.rows) == KEPT_ROWS:
            self.first += 1
        self.rows.append(row)

    def on_run_started(self, e: ev.RunStarted) -> bool:
        self._decides = "the completion command decides" if e.command else "you decide"
        if e.watched:
            self._decides = "this ends its loop"
        return False

    def on_session_started(self, e: ev.SessionStarted) -> None:
        self.promised, self.ended, self.began, self.began_at = False, None, e.seq, e.at
        self.report = _reduce_report(self.report, e.iteration)
        self._before = self.report
        self._failed.clear()
        self._add(AgentRow(e.seq, e.at, e.iteration, "session", e.stream))

    def on_session_finished(self, e: ev.SessionFinished) -> None:
        self.ended = e
        self._close_rows()
        row = AgentRow(e.seq, e.at, e.iteration, "session", e.stream)
        row.ok, row.duration_s = e.outcome in NO_FAULT, e.duration_s
        self._add(row)

    def on_cut_off(self, e: ev.RunFinished) -> bool:
        return self._close_rows()

    def on_crashed(self, e: ev.RunCrashed) -> None:
        self._add_interruption(e, f"the run failed: {e.error}", ok=False)

    def on_resumed(self, e: ev.RunResumed) -> None:
        self._add_interruption(e, e.stream, ok=True)

    def _add_interruption(self, e: ev.RunCrashed | ev.RunResumed, text: str, *, ok: bool) -> None:
        """Add a line that separates the rows before an interruption from those after it."""
        self._close_rows()
        iteration = self.rows[-1].iteration if self.rows else 0
        self._add(AgentRow(e.seq, e.at, iteration, "session", text[:KEPT_TEXT], ok=ok))

    def _close_rows(self) -> bool:
        """Close all open calls and return True if there were any."""
        cut = bool(self._open)
        for row in self._open.values():
            row.running, row.ok, row.result = False, False, "no answer"
        self._open.clear()
        return cut

    def on_changed(self, e: ev.AgentChanged) -> None:
        ok = e.cause == "back"
        self._add(AgentRow(e.seq, e.at, e.iteration, "session", e.row().text, ok=ok))

    def on_wait_started(self, e: ev.WaitStarted) -> None:
        self._add(AgentRow(e.seq, e.at, e.iteration, "session", e.stream, ok=False))

    def on_wait_ended(self, e: ev.WaitEnded) -> None:
        took = e.waited_s
        self._add(AgentRow(e.seq, e.at, e.iteration, "session", e.stream, duration_s=took))

    def on_agent_spoke(self, e: ev.AgentSpoke) -> bool:
        row = AgentRow(e.seq, e.at, e.iteration, "text", e.words[:KEPT_TEXT])
        row.nested, row.offset, row.left_out = e.parent is not None, e.offset, e.left_out
        if row.text:
            self._add(row)
        return bool(row.text)

    def on_tool_started(self, e: ev.ToolStarted) -> None:
        self.tool_calls += 1
        row = AgentRow(e.seq, e.at, e.iteration, "tool", e.summary[:KEPT_TEXT], tool=e.tool)
        row.nested, row.running, row.offset = e.parent is not None, True, e.offset
        row.edits = edits_of(row.text, e.params)
        self._open[e.tool_id] = row
        self._add(row)

    def on_tool_finished(self, e: ev.ToolFinished) -> None:
        row = self._open.pop(e.tool_id, None)
        ok = e.ok or (row is not None and shows_failing_tests(row.tool, row.text, e.summary))
        if not ok and not e.prevented:
            self.tool_errors += 1
            self._failed.add(e.tool_id)
        if row is not None:
            row.running, row.ok, row.result = False, ok, e.summary[:KEPT_TEXT]
            row.last_line = e.last_line
            row.duration_s = e.duration_s
            if row.ran_from is not None:  # do not count the time the user took to answer
                ran = (e.at - row.ran_from).total_seconds()
                row.duration_s = max(0.0, min(e.duration_s, ran))

    def on_tool_denied(self, e: ev.ToolDenied) -> None:
        # Older agents report the denial after the failed call, which then is not a failure.
        if e.tool_id in self._failed:
            self._failed.discard(e.tool_id)
            self.tool_errors -= 1
        self._add(AgentRow(e.seq, e.at, e.iteration, "note", e.words, level="warn"))

    def on_agent_noted(self, e: ev.AgentNoted) -> None:
        row = AgentRow(e.seq, e.at, e.iteration, "note", e.text[:KEPT_TEXT], level=e.level)
        row.nested, row.offset = e.parent is not None, e.offset
        self._add(row)

    def on_compacted(self, e: ev.ContextCompacted) -> None:
        text = e.row().text
        row = AgentRow(e.seq, e.at, e.iteration, "note", text, level="warn", offset=e.offset)
        self._add(row)

    def on_background_awaited(self, e: ev.BackgroundAwaited) -> bool:
        if e.words:
            level = "warn" if e.given_up else "log"
            self._add(AgentRow(e.seq, e.at, e.iteration, "note", e.words, level=level))
        return bool(e.words)

    def on_agent_reported(self, e: ev.AgentReported) -> None:
        self.report = _merge_reports(self._before, e)
        self._add(AgentRow(e.seq, e.at, e.iteration, "report", e.words))

    def on_promise_made(self, e: ev.PromiseMade) -> None:
        self.promised = True
        text = f"{e.words}; {self._decides}"
        self._add(AgentRow(e.seq, e.at, e.iteration, "report", text))


def _reduce_report(report: ev.AgentReported | None, iteration: int) -> ev.AgentReported | None:
    """Return an earlier report of the iteration, reduced to its learnings and blockers.

    None if it has neither.
    """
    if report is None or report.iteration != iteration or not (report.learnings or report.blockers):
        return None
    keep = {"summary": "", "next": "", "completion": None}
    return report.model_copy(update=keep)


def _merge_reports(before: ev.AgentReported | None, last: ev.AgentReported) -> ev.AgentReported:
    """Return the last session's report, plus the learnings and blockers of the earlier ones."""
    if before is None:
        return last
    add = {
        "learnings": list(dict.fromkeys([*before.learnings, *last.learnings])),
        "blockers": list(dict.fromkeys([*before.blockers, *last.blockers])),
    }
    return last.model_copy(update=add)
