"""A long run as events: what an agent, a gate and the controller say, as often as wanted."""

from collections.abc import Generator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ralph_tui.events import (
    AgentSpoke,
    Event,
    GateFinished,
    IterationFinished,
    IterationStarted,
    ReadingTaken,
    RunFinished,
    RunStarted,
    SessionFinished,
    SessionStarted,
    ToolFinished,
    ToolStarted,
    UsageReported,
)
from ralph_tui.layers.control import Budget, Evaluation, History, Sample, evaluate

BEGAN = datetime(2026, 3, 14, 9, 26, tzinfo=UTC)
TICK = timedelta(milliseconds=40)
TESTS = 200
LAST_WORD = "the recorded end of a long run"


def started(iterations: int) -> RunStarted:
    """The first event."""
    return RunStarted(
        run_id="0d4f2a51-4a54-4fbb-9f0e-3f4f7d5a1f11",
        task="task-001",
        attempt="001",
        root="/home/ada/project",
        objective="Measure a long run",
        command="python -m pytest -q",
        agent="claude",
        max_iterations=iterations,
        session_timeout_s=28_800,
    )


def agent_events(iteration: int, count: int) -> Iterator[Event]:
    """`count` events of an agent at work: half of them tool calls, with words and usage between."""
    for number in range(0, count, 8):
        name = f"call-{iteration}-{number}"
        path = f"src/package{number % 37}/module{number % 211}.py"
        yield from (
            AgentSpoke(
                iteration=iteration,
                text=f"Step {number}: the flag is lost when a group closes; I carry it in {path}.",
                offset=number * 512,
            ),
            ToolStarted(iteration=iteration, tool_id=name, tool="Edit", summary=path),
            ToolFinished(
                iteration=iteration, tool_id=name, ok=True, summary="+9 −4", duration_s=0.4
            ),
            UsageReported(
                iteration=iteration,
                tokens=1000 + 7 * number,
                context_tokens=20_000 + number % 100_000,
                context_window=200_000,
                cost_usd=number / 10_000,
            ),
            ToolStarted(
                iteration=iteration,
                tool_id=f"{name}b",
                tool="Bash",
                summary=f"python -m pytest -q tests/test_{number % 211}.py",
            ),
            AgentSpoke(iteration=iteration, text=f"Meanwhile I read {path}.", offset=number * 512),
            ToolFinished(
                iteration=iteration, tool_id=f"{name}b", ok=False, summary="exit 1", duration_s=3.0
            ),
            AgentSpoke(iteration=iteration, text="One test still fails.", offset=number * 512),
        )


def whole_run(events: int, iterations: int) -> Iterator[Event]:
    """About `events` events, unstamped, from the first to the last."""
    history = History(0.0)
    control: Evaluation | None = None
    points = 0.0
    per_iteration = events // iterations - 8
    yield started(iterations)
    for k in range(1, iterations + 1):
        points = 100.0 * k / iterations if k % 5 else 100.0 * (k - 1) / iterations - 1
        yield IterationStarted(iteration=k, max_iterations=iterations)
        yield SessionStarted(iteration=k, session_id=f"session-{k}", agent="claude")
        yield from agent_events(k, per_iteration)
        yield SessionFinished(iteration=k, outcome="success", exit_code=0, tokens=9000)
        control = yield from _measured(k, points, history, control, iterations)
        yield IterationFinished(iteration=k, status="incomplete", completion=points)
    yield RunFinished(
        outcome="limit_reached", reason=LAST_WORD, iterations=iterations, completion=points
    )


def _measured(
    k: int, points: float, history: History, control: Evaluation | None, iterations: int
) -> Generator[Event, None, Evaluation]:
    passed = round(points * TESTS / 100)
    yield GateFinished(iteration=k, ok=False, exit_code=1, passed=passed, failed=TESTS - passed)
    yield ReadingTaken(iteration=k, completion=points, source="tests", passed=passed, total=TESTS)
    history.add(Sample(k, points))
    control = evaluate(history, Budget(iterations, TESTS), previous=control)
    yield control.signal
    yield from control.cleared
    yield from control.raised
    return control


def stamped(events: Iterator[Event]) -> Iterator[Event]:
    """As a journal would number and date them."""
    for seq, event in enumerate(events, 1):
        yield event.model_copy(update={"seq": seq, "at": BEGAN + seq * TICK})


def write_journal(path: Path, events: int, iterations: int) -> list[str]:
    """Write a run as a journal; the kinds of its events, in order."""
    kinds = []
    with path.open("wb") as file:
        for event in stamped(whole_run(events, iterations)):
            kinds.append(event.kind)
            file.write(event.model_dump_json().encode() + b"\n")
    return kinds
