"""What the running agent has asked of its owner, and is not answered."""

from ralph_tui.events import (
    AgentAsked,
    AgentAskedNoMore,
    AgentRefusedAgain,
    QuestionAnswered,
    QuestionAsked,
    RunCrashed,
    RunFinished,
    RunResumed,
    RunStarted,
    SessionFinished,
    SessionStarted,
)
from ralph_tui.events.asking import AgentRequest
from ralph_tui.state.fold import Fold, Handlers, on


class AskingFold(Fold):
    """What the loop asks its owner about, one after the other."""

    def __init__(self) -> None:
        self.agent = ""
        """Whose session it is."""
        self.waiting: dict[str, AgentAsked] = {}
        """By the request's id, the oldest first."""
        self.no_more: AgentAskedNoMore | None = None
        """What the agent has taken back last."""
        self._asked: tuple[str, AgentRequest] | None = None
        """The question that is open about one, and which."""

    def handlers(self) -> Handlers:
        """See `Fold`."""
        return (
            on(RunStarted, self._run_started),
            on(SessionStarted, self._session_started),
            on(AgentAsked, self._agent_asked),
            on(AgentAskedNoMore, self._no_more),
            on(AgentRefusedAgain, self._refused_again),
            on(QuestionAsked, self._question_asked),
            on(QuestionAnswered, self._question_answered),
            on(SessionFinished, self._over),
            on(RunResumed, self._over),
            on(RunFinished, self._over),
            on(RunCrashed, self._over),
        )

    def _run_started(self, event: RunStarted) -> bool:
        self.agent = event.agent
        return False

    def _session_started(self, event: SessionStarted) -> bool:
        self.agent = event.agent
        self.waiting.clear()
        return False

    def _agent_asked(self, event: AgentAsked) -> None:
        self.waiting[event.request_id] = event

    def _no_more(self, event: AgentAskedNoMore) -> bool:
        self.no_more = event
        return self.waiting.pop(event.request_id, None) is not None

    def _refused_again(self, event: AgentRefusedAgain) -> bool:
        return self.waiting.pop(event.request_id, None) is not None

    def _question_asked(self, event: QuestionAsked) -> bool:
        self._asked = (event.question_id, event.request) if event.request is not None else None
        return False

    def _question_answered(self, event: QuestionAnswered) -> bool:
        if self._asked is None or self._asked[0] != event.question_id:
            return False
        self.waiting.pop(self._asked[1].request_id, None)
        self._asked = None
        return True

    def _over(self, event: SessionFinished | RunResumed | RunFinished | RunCrashed) -> bool:
        """Who has asked is gone."""
        had = bool(self.waiting)
        self.waiting.clear()
        return had
