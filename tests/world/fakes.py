"""The outside world, played: a loop runs in microseconds, and every moment of it can be chosen."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ralph_tui.commands import Command
from ralph_tui.events import (
    AgentReported,
    EscalationRaised,
    Event,
    PromiseMade,
    RunStarted,
    SessionFinished,
    SessionStarted,
)
from ralph_tui.events.agent import SessionOutcome
from ralph_tui.events.run import Mode
from ralph_tui.events.workspace import FileChange
from ralph_tui.layers.sensor.gate import Counts, GateResult
from ralph_tui.loop.loop import Loop
from ralph_tui.loop.run import Layers, Rules, Run
from ralph_tui.loop.waiting.scheduler import Scheduler
from ralph_tui.ports import Ask, Asked, Emit, Job, Ports, Restored, Snapshot, Turn
from ralph_tui.state import RunState


class FakeClock:
    """Time that moves when it is told to."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds


class FakeHost:
    """Jobs are done at once; what they came to waits in the inbox like everything else."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.inbox: deque[object] = deque()
        self.idle: deque[object] = deque()
        """Given out one by one when nothing else is there: commands that come while waiting."""

    def start(self, name: str, work: Callable[[], object]) -> Job:
        job = Job(name)
        try:
            job.result = work()
        except Exception as error:  # noqa: BLE001  as the engine does
            job.error = error
        self.inbox.append(job)
        return job

    def receive(self, timeout: float) -> object | None:
        if self.inbox:
            return self.inbox.popleft()
        self.clock.seconds += timeout
        if self.idle:
            item = self.idle.popleft()
            return item() if callable(item) else item
        return None

    def emit(self, event: Event) -> None:
        self.inbox.append(event)


@dataclass
class FakeSession:
    """Ends when it is told to, or at once."""

    iteration: int
    emit: Emit
    takes_guidance: bool = False
    sent: list[str] = field(default_factory=list)
    stopped: bool = False

    def send(self, guidance_id: str, text: str) -> bool:
        self.sent.append(text)
        return True

    def stop(self, outcome: str = "stopped") -> None:
        if not self.stopped:
            self.stopped = True
            self.finish("stopped")

    def fail(self, reason: str) -> None:
        self.emit(SessionFinished(iteration=self.iteration, outcome="error", reason=reason))

    def finish(self, outcome: SessionOutcome = "success", cost: float | None = None) -> None:
        self.emit(SessionFinished(iteration=self.iteration, outcome=outcome, cost_usd=cost))


class FakeAgent:
    """Plays one act per session; without one it ends its turn at once."""

    name = "fake"

    def __init__(self) -> None:
        self.acts: deque[Callable[[FakeSession], None]] = deque()
        self.prompts: list[str] = []
        self.sessions: list[FakeSession] = []
        self.takes_guidance = False

    def start(self, turn: Turn, emit: Emit) -> FakeSession:
        session = FakeSession(turn.iteration, emit, self.takes_guidance)
        self.sessions.append(session)
        self.prompts.append(turn.prompt)
        emit(SessionStarted(iteration=turn.iteration, session_id="s", agent="fake"))
        act = self.acts.popleft() if self.acts else FakeSession.finish
        act(session)
        return session

    def ask(self, question: Ask) -> Asked:
        return Asked(None, "the fake agent cannot be asked")


class FakeGate:
    """Counts as told: one number of passed tests per run, of `total`."""

    def __init__(self, passed: list[int], total: int = 10) -> None:
        self.passed = deque(passed)
        self.total = total
        self.cancelled = 0
        self.last = 0

    def run(self, log: Path) -> GateResult:
        self.last = self.passed.popleft() if self.passed else self.last
        failed = self.total - self.last
        counts = Counts("pytest", self.last, failed)
        return GateResult(ok=not failed, exit_code=int(failed > 0), counts=counts, tail="the tail")

    def cancel(self) -> None:
        self.cancelled += 1


class FakeWorkspace:
    """Numbers its trees; every session changes one file unless told otherwise."""

    def __init__(self) -> None:
        self.root = Path("/r")
        self.taken: list[str] = []
        self.changed = [FileChange(path="a.py", status="modified", category="source", added=1)]
        self.error: Exception | None = None
        self.restored: list[str] = []
        self.conflicting: tuple[str, ...] = ()

    def snapshot(self, number: int, message: str) -> Snapshot:
        if self.error is not None:
            raise self.error
        self.taken.append(message)
        return Snapshot(number, f"refs/ralph/x/{number:03}", f"c{number}", f"t{number}")

    def changes(self, since: str, until: str | None = None) -> tuple[FileChange, ...]:
        return tuple(self.changed)

    def restore(self, tree: str) -> Restored:
        if self.error is not None:
            raise self.error
        self.restored.append(tree)
        return Restored(("a.py",), ())

    def newest(self) -> int:
        return len(self.taken)

    def conflicts(self) -> tuple[str, ...]:
        return self.conflicting


class FakeOutreach:
    """Keeps what it is to tell."""

    speaks = True

    def __init__(self) -> None:
        self.sent: list[EscalationRaised] = []

    def send(self, escalation: EscalationRaised, run: RunStarted) -> None:
        self.sent.append(escalation)


class FakeWatcher:
    """Remembers what it followed."""

    def __init__(self) -> None:
        self.followed: list[tuple[int, str]] = []
        self.stopped = False

    def follow(self, iteration: int, tree: str) -> None:
        self.followed.append((iteration, tree))

    def stop(self) -> None:
        self.stopped = True


class FakeRecords:
    """A folder that nobody writes to."""

    folder = Path("/r/attempt")

    def __init__(self) -> None:
        self.prompts: dict[int, str] = {}
        self.projected: list[dict[str, Any]] = []

    def iteration_folder(self, iteration: int) -> Path:
        return self.folder / "results" / f"iter-{iteration:03}"

    def relative(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()

    def write_prompt(self, iteration: int, prompt: str) -> Path:
        self.prompts[iteration] = prompt
        return self.iteration_folder(iteration) / "prompt.md"

    def project(self, state: RunState) -> dict[str, Any]:
        return {"iterations": len(state.run.completions)}

    def write_projections(self, projected: Mapping[str, Any]) -> None:
        self.projected.append(dict(projected))

    def write_verification(self, iteration: int, result: GateResult) -> None:
        pass


class World:
    """A loop with everything around it played."""

    def __init__(
        self,
        passed: list[int],
        *,
        max_iterations: int = 10,
        rules: Rules | None = None,
        budget_usd: float | None = None,
        mode: Mode = "headless",
        criterion: str | None = None,
        past: Sequence[Event] = (),
    ) -> None:
        """`past` is the journal of a run that is to be resumed."""
        self.passed = passed
        self.max_iterations = max_iterations
        self.host = FakeHost()
        self.agent = FakeAgent()
        self.gate = FakeGate(passed)
        self.workspace = FakeWorkspace()
        self.watcher = FakeWatcher()
        self.records = FakeRecords()
        self.events = list(past)
        start = RunStarted(
            run_id="run",
            root="/r",
            objective="Fix it",
            command=None if criterion else "pytest -q",
            criterion=criterion,
            mode=mode,
            agent="fake",
            max_iterations=max_iterations,
            session_timeout_s=60,
            budget_usd=budget_usd,
        )
        gate = None if criterion else self.gate
        self.outreach = FakeOutreach()
        ports = Ports(self.agent, gate, self.workspace, self.watcher, self.records, self.outreach)
        rules = rules or Rules()
        layers = Layers.of(rules, start.command)
        self.state = layers.recall(past)
        self.loop = Loop(Run(start, rules, ports, layers, Scheduler(self.host, self.state)))

    def steps(self, events: Iterator[Event] | None = None) -> Iterator[Event]:
        """The run, or these events of it, each recorded as the engine would."""
        for event in events or self.loop.run():
            stamped = event.model_copy(
                update={"seq": len(self.events) + 1, "at": self.host.clock.now()}
            )
            self.events.append(stamped)
            self.state.apply(stamped)
            yield stamped

    def run(self) -> "World":
        """The whole run."""
        for _ in self.steps():
            if len(self.events) > 10_000:
                raise AssertionError("the run does not end")
        return self

    def kinds(self, *of: str) -> list[str]:
        """The kinds of events that came, in order; only these where named."""
        return [event.kind for event in self.events if not of or event.kind in of]

    def all(self, kind: str) -> list[Event]:
        """All events of one kind."""
        return [event for event in self.events if event.kind == kind]

    def send(self, *commands: Command) -> None:
        """Let these commands come while the loop waits for something."""
        self.host.idle.extend(commands)


def promise(session: FakeSession) -> None:
    """An act: claim to be done, and end the turn."""
    session.emit(PromiseMade(iteration=session.iteration))
    session.finish()


def wait(session: FakeSession) -> None:
    """An act: go on until stopped."""


def report(next_step: str) -> Callable[[FakeSession], None]:
    """An act: report, and end the turn."""

    def act(session: FakeSession) -> None:
        session.emit(AgentReported(iteration=session.iteration, next=next_step))
        session.finish()

    return act
