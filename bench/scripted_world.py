"""Tasks that an agent can do only with information from its prompt, run with layers on and off.

The agent is scripted (``prompted_agent.py``) and knows only the prompt and the files. A `played`
run has a real loop, layers, knowledge files, files and completion command. Time, git and the
agent's process are simulated, so it takes milliseconds. `run` starts a real run as a user would.
The overseer is off in both, because a REDIRECT would repeat the strategy.

This proves the wiring: measurements reach the prompt in words that can be acted on. It does not
show how much a real agent benefits.
"""

import json
import random
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.places import clean_environment, git, ralph_tui
from bench.prompted_agent import PARTS, WAYS, poor_order, session
from ralph_tui.adapters.knowledge.store import KnowledgeStore
from ralph_tui.config.settings import Settings
from ralph_tui.events import AgentReported, Event, ReflectionWritten
from ralph_tui.events.workspace import FileChange
from ralph_tui.layers.intelligence import IntelligenceSettings
from ralph_tui.layers.memory.past import PastReflection
from ralph_tui.layers.oversight import OversightSettings
from ralph_tui.layers.sensor.counts import count_tests
from ralph_tui.layers.sensor.gate import GateResult
from ralph_tui.layers.settings import MemorySettings
from ralph_tui.ports.knowledge import NoPastRuns
from tests.world import World
from tests.world.agents import FakeSession

AGENT = Path(__file__).with_name("prompted_agent.py")
LIMIT = 20
"""Iterations of a run, more than an agent needs that finds the solution at all."""
BROKEN = 4
"""Number of failing parts."""


@dataclass(frozen=True)
class Arm:
    """A combination of layers that are on or off."""

    name: str
    intelligence: bool = True
    memory: bool = True

    @property
    def flags(self) -> tuple[str, ...]:
        """As values of ``--set``."""
        layers = {"intelligence": self.intelligence, "memory": self.memory}
        return tuple(f"{layer}.enabled=false" for layer, on in layers.items() if not on)

    @property
    def settings(self) -> Settings:
        """As the loop's settings."""
        return Settings(
            oversight=OversightSettings(enabled=False),
            intelligence=IntelligenceSettings(enabled=self.intelligence),
            memory=MemorySettings(enabled=self.memory),
        )


ON = Arm("both on")
NO_INTELLIGENCE = Arm("intelligence off", intelligence=False)
NO_MEMORY = Arm("memory off", memory=False)
ARMS = (ON, NO_INTELLIGENCE, NO_MEMORY, Arm("both off", intelligence=False, memory=False))


@dataclass(frozen=True)
class Task:
    """One fault, and what solves it."""

    name: str
    """Its name in the scripted agent."""
    needs: str
    """The decisive part of the prompt."""
    objective: str
    check: Callable[[int], str]
    """Returns the completion command for a seed, a shell script."""
    off: Arm
    """The arm without the relevant layer."""
    taught: bool = False
    """True if an earlier run precedes it, with all layers on."""


@dataclass(frozen=True)
class Ran:
    """The result of a run."""

    iterations: int
    completed: bool
    prompts: Sequence[str] = ()
    events: Sequence[Event] = field(default=(), repr=False)


def some_parts(seed: int) -> str:
    """Return a test for each part; some fail, identified by name."""
    broken = random.Random(f"broken {seed}").sample(PARTS, BROKEN)
    return _tests({part: part in broken for part in PARTS})


def every_part(seed: int) -> str:
    """Return a test for each part; all fail, so no name helps."""
    return _tests(dict.fromkeys(PARTS, True))


def right_way(seed: int) -> str:
    """Return a single test, which passes for the right way."""
    right = _late(seed, PARTS[: len(WAYS)])
    return f"grep -q '^{WAYS[PARTS.index(right)]}$' work.txt\n"


def one_part(seed: int) -> str:
    """Return a single test of the whole, which does not identify the failing part."""
    return f"grep -q mended parts/{_late(seed, PARTS)}\n"


TASKS = (
    Task(
        "failing test",
        "the failing tests by name",
        "Make the parts pass",
        some_parts,
        NO_INTELLIGENCE,
    ),
    Task(
        "pivot",
        'the strategy\'s "Change the approach."',
        "Make the parts pass",
        every_part,
        NO_INTELLIGENCE,
    ),
    Task(
        "learning",
        "what an earlier run has learned",
        "Fix the failing tokenizer tests",
        right_way,
        NO_MEMORY,
        taught=True,
    ),
    Task(
        "plan",
        "a reflection that the plan cites",
        "Find the part that breaks the whole",
        one_part,
        NO_MEMORY,
        taught=True,
    ),
)


