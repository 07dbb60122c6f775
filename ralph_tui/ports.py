"""What the loop needs from outside, as Protocols that fakes and the real parts both fit.

Every call here returns at once or is run as a job (`Host.start`): none may hold the engine thread
for more than 100 ms.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from ralph_tui.events import Event
from ralph_tui.events.workspace import FileChange
from ralph_tui.observation.gate import GateResult
from ralph_tui.observation.plan import Progress

T = TypeVar("T")

Emit = Callable[[Event], None]
"""Puts an unstamped event into the engine's inbox; callable from any thread."""


class Clock(Protocol):
    """Time, injected."""

    def now(self) -> datetime:
        """Wall time, UTC, aware."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back."""
        ...


@dataclass(frozen=True)
class Permissions:
    """What an agent may do without asking."""

    mode: Literal["edits", "skip"] = "edits"
    """File edits and the completion command, or everything."""
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
    """The session that was interrupted and is to go on, where the agent can."""


@dataclass(frozen=True)
class Ask:
    """One question to a model, answered with a JSON object."""

    prompt: str
    model: str | None = None
    timeout_s: float = 120.0


@dataclass(frozen=True)
class Asked:
    """What came of it."""

    answer: dict[str, object] | None
    """None when there was no usable answer; `error` says why."""
    error: str = ""
    cost_usd: float | None = None
    tokens: int = 0


class Session(Protocol):
    """A running agent. Its events, `SessionFinished` last, arrive through `Emit`."""

    takes_guidance: bool

    def send(self, guidance_id: str, text: str) -> bool:
        """Hand words over; False when it can no longer take them. Delivery is an event."""
        ...

    def stop(self, outcome: str = "stopped") -> None:
        """Begin to end it and all it started; returns at once. `outcome` names why."""
        ...


class Agent(Protocol):
    """Something that can work on a prompt."""

    name: str

    def start(self, turn: Turn, emit: Emit) -> Session:
        """Start a session; raises ``AgentError`` when the program cannot be started."""
        ...


class Asker(Protocol):
    """An agent that can also be asked."""

    def ask(self, question: Ask) -> Asked:
        """Ask one question, outside of any session; blocking, a job. Never raises."""
        ...


class Gate(Protocol):
    """Runs the completion command under the keeper."""

    def run(self, log: Path) -> GateResult:
        """Run it to its end or its timeout, output to `log`; blocking, a job."""
        ...

    def cancel(self) -> None:
        """End a running command and all it started; the blocked `run` then returns."""
        ...


@dataclass(frozen=True)
class Snapshot:
    """The worktree as a git tree."""

    number: int
    ref: str
    commit: str
    tree: str
    missing: tuple[str, ...] = ()
    missing_count: int = 0


class Workspace(Protocol):
    """The user's repository. All calls block and are jobs."""

    root: Path

    def snapshot(self, number: int, message: str) -> Snapshot:
        """Write the worktree as a tree on a hidden ref; index, branch and stash stay untouched."""
        ...

    def changes(self, since: str, until: str | None = None) -> tuple[FileChange, ...]:
        """Changed files between two trees, or a tree and the worktree as it is now."""
        ...


class Watcher(Protocol):
    """Follows the worktree; puts `FilesChanged` and `Noticed` into the inbox."""

    def follow(self, iteration: int, tree: str) -> None:
        """From now on changes are counted against this tree."""
        ...

    def stop(self) -> None:
        """End it; returns when its thread is gone."""
        ...


class Records(Protocol):
    """The attempt's folder, everything but the journal."""

    folder: Path

    def iteration_folder(self, iteration: int) -> Path:
        """``results/iter-001``, made when missing."""
        ...

    def relative(self, path: Path) -> str:
        """A path inside the attempt's folder as the journal names it."""
        ...

    def write_prompt(self, iteration: int, prompt: str) -> Path:
        """Keep the prompt as sent."""
        ...

    def write_verification(self, iteration: int, result: GateResult) -> None:
        """Keep the gate's result as JSON."""
        ...


@dataclass
class Job:
    """Work that runs beside the engine thread and reports to its inbox when it is done."""

    name: str
    done: bool = False
    result: object = None
    error: BaseException | None = None
    then: Callable[["Job"], Generator[Event, None, None]] | None = field(default=None, repr=False)
    """Tells the events of a job that nobody waits for."""


class Host(Protocol):
    """What the engine gives the loop: jobs, and the only place to wait."""

    @property
    def clock(self) -> Clock:
        """The time."""
        ...

    def start(self, name: str, work: Callable[[], T]) -> "Job":
        """Run `work` in a thread of its own."""
        ...

    def receive(self, timeout: float) -> object | None:
        """The next Event, Command or finished Job in the inbox; None after `timeout` seconds."""
        ...

    def emit(self, event: Event) -> None:
        """The `Emit` that agents and watchers are given."""
        ...


@dataclass(frozen=True)
class Ports:
    """The outside world of one run."""

    agent: Agent
    gate: Gate
    workspace: Workspace
    watcher: Watcher
    records: Records
    read_plan: Callable[[], Progress | None] = lambda: None
    sweep: Callable[[], Sequence[int]] = tuple
    """Stops what dead runs of this worktree left behind; gives back the process ids."""
