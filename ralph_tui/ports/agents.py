"""Coding agents, and the input and output of their sessions."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from ralph_tui.ports.host import Emit


@dataclass(frozen=True)
class Permissions:
    """Actions that an agent may take without asking."""

    mode: Literal["edits", "skip", "ask"] = "edits"
    """``edits``: file edits and the completion command. ``skip``: everything. ``ask``: as
    ``edits``, but anything else needs the user's approval.
    """
    allow: tuple[str, ...] = ()
    """Further allowed actions, in the agent's own notation."""


@dataclass(frozen=True)
class Turn:
    """Everything an agent needs for one session."""

    iteration: int
    prompt: str
    session_id: str
    """A fresh UUID."""
    transcript: Path
    """File that records every line the agent prints, redacted."""
    stderr: Path
    command: str
    """The completion command, which is always permitted."""
    permissions: Permissions = Permissions()
    budget_usd: float | None = None
    """Limit for this session in US dollars."""
    resume: str | None = None
    """Session to continue with the prompt; the outcome is ``unresumable`` if that is impossible."""
    system_context: str = ""
    """Short text that applies to every iteration."""

    @property
    def whole_prompt(self) -> str:
        """The system context followed by the prompt, for agents without a system context."""
        parts = (self.system_context.strip(), self.prompt)
        return "\n\n".join(part for part in parts if part)


@dataclass
class Ask:
    """One question to a model, answered with a JSON object."""

    prompt: str
    model: str | None = None
    timeout_s: float = 120.0
    cancelled: bool = False
    """Set by the caller, from any thread, when the answer is no longer needed."""


@dataclass(frozen=True)
class Asked:
    """Result of an `Ask`."""

    answer: dict[str, object] | None
    """None if there was no usable answer; `error` gives the reason."""
    error: str = ""
    said: str = ""
    """The model's text if it contains no JSON object."""
    cost_usd: float | None = None
    tokens: int = 0


@dataclass(frozen=True)
class AgentAnswer:
    """The user's answer to an `AgentAsked` event of a running agent."""

    decision: Literal["once", "session", "refuse"]
    """``once`` also answers a choice; ``session`` allows the rule for the whole session."""
    words: str = ""
    """The reason for a refusal, in full sentences for the agent."""
    choices: tuple[tuple[str, ...], ...] = ()
    """The answers to a choice: the chosen labels or the user's words, by question, in order."""


class Session(Protocol):
    """A running agent. It reports its events through `Emit`; the last one is `SessionFinished`."""

    takes_guidance: bool

    def send(self, guidance_id: str, text: str) -> bool:
        """Send guidance; False if the session accepts none. An event reports the delivery."""

    def answer(self, request_id: str, answer: AgentAnswer) -> bool:
        """Answer a request from the agent; False if that request is not open."""

    def stop(self, outcome: str = "stopped") -> None:
        """Start ending the agent and its processes. Returns at once. `outcome` is the reason."""


class Agent(Protocol):
    """A coding agent that can work on a prompt."""

    name: str
    resumes: bool
    """True if an ended session can be continued."""

    def start(self, turn: Turn, emit: Emit) -> Session:
        """Start a session. Raises ``AgentError`` if the program cannot be started."""


@runtime_checkable
class Asker(Protocol):
    """An agent that can also answer single questions."""

    small_model: str
    """An inexpensive model for questions that do not name one."""

    def ask(self, question: Ask) -> Asked:
        """Ask one question outside any session. Blocks, so run it as a job; never raises.

        A cancelled question ends within a second and leaves no process behind.
        """


class Memory(Protocol):
    """Memory used by the agent and its processes, sampled while it works."""

    def begin(self) -> None:
        """Start sampling for a session."""

    def end(self) -> None:
        """Stop sampling; `take_peak` still returns what was sampled."""

    def take_peak(self) -> int:
        """Return the peak in bytes since the last call; 0 if unknown. Returns at once."""


class NoMemory:
    """Memory sampling that is switched off."""

    def begin(self) -> None:
        pass

    def end(self) -> None:
        pass

    def take_peak(self) -> int:
        return 0
