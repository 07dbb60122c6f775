"""Faults inside the real parts of every layer: one raises or returns garbage on demand.

A `Part` names a function deep in a layer, where it is called, and the layer that does without it. A
`Fault` is a fault of one part in some iterations; `injected` puts faults into a world for a with-
block.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import wraps
from pkgutil import resolve_name
from typing import Any
from unittest.mock import patch

from ralph_tui.config.settings import Settings
from ralph_tui.events import AgentReported
from ralph_tui.events.memory import Learning
from ralph_tui.layers.memory.retrieval import Candidate
from ralph_tui.ports.knowledge import Credit, Promotion
from tests.world.agents import FakeAsker, FakeSession
from tests.world.records import FakeStateFile
from tests.world.world import World


@dataclass(frozen=True)
class Part:
    """Something that can fail."""

    layer: str
    """Whose failure the log tells."""
    owner: str
    """Module, or module and class, as `pkgutil.resolve_name` takes it."""
    name: str

    def __str__(self) -> str:
        return f"{self.owner.rpartition('.')[2]}.{self.name}"


_LAYERS, _STEPS = "ralph_tui.layers", "ralph_tui.loop.steps"
_EVALUATION, _LEVELS = f"{_LAYERS}.control.evaluation", f"{_LAYERS}.oversight.levels"
CONTROL = [
    Part("control", _EVALUATION, "measure"),
    Part("control", _EVALUATION, "schedule"),
    Part("control", _EVALUATION, "follow"),
    Part("control", _EVALUATION, "output"),
    Part("control", _EVALUATION, "conditions"),
    Part("control", _EVALUATION, "trend_of"),
    Part("control", f"{_LAYERS}.control.history:History", "add"),
    Part("control", f"{_LAYERS}.governor", "watch"),
    Part("control", f"{_LAYERS}.governor", "compute"),
]
OVERSIGHT = [
    Part("oversight", f"{_LAYERS}.governor", "assess"),
    Part("oversight", f"{_LAYERS}.governor", "evidence_of"),
    Part("oversight", _LEVELS, "detect"),
    Part("oversight", _LEVELS, "deviation"),
    Part("oversight", f"{_LAYERS}.oversight.trail:Trail", "after"),
    Part("oversight", f"{_LAYERS}.oversight.circuit:Circuit", "after"),
    Part("oversight", f"{_LAYERS}.oversight.situations", "pace"),
    Part("oversight", f"{_LAYERS}.oversight.episodes:Episode", "pause"),
    Part("oversight", f"{_STEPS}.overseer", "redirect_words"),
    Part("oversight", f"{_STEPS}.overseer", "recommendations"),
    Part("oversight", f"{_STEPS}.overseer", "health_of"),
]
STORE = "tests.world.faults:Known"
MEMORY = [
    Part("memory", f"{_STEPS}.memory", "plan"),
    Part("memory", f"{_STEPS}.memory", "retrieve"),
    Part("memory", f"{_STEPS}.memory", "success"),
    Part("memory", f"{_STEPS}.memory", "learn_from_report"),
    Part("memory", f"{_STEPS}.memory", "learn_from_run"),
    Part("memory", f"{_STEPS}.memory", "reflect"),
    *(
        Part("memory", STORE, name)
        for name in ("candidates", "stage", "credit", "promote", "take_notices")
    ),
]
PROMPT = [
    Part("intelligence", f"{_LAYERS}.intelligence.prompts", "sections_of"),
    Part("intelligence", f"{_LAYERS}.intelligence.prompts", "fit"),
    Part("intelligence", f"{_LAYERS}.intelligence.budget", "estimate_tokens"),
    Part("intelligence", f"{_LAYERS}.intelligence.template:Template", "fill"),
    Part("intelligence", f"{_LAYERS}.intelligence.sections", "useful_lines"),
    Part("intelligence", f"{_STEPS}.prompt_text", "full_input"),
    Part("intelligence", f"{_STEPS}.prompt_text", "build_prompt"),
    Part("intelligence", f"{_STEPS}.prompt_material", "advice"),
    Part("intelligence", f"{_STEPS}.prompt_material", "knowledge_lines"),
    Part("intelligence", f"{_STEPS}.prompt_material", "windows_fill"),
    Part("intelligence", f"{_LAYERS}.intelligence.sections", "resume_section"),
    Part("intelligence", f"{_LAYERS}.intelligence.sections", "files_section"),
]
"""Without one of these the prompt is the fallback."""
INTELLIGENCE = [
    Part("intelligence", f"{_STEPS}.assessment", "assess"),
    Part("intelligence", f"{_STEPS}.assessment", "gather"),
    Part("intelligence", f"{_LAYERS}.intelligence.assessment", "patterns"),
    Part("intelligence", f"{_LAYERS}.intelligence.assessment", "context_files"),
    Part("intelligence", f"{_STEPS}.tool_patterns", "warnings"),
    Part("intelligence", f"{_LAYERS}.governor", "plan"),
    Part("intelligence", f"{_LAYERS}.governor", "grounds_of"),
    Part("intelligence", f"{_STEPS}.strategy", "next_strategy"),
    Part("intelligence", f"{_STEPS}.strategy.validation", "before"),
    Part("intelligence", f"{_STEPS}.strategy.validation", "after"),
    Part("intelligence", f"{_STEPS}.prompting", "system_context"),
    *PROMPT,
]
STATE_FILE = [Part("context", f"{_STEPS}.state_file", "fields_of")]
SENSOR = [
    Part("sensor", f"{_LAYERS}.sensor.sensor:Sensor", "read"),
    Part("sensor", f"{_LAYERS}.sensor.sensor:Sensor", "baseline"),
    Part("sensor", f"{_LAYERS}.sensor.sensor", "share_of_tests"),
    Part("sensor", f"{_LAYERS}.sensor.sensor", "counts_of"),
    Part("sensor", f"{_LAYERS}.sensor.sensor", "tampering"),
    Part("sensor", f"{_LAYERS}.sensor.sensor", "broken_by"),
    Part("sensor", f"{_STEPS}.measurement", "broken_by"),
    Part("sensor", "tests.world.worktree:FakeGate", "run"),
]
_RECORDS = "tests.world.records:FakeRecords"
RECORDS = [
    Part("records", _RECORDS, name)
    for name in (
        "project",
        "write_projections",
        "write_verification",
        "write_iteration_file",
        "assessment",
    )
]
HELP = [
    Part("intelligence", "tests.world.agents:FakeAsker", "ask"),
    Part("intelligence", f"{_STEPS}.prompting", "model_prompt"),
    Part("intelligence", f"{_STEPS}.prompting", "prompt_question"),
    Part("intelligence", f"{_STEPS}.second_opinion", "assessment_question"),
    Part("intelligence", f"{_STEPS}.memory", "reflection_question"),
]
"""Parts that call models."""
OUTREACH = [Part("outreach", "tests.world.outreach:FakeOutreach", "send")]
ALL = [
    *(*CONTROL, *OVERSIGHT, *MEMORY, *INTELLIGENCE),
    *(*SENSOR, *RECORDS, *HELP, *OUTREACH, *STATE_FILE),
]

GARBAGE: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "nan": lambda: float("nan"),
    "object": object,
    "long": lambda: "x" * 100_000,
}
"""Values returned in place of the right one."""


@dataclass(frozen=True, eq=False)
class Fault:
    """A part that fails, how, and when."""

    part: Part
    kind: str | Sequence[str] = "raise"
    """Or a name of `GARBAGE`; or several of them, in turn."""
    at: Collection[int] = range(1000)
    """Iterations."""


class BrokenError(Exception):
    """An error that no code expects."""


@contextmanager
def injected(world: World, *faults: Fault) -> Iterator[dict[Fault, int]]:
    """Inject these faults into a world; yield how often each occurred."""
    met = dict.fromkeys(faults, 0)
    with ExitStack() as held:
        for fault in faults:
            owner = resolve_name(fault.part.owner)
            failing = _failing(world, fault, getattr(owner, fault.part.name), met)
            held.enter_context(patch.object(owner, fault.part.name, failing))
        yield met


def _failing(
    world: World, fault: Fault, real: Callable[..., Any], met: dict[Fault, int]
) -> Callable[..., Any]:
    kinds = [fault.kind] if isinstance(fault.kind, str) else fault.kind

    @wraps(real)
    def failing(*args: Any, **named: Any) -> Any:
        if world.state.run.iteration not in fault.at:
            return real(*args, **named)
        kind = kinds[met[fault] % len(kinds)]
        met[fault] += 1
        if kind == "raise":
            raise BrokenError(f"inside {fault.part}")
        return GARBAGE[kind]()

    return failing


TAUGHT = Learning(
    learning_id="learn-1",
    type="strategy",
    task_type="bug-fix",
    text="Run one test at a time.",
    confidence=0.9,
)


class Known:
    """Knowledge with one learning that promotes everything it receives."""

    def __init__(self) -> None:
        self.staged: dict[str, Learning] = {}

    def candidates(self, objective: str, task_type: str) -> Sequence[Candidate]:
        return [Candidate(TAUGHT, 1.0)]

    def stage(self, learnings: Sequence[Learning]) -> None:
        self.staged |= {one.learning_id: one for one in learnings}

    def credit(self, given: Sequence[Credit]) -> None:
        pass

    def promote(self) -> Sequence[Promotion]:
        return [
            Promotion(name, learning, merged=False, because="Two runs reported it.")
            for name, learning in self.staged.items()
        ]

    def rest(self, *_: object) -> None:
        pass

    def change(self, learning_id: str, change: str, text: str = "") -> Learning | None:
        return TAUGHT

    def take_notices(self) -> Sequence[str]:
        return ()


SWINGS = [2, 4, 6, 4, 6, 4, 6, 4, 6, 4, 6]
"""Tests that pass: a REDIRECT is approved, and a PAUSE follows."""
PROMPTED: dict[str, object] = {
    "prompt": "Read the first failing test.",
    "systemContext": "",
    "focusAreas": ["one"],
    "urgency": "normal",
}


def learns(session: FakeSession) -> None:
    """A session that reports a learning and a blocker that stays."""
    session.emit(
        AgentReported(
            iteration=session.iteration,
            summary="two tests pass now",
            learnings=[f"Quotes carry state {session.iteration}."],
            blockers=["no network"],
        )
    )
    session.finish()


def busy(passed: Sequence[int] = SWINGS, settings: Settings | None = None, **fields: Any) -> World:
    """A run that has something to do in every layer."""
    asker = FakeAsker()
    asker.answers.extend([PROMPTED] * 50)
    given: dict[str, Any] = {"knowledge": Known(), "max_iterations": 8, "asker": asker}
    given["state_file"] = FakeStateFile()
    world = World(list(passed), settings=settings, **(given | fields))
    world.agent.acts.extend([learns] * 30)
    return world
