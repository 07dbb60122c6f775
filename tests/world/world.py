"""A loop with everything around it played."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from ralph_tui.commands import Command
from ralph_tui.config.settings import Settings
from ralph_tui.events import Event, QuestionAsked, RunFinished, RunStarted
from ralph_tui.events.run import Mode
from ralph_tui.layers.intelligence import Traces
from ralph_tui.layers.sensor.plan import Progress
from ralph_tui.loop.loop import Loop
from ralph_tui.loop.run import Layers, Run
from ralph_tui.loop.waiting.scheduler import Scheduler
from ralph_tui.ports.knowledge import Knowledge, NoKnowledge, NoPastRuns, PastRuns
from ralph_tui.ports.outside import Ports
from ralph_tui.ports.records import (
    CheckpointFiles,
    LoopStateFile,
    NoCheckpointFiles,
    PromptTemplate,
)
from ralph_tui.ports.worktree import Commits
from tests.world.agents import FakeAgent, FakeAsker, FakeMemory
from tests.world.host import BEGAN, FakeHost
from tests.world.outreach import FakeOutreach
from tests.world.owner import Reply
from tests.world.records import FakeRecords
from tests.world.turns import Turns
from tests.world.worktree import FakeGate, FakeWatcher, FakeWorkspace

E = TypeVar("E", bound=Event)


class World:
    """A loop with everything around it played."""

    def __init__(
        self,
        passed: list[int],
        *,
        max_iterations: int = 10,
        settings: Settings | None = None,
        budget_usd: float | None = None,
        mode: Mode = "headless",
        criterion: str | None = None,
        began: datetime = BEGAN,
        past: Sequence[Event] = (),
        knowledge: Knowledge | None = None,
        past_runs: PastRuns | None = None,
        asker: FakeAsker | None = None,
        template: PromptTemplate | None = None,
        commits: Commits | None = None,
        copy_handoff: Callable[[str, str], str] = lambda _text, _before: "",
        state_file: LoopStateFile | None = None,
        checkpoint_files: CheckpointFiles | None = None,
        fallbacks: Sequence[str] = (),
        absent: Mapping[str, str] | None = None,
        **fields: Any,
    ) -> None:
        """`passed`: tests that pass, one number per run of the command; `past`: the journal of a
        run that is to be resumed; `knowledge` and `past_runs`: what earlier runs left, nothing
        unless given; `asker`: who answers questions; `fallbacks`: names of the agents that take
        over; `absent`: why those are not there that are not; `fields`: other fields of its start.
        """
        self.passed = passed
        self.max_iterations = max_iterations
        self.host = FakeHost(began)
        self.agent = FakeAgent()
        self.fallbacks = [FakeAgent(name) for name in fallbacks]
        self.memory = FakeMemory()
        self.gate = FakeGate(passed)
        self.workspace = FakeWorkspace()
        self.watcher = FakeWatcher()
        self.records = FakeRecords()
        self.plan: Progress | None = None
        """Content of the plan file."""
        self.traces: Traces | Exception = Traces()
        """Traces of every session, or the error on reading them."""
        self.test_files: list[str] = []
        """Test files of the repository."""
        self.events = list(past)
        asked_for = {
            "run_id": "run",
            "root": "/r",
            "objective": "Fix it",
            "command": None if criterion else "pytest -q",
            "criterion": criterion,
            "mode": mode,
            "agent": "fake",
            "max_iterations": max_iterations,
            "session_timeout_s": 60,
            "budget_usd": budget_usd,
        }
        start = RunStarted.model_validate(asked_for | fields)
        gate = self.gate if start.command else None
        self.outreach = FakeOutreach()
        ports = Ports(
            self.agent,
            gate,
            self.workspace,
            self.watcher,
            self.records,
            self._read_traces,
            lambda: self.test_files,
            self.outreach,
            fallbacks=self.fallbacks,
            absent=absent or {},
            memory=self.memory,
            knowledge=knowledge or NoKnowledge(),
            past=past_runs or NoPastRuns(),
            template=template,
            commits=commits,
            copy_handoff=copy_handoff,
            state_file=state_file,
            checkpoint_files=checkpoint_files or NoCheckpointFiles(),
            asker=asker,
            askers=["fake"],
            read_plan=lambda: self.plan,
        )
        settings = settings or Settings()
        self.layers = layers = Layers.of(settings, start.command)
        self.state = layers.recall(past)
        scheduler = Scheduler(self.host, self.state, self.workspace.hurry, ports.knowledge)
        self.loop = Loop(Run(start, settings, ports, layers, scheduler))

    def _read_traces(self, _iteration: int, _since: datetime) -> Traces:
        if isinstance(self.traces, Exception):
            raise self.traces
        return self.traces

    def steps(self, run: Callable[[], None] | None = None) -> Iterator[Event]:
        """Play the run, or a part of it, event by event, waiting for the caller in between."""
        turns = Turns()

        def record(event: Event) -> None:
            turns.give(self.record(event))

        self.host.record = record
        yield from turns.of(run or self.loop.run)

    def record(self, event: Event) -> Event:
        """Stamp an event, keep it, and fold it into the state."""
        stamped = event.model_copy(
            update={"seq": len(self.events) + 1, "at": self.host.clock.now()}
        )
        self.events.append(stamped)
        self.state.apply(stamped)
        return stamped

    def run(self) -> "World":
        """Play the whole run without answering any question."""
        return self.play(lambda asked: None)

    def play(self, reply: Reply, run: Callable[[], None] | None = None) -> "World":
        """Play the whole run, or this part of it; `reply` answers its questions."""

        def record(event: Event) -> None:
            stamped = self.record(event)
            if isinstance(stamped, QuestionAsked):
                command = reply(stamped)
                if command is not None:
                    self.host.inbox.append(command)
            if len(self.events) > 20_000:
                raise AssertionError("the run does not end")

        self.host.record = record
        (run or self.loop.run)()
        return self

    def kinds(self, *of: str) -> list[str]:
        """The kinds of events that came, in order; only these where named."""
        return [event.kind for event in self.events if not of or event.kind in of]

    def all(self, kind: type[E]) -> list[E]:
        """All events of one type, in order."""
        return [event for event in self.events if isinstance(event, kind)]

    def only(self, kind: type[E]) -> E:
        """Return the only event of this type."""
        (event,) = self.all(kind)
        return event

    @property
    def end(self) -> RunFinished:
        """The last event of a finished run."""
        end = self.events[-1]
        assert isinstance(end, RunFinished), end
        return end

    def send(self, *commands: Command) -> None:
        """Let these commands come while the loop waits for something."""
        self.host.idle.extend(commands)
