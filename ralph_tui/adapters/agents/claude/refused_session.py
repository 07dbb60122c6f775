"""A session that is over before it has begun, because its agent would refuse to work."""

from ralph_tui.events import SessionFinished, SessionStarted
from ralph_tui.events.agent import SessionOutcome
from ralph_tui.ports import AgentAnswer, Emit, Turn


class RefusedSession:
    """Emits why it did not start, as its one end."""

    takes_guidance = False

    def __init__(
        self,
        agent: str,
        turn: Turn,
        emit: Emit,
        reason: str,
        outcome: SessionOutcome = "missing",
    ) -> None:
        emit(SessionStarted(iteration=turn.iteration, session_id=turn.session_id, agent=agent))
        emit(SessionFinished(iteration=turn.iteration, outcome=outcome, reason=reason))

    def send(self, guidance_id: str, text: str) -> bool:
        """False: no program runs."""
        return False

    def answer(self, request_id: str, answer: AgentAnswer) -> bool:
        """False: nothing was asked."""
        return False

    def stop(self, outcome: str = "stopped") -> None:
        """Nothing is left to do."""
