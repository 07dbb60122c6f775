"""An agent that plays one act per session, and the acts it is mostly given."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from ralph_tui.events import AgentReported, PromiseMade, SessionFinished, SessionStarted
from ralph_tui.events.agent import SessionOutcome
from ralph_tui.ports.agents import AgentAnswer, Ask, Asked, Turn
from ralph_tui.ports.host import Emit


@dataclass
class FakeSession:
    """A session that ends on request, or at once."""

    iteration: int
    emit: Emit
    takes_guidance: bool = False
    sent: list[str] = field(default_factory=list)
    stopped: bool = False
    cost_usd: float | None = None
    """Cost reported when it is stopped."""
    answers: list[tuple[str, AgentAnswer]] = field(default_factory=list)
    """Answers received, each with its question."""
    on_answer: Callable[["FakeSession", str], None] = lambda session, request_id: None
    """Reaction to an answer."""

    def send(self, guidance_id: str, text: str) -> bool:
        self.sent.append(text)
        return True

    def answer(self, request_id: str, answer: AgentAnswer) -> bool:
        if self.stopped:
            return False
        self.answers.append((request_id, answer))
        self.on_answer(self, request_id)
        return True

    def stop(self, outcome: str = "stopped") -> None:
        if not self.stopped:
            self.stopped = True
            self.finish(cast("SessionOutcome", outcome), self.cost_usd)

    def fail(self, reason: str) -> None:
        self.emit(SessionFinished(iteration=self.iteration, outcome="error", reason=reason))

    def finish(self, outcome: SessionOutcome = "success", cost: float | None = None) -> None:
        self.emit(SessionFinished(iteration=self.iteration, outcome=outcome, cost_usd=cost))


class FakeAgent:
    """Plays one act per session; without one it ends its turn at once."""

    resumes = True

    def __init__(self, name: str = "fake") -> None:
        self.name = name
        self.acts: deque[Callable[[FakeSession], None]] = deque()
        self.prompts: list[str] = []
        self.system_contexts: list[str] = []
        self.sessions: list[FakeSession] = []
        self.takes_guidance = False

    def start(self, turn: Turn, emit: Emit) -> FakeSession:
        session = FakeSession(turn.iteration, emit, self.takes_guidance)
        self.sessions.append(session)
        self.prompts.append(turn.prompt)
        self.system_contexts.append(turn.system_context)
        emit(
            SessionStarted(
                iteration=turn.iteration,
                session_id="s",
                agent=self.name,
                transcript=f"results/iter-{turn.iteration:03}/{turn.transcript.name}",
            )
        )
        act = self.acts.popleft() if self.acts else FakeSession.finish
        act(session)
        return session


class FakeAsker:
    """Answers questions from a list, in order; further questions fail."""

    small_model = "tiny"

    def __init__(self) -> None:
        self.answers: deque[dict[str, object] | Asked] = deque()
        self.asked: list[Ask] = []

    def ask(self, question: Ask) -> Asked:
        self.asked.append(question)
        answer = self.answers.popleft() if self.answers else Asked(None, "Nobody is there.")
        if isinstance(answer, Asked):
            return answer
        return Asked(answer, cost_usd=0.01, tokens=100)


class FakeMemory:
    """Samples the memory that a test assigns to a session."""

    def __init__(self) -> None:
        self.working = False
        self.peak = 0

    def begin(self) -> None:
        assert not self.working
        self.working = True

    def end(self) -> None:
        assert self.working
        self.working = False

    def sample(self, held: int) -> None:
        """Record the memory of a working session."""
        self.peak = max(self.peak, held if self.working else 0)

    def take_peak(self) -> int:
        peak, self.peak = self.peak, 0
        return peak


def promise(session: FakeSession) -> None:
    """An act: claim to be done, and end the turn."""
    session.emit(PromiseMade(iteration=session.iteration))
    session.finish()


def wait(session: FakeSession) -> None:
    """An act that continues until stopped."""


def report(next_step: str) -> Callable[[FakeSession], None]:
    """An act: report, and end the turn."""

    def act(session: FakeSession) -> None:
        session.emit(AgentReported(iteration=session.iteration, next=next_step))
        session.finish()

    return act