def iterations_of(task: Task, seed: int, arm: Arm, place: Path) -> Ran:
    """Play the task in one arm, after the earlier run if it needs one."""
    before: list[PastReflection] = []
    if task.taught:
        _lay_out(task, seed, place)
        taught = _played(task, seed, ON, place, "1", ())
        said = [event for event in taught.events if isinstance(event, ReflectionWritten)]
        before = [
            PastReflection(
                f"task-001/001 #{number}", one.triggered_by, one.learning, tuple(one.action_items)
            )
            for number, one in enumerate(said, 1)
        ]
    _lay_out(task, seed, place)
    return _played(task, seed, arm, place, "2", before)


def _lay_out(task: Task, seed: int, place: Path) -> None:
    """Write the files in their initial state."""
    for path in (*place.glob("way*"), *place.glob("work.txt")):
        path.unlink()
    (place / "parts").mkdir(exist_ok=True)
    for part in PARTS:
        (place / "parts" / part).write_text("as it was\n")
    (place / "check.sh").write_text(task.check(seed))


class _Before(NoPastRuns):
    """Past runs with one earlier attempt."""

    def __init__(self, said: Sequence[PastReflection]) -> None:
        self._said = said

    def reflections(self) -> Sequence[PastReflection]:
        return self._said


def _played(
    task: Task, seed: int, arm: Arm, place: Path, run_id: str, before: Sequence[PastReflection]
) -> Ran:
    world = World(
        [],
        max_iterations=LIMIT,
        settings=arm.settings,
        knowledge=KnowledgeStore(place / "knowledge", run_id),
        past_runs=_Before(before),
        objective=task.objective,
        run_id=run_id,
    )

    def work(agent: FakeSession) -> None:
        held = _contents(place)
        report = session(task.name, seed, world.agent.prompts[-1], place)
        now = _contents(place)
        world.workspace.changed = [
            FileChange(
                path=path,
                status="modified" if path in held else "added",
                category="source",
                added=1,
            )
            for path in now
            if now[path] != held.get(path)
        ]
        agent.emit(AgentReported.model_validate({"iteration": agent.iteration, **report}))
        agent.finish()

    world.agent.acts.extend([work] * LIMIT)
    world.gate.measure = lambda: _measured(place)
    world.run()
    end = world.end
    return Ran(end.iterations, end.outcome == "completed", world.agent.prompts, world.events)


def _contents(place: Path) -> Mapping[str, str]:
    files = [*place.glob("*.txt"), *place.glob("way_*"), *place.glob("parts/*")]
    return {path.relative_to(place).as_posix(): path.read_text() for path in sorted(files)}


def _measured(place: Path) -> GateResult:
    done = subprocess.run(
        ["sh", "check.sh"], cwd=place, capture_output=True, text=True, check=False
    )
    output = done.stdout + done.stderr
    counts = count_tests(output.splitlines())
    return GateResult(not done.returncode, done.returncode, counts=counts, tail=output)


def repository(task: Task, seed: int, root: Path) -> Path:
    """Make a repository with the task's fault, and do the earlier run if it needs one."""
    root.mkdir(parents=True)
    _lay_out(task, seed, root)
    git(root, "init", "--quiet", "--template=", "--initial-branch=main")
    git(root, "add", "--all")
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    git(root, *identity, "commit", "--quiet", "--message=parts")
    if task.taught:
        run(task, seed, ON, root)
        _lay_out(task, seed, root)
    return root


def copied(origin: Path, root: Path) -> Path:
    """Copy a repository for another arm."""
    return Path(shutil.copytree(origin, root, symlinks=True))


def run(task: Task, seed: int, arm: Arm, root: Path) -> Ran:
    """Start a run as a user would, and wait for its end."""
    program = [sys.executable, "-I", "-S", str(AGENT), task.name, str(seed)]
    settings = ("oversight.enabled=false", *arm.flags)
    done = subprocess.run(
        [
            *ralph_tui("run", task.objective, "-c", "sh check.sh", "--json"),
            *("--agent", "command", "--agent-command", shlex.join(program)),
            *("--max-iterations", str(LIMIT)),
            *(word for setting in settings for word in ("--set", setting)),
        ],
        cwd=root,
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    end = json.loads(lines[-1]) if lines else {}
    if end.get("kind") != "run_finished":
        raise RuntimeError(f"the run did not end as it should: {done.stderr[-2000:]}")
    return Ran(end["iterations"], end["outcome"] == "completed")


def _tests(parts: Mapping[str, bool]) -> str:
    """Return a TAP test for each part; a broken one passes once it is mended."""
    lines = [f"echo 1..{len(parts)}", "failed=0"]
    lines += [
        f"if grep -q mended parts/{part}; then echo 'ok - {part}'; "
        f"else echo 'not ok - {part}'; failed=1; fi"
        if broken
        else f"echo 'ok - {part}'"
        for part, broken in parts.items()
    ]
    return "\n".join([*lines, "exit $failed", ""])


def _late(seed: int, among: Sequence[str]) -> str:
    """Return one of the items that the agent would try late."""
    order = [part for part in poor_order(seed) if part in among]
    return random.Random(f"late {seed}").choice(order[len(order) // 2 :])
