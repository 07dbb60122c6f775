"""Claude Code's sessions over stream-json, and its answers to one-shot questions."""

import os
from dataclasses import replace

from ralph_tui.adapters.agents.claude import CLAUDE
from ralph_tui.adapters.agents.claude.one_shot import ask_once
from ralph_tui.adapters.agents.claude.program import installed_program
from ralph_tui.adapters.agents.claude.stream_agent import StreamAgent
from ralph_tui.adapters.agents.description import AgentContext
from ralph_tui.events import SessionFinished, SessionStarted
from ralph_tui.events.agent import SessionOutcome
from ralph_tui.ports.agents import AgentAnswer, Ask, Asked, Session, Turn
from ralph_tui.ports.host import Emit


class RefusedSession:
    """A session that could not start; it only emits the reason."""

    takes_guidance = False

    def __init__(
        self, agent: str, turn: Turn, emit: Emit, reason: str, outcome: SessionOutcome = "missing"
    ) -> None:
        emit(SessionStarted(iteration=turn.iteration, session_id=turn.session_id, agent=agent))
        emit(SessionFinished(iteration=turn.iteration, outcome=outcome, reason=reason))

    def send(self, guidance_id: str, text: str) -> bool:
        return False

    def answer(self, request_id: str, answer: AgentAnswer) -> bool:
        return False

    def stop(self, outcome: str = "stopped") -> None:
        pass


_NO_OUTPUT_YET = "The agent's session has no output yet and cannot be resumed."
_ROOT = (
    "Claude Code does not skip permissions for root: set IS_SANDBOX=1 if this machine is a "
    "sandbox, run as another user, or choose the permissions `edits`."
)


class ClaudeAgent(StreamAgent):
    """Claude Code. Raises ``UsageError`` if it is missing or too old."""

    resumes = True
    small_model = CLAUDE.small_model

    def __init__(self, context: AgentContext) -> None:
        self.program = installed_program(context)
        if context.hands_off:
            # With a window of 200,000 tokens, it would compact at 83 %, before its handoff.
            environ = {"DISABLE_AUTO_COMPACT": "1", **context.environ}
            context = context._replace(environ=environ)
        super().__init__(CLAUDE.name, [self.program.path], context)

    def start(self, turn: Turn, emit: Emit) -> Session:
        sandboxed = self.context.environ.get("IS_SANDBOX") == "1"
        if turn.permissions.mode == "skip" and os.geteuid() == 0 and not sandboxed:
            return RefusedSession(self.name, turn, emit, _ROOT)
        names = self.ledger.names
        resume = self.ledger.name_of(turn.resume) if turn.resume else ""
        if turn.resume and not resume:
            return RefusedSession(self.name, turn, emit, _NO_OUTPUT_YET, "unresumable")
        if resume:
            names[turn.session_id] = resume
            turn = replace(turn, session_id=resume)
        else:
            # A session without a response so far cannot be resumed.
            names[turn.session_id] = ""
        return self.begin(replace(turn, resume=resume or None), emit)

    def ask(self, question: Ask) -> Asked:
        """Ask one question without tools; return within `timeout_s` and one second."""
        model = question.model or self.small_model
        return ask_once(self.program.question(model), self.context, question, "Claude Code")

    def command_line(self, turn: Turn) -> list[str]:
        return self.program.session(turn, self.context.settings.model)

    def first_message(self, turn: Turn) -> str:
        """Return the prompt, after the system context if that does not fit on the command line."""
        return turn.prompt if self.program.fits_context(turn) else turn.whole_prompt
