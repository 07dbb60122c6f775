"""Tool calls that wait for their owner's answer: the time to think is none of the tool's."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Protocol

from ralph_tui.events import (
    AgentAsked,
    AgentAskedNoMore,
    AgentRefusedAgain,
    QuestionAnswered,
    QuestionAsked,
)
from ralph_tui.state.fold import Handlers, Part, on


class Call(Protocol):
    """A tool call that has not answered."""

    tool: str
    asked_at: datetime | None
    ran_from: datetime | None


class AskedCalls(Part):
    """Tells the open calls since when they wait, and from when they ran."""

    def __init__(self) -> None:
        self._waiting: dict[str, Call] = {}
        """By the request's id."""
        self._question = ("", "")
        """The latest question about one, and the request's id."""

    def handlers(self, calls: Callable[[], Iterable[Call]]) -> Handlers:
        """Those of the fold that has them; `calls`: those that are open now, the oldest first."""
        return (
            on(AgentAsked, lambda e: self._asked(e, calls())),
            on(AgentAskedNoMore, lambda e: self._goes_on(e.request_id, e.at)),
            on(AgentRefusedAgain, lambda e: self._goes_on(e.request_id, e.at)),
            on(QuestionAsked, self._question_asked),
            on(QuestionAnswered, self._answered),
        )

    def _asked(self, e: AgentAsked, calls: Iterable[Call]) -> bool:
        """It is about the latest call of this tool that nobody was asked about."""
        of_tool = [call for call in calls if call.tool == e.tool]
        free = [call for call in of_tool if call.asked_at is None and call.ran_from is None]
        if free:
            free[-1].asked_at = e.at
            self._waiting[e.request_id] = free[-1]
        return bool(free)

    def _question_asked(self, e: QuestionAsked) -> bool:
        if e.request is not None:
            self._question = (e.question_id, e.request.request_id)
        return False

    def _answered(self, e: QuestionAnswered) -> bool:
        question, request = self._question
        return e.question_id == question and self._goes_on(request, e.at)

    def _goes_on(self, request: str, at: datetime) -> bool:
        call = self._waiting.pop(request, None)
        if call is not None:
            call.asked_at, call.ran_from = None, at
        return call is not None
