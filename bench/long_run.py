"""Generate the events of a long run, with as many agent events as requested."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ralph_tui import events as ev
from tests.world.recorder import Recorder

BEGAN = datetime(2026, 3, 14, 9, 26, tzinfo=UTC)
TICK = timedelta(milliseconds=40)
AROUND = 27
"""Events of an iteration besides its agent's."""
LAST_WORD = "the recorded end of a long run"


def started(iterations: int) -> ev.RunStarted:
    """Return the first event of a run."""
    return ev.RunStarted(
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


def agent_events(iteration: int, count: int) -> Iterator[ev.Event]:
    """Yield `count` events of a working agent: half are tool calls, mixed with text and usage."""
    for number in range(0, count, 8):
        name = f"call-{iteration}-{number}"
        path = f"src/package{number % 37}/module{number % 211}.py"
        yield from (
            ev.AgentSpoke(
                iteration=iteration,
                text=f"Step {number}: the flag is lost when a group closes; I carry it in {path}.",
                offset=number * 512,
            ),
            ev.ToolStarted(iteration=iteration, tool_id=name, tool="Edit", summary=path),
            ev.ToolFinished(
                iteration=iteration, tool_id=name, ok=True, summary="+9 −4", duration_s=0.4
            ),
            ev.UsageReported(
                iteration=iteration,
                tokens=1000 + 7 * number,
                context_tokens=20_000 + number % 100_000,
                context_window=200_000,
                cost_usd=number / 10_000,
            ),
            ev.ToolStarted(
                iteration=iteration,
                tool_id=f"{name}b",
                tool="Bash",
                summary=f"python -m pytest -q tests/test_{number % 211}.py",
            ),
            ev.AgentSpoke(
                iteration=iteration, text=f"Meanwhile I read {path}.", offset=number * 512
            ),
            ev.ToolFinished(
                iteration=iteration, tool_id=f"{name}b", ok=False, summary="exit 1", duration_s=3.0
            ),
            ev.AgentSpoke(iteration=iteration, text="One test still fails.", offset=number * 512),
        )


def whole_run(events: int, iterations: int) -> list[ev.Event]:
    """Return a run of about `events` events, with numbers and times."""
    run = Recorder(iterations)
    run.baseline()
    per_iteration = events // iterations - AROUND
    for k in range(1, iterations + 1):
        points = 100.0 * k / iterations if k % 5 else 100.0 * (k - 1) / iterations - 1
        run.open(k)
        for event in agent_events(k, per_iteration):
            run.add(event, TICK.total_seconds())
        run.close(k, points)
    run.end("limit_reached", LAST_WORD)
    return run.events


def stamped(events: Iterator[ev.Event]) -> Iterator[ev.Event]:
    """Number and date events as a journal would."""
    for seq, event in enumerate(events, 1):
        yield event.model_copy(update={"seq": seq, "at": BEGAN + seq * TICK})


def write_journal(path: Path, events: int, iterations: int) -> list[str]:
    """Write a run as a journal, and return the kinds of its events, in order."""
    kinds = []
    with path.open("wb") as file:
        for event in whole_run(events, iterations):
            kinds.append(event.kind)
            file.write(event.model_dump_json().encode() + b"\n")
    return kinds
