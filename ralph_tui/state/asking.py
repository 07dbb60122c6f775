"""What the running agent has asked of its owner, and is not answered."""

from ralph_tui import events as ev
from ralph_tui.events.asking import AgentRequest
from ralph_tui.state.fold import Fold


class AskingFold(Fold):
    """What the loop asks its owner about, one after the other."""

    def __init__(self) -> None:
        self.agent = ""
        """Whose session it is."""
        self.waiting: dict[str, ev.AgentAsked] = {}
        """By the request's id, the oldest first."""
        self.no_more: ev.AgentAskedNoMore | None = None
        """What the agent has taken back last."""
        self._asked: tuple[str, AgentRequest] | None = None
        """The question that is open about one, and which."""

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
        """Who has asked is gone."""
        had = bool(self.waiting)
        self.waiting.clear()
        return had
