"""What runs a coding agent, and what it is given."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from ralph_tui.ports.host import Emit


@dataclass(frozen=True)
class Permissions:
    """What an agent may do without asking."""

    mode: Literal["edits", "skip", "ask"] = "edits"
    """``edits``: file edits and the completion command; ``skip``: everything; ``ask``: as `edits`,
    and the owner is asked about the rest.
    """
    allow: tuple[str, ...] = ()
    """More of what is allowed, in the agent's own notation."""


@dataclass(frozen=True)
class Turn:
    """Everything an agent needs for one session."""

    iteration: int
    prompt: str
    session_id: str
    """A fresh uuid."""
    transcript: Path
    """Where every line the agent prints is kept, redacted."""
    stderr: Path
    command: str
    """The completion command: always permitted."""
    permissions: Permissions = Permissions()
    budget_usd: float | None = None
    """Dollars this session may cost."""
    resume: str | None = None
    """The session that is to go on with the prompt; where it cannot, it ends ``unresumable``."""
    system_context: str = ""
    """What holds for every iteration; short."""

    @property
    def whole_prompt(self) -> str:
        """For an agent that takes no system context: it stands before the prompt."""
        parts = (self.system_context.strip(), self.prompt)
        return "\n\n".join(part for part in parts if part)


@dataclass
class Ask:
    """One question to a model, answered with a JSON object."""

    prompt: str
    model: str | None = None
    timeout_s: float = 120.0
    cancelled: bool = False
    """Set by whoever does not want the answer any more; any thread may."""


@dataclass(frozen=True)
class Asked:
    """What came of it."""

    answer: dict[str, object] | None
    """None when there was no usable answer; `error` says why."""
    error: str = ""
    said: str = ""
    """The words of an answer that holds no JSON object."""
    cost_usd: float | None = None
    tokens: int = 0


@dataclass(frozen=True)
class AgentAnswer:
    """The owner's answer to what a running agent has asked, see `AgentAsked`."""

    decision: Literal["once", "session", "refuse"]
    """``once`` also answers a choice; ``session`` allows the rule that was asked about."""
    words: str = ""
    """Of a refusal: whole sentences for the agent."""
    choices: tuple[tuple[str, ...], ...] = ()
    """Of a choice: for each of its questions in order the labels chosen, or words of his own."""


class Session(Protocol):
    """A running agent. Its events, `SessionFinished` last, arrive through `Emit`."""

    takes_guidance: bool

    def send(self, guidance_id: str, text: str) -> bool:
        """Hand words over; False when it can no longer take them. Delivery is an event."""

    def answer(self, request_id: str, answer: AgentAnswer) -> bool:
        """Answer what it has asked; False when that is not asked, or not any more."""

    def stop(self, outcome: str = "stopped") -> None:
        """Begin to end it and all it started; returns at once. `outcome` names why."""


class Agent(Protocol):
    """Something that can work on a prompt."""

    name: str
    resumes: bool
    """Whether a session of it can go on after its end."""

    def start(self, turn: Turn, emit: Emit) -> Session:
        """Start a session; raises ``AgentError`` when the program cannot be started."""


@runtime_checkable
class Asker(Protocol):
    """An agent that can also be asked."""

    small_model: str
    """The cheap one, which is asked where no model is named."""

    def ask(self, question: Ask) -> Asked:
        """Ask one question, outside of any session; blocking, a job. Never raises.

        One that is cancelled ends within a second, and leaves no process.
        """


class Memory(Protocol):
    """How much memory the agent and all it started hold, sampled while it works."""

    def begin(self) -> None:
        """A session starts."""

    def end(self) -> None:
        """It is over; what was sampled stays to be taken."""

    def take_peak(self) -> int:
        """The most bytes since the last call; 0: nothing is known. Returns at once."""


class NoMemory:
    """Nothing is sampled."""

    def begin(self) -> None:
        """Nothing."""

    def end(self) -> None:
        """Nothing."""

    def take_peak(self) -> int:
        """Not known."""
        return 0
