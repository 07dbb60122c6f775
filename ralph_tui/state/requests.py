"""Unanswered requests of the running agent to the user."""

from ralph_tui import events as ev
from ralph_tui.events.asking import AgentRequest
from ralph_tui.state.fold import Fold


class RequestsFold(Fold):
    """Requests of the agent; the loop asks the user about them one at a time."""

    def __init__(self) -> None:
        self.agent = ""
        self.waiting: dict[str, ev.AgentAsked] = {}
        """Keyed by request id, oldest first."""
        self.no_more: ev.AgentAskedNoMore | None = None
        """The request that the agent withdrew last."""
        self._asked: tuple[str, AgentRequest] | None = None
        """Id of the open question about a request, and that request."""

    def on_run_started(self, event: ev.RunStarted) -> bool:
        self.agent = event.agent
        return False

    def on_session_started(self, event: ev.SessionStarted) -> bool:
        self.agent = event.agent
        self.waiting.clear()
        return False

    def on_agent_asked(self, event: ev.AgentAsked) -> None:
        self.waiting[event.request_id] = event

    def on_no_more(self, event: ev.AgentAskedNoMore) -> bool:
        self.no_more = event
        return self.waiting.pop(event.request_id, None) is not None

    def on_refused_again(self, event: ev.AgentRefusedAgain) -> bool:
        return self.waiting.pop(event.request_id, None) is not None

    def on_question_asked(self, event: ev.QuestionAsked) -> bool:
        self._asked = (event.question_id, event.request) if event.request is not None else None
        return False

    def on_question_answered(self, event: ev.QuestionAnswered) -> bool:
        if self._asked is None or self._asked[0] != event.question_id:
            return False
        self.waiting.pop(self._asked[1].request_id, None)
        self._asked = None
        return True

    def on_over(
        self, event: ev.SessionFinished | ev.RunResumed | ev.RunFinished | ev.RunCrashed
    ) -> bool:
        """Drop all requests: the session that made them has ended."""
        had = bool(self.waiting)
        self.waiting.clear()
        return had
