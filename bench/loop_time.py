"""Measure the loop's own time, in iterations whose agent and completion command are instant."""

import json
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from statistics import median

from bench.places import clean_environment, repository, run_of
from bench.result import Result, Scale, ms, seconds_of

AGENT = "echo one more line >> src/part000/module00000.py"
"""The agent command; it takes about a millisecond, and changes a file."""
ALLOWED_S = 0.15
ALLOWED_COMMANDS = 6


def per_iteration(scale: Scale) -> Iterator[Result]:
    """Yield the duration of an iteration, and the number of git processes started in it."""
    iterations = scale.of(20, 8)
    with tempfile.TemporaryDirectory(prefix="ralph-bench-") as scratch:
        place = Path(scratch)
        events = _run(repository(place / "timed"), iterations)
        few, many = (
            _git_processes(repository(place / f"counted{count}"), place / f"trace{count}", count)
            for count in (2, 7)
        )
        git_s = median(seconds_of(lambda: _git(place / "timed")) for _ in range(15))
    commands = (many - few) / 5
    whole = median(_spans(events, "iteration_started", "iteration_finished"))
    session = median(_spans(events, "prompt_prepared", "session_finished"))
    held = median(_spans(events, "session_finished", "checkpoint_captured:end"))
    gate = median(_spans(events, "gate_started", "gate_finished")[1:])
    allowed = ALLOWED_S + ALLOWED_COMMANDS * git_s
    yield Result(
        "the loop's own time per iteration",
        f"{ms(whole)}: session {ms(session)}, snapshot {ms(held)}, gate {ms(gate)}",
        f"<= 150 ms + 6 git commands of {ms(git_s)} = {ms(allowed)}",
        whole <= allowed,
        {
            "seconds": whole,
            "session_seconds": session,
            "snapshot_seconds": held,
            "gate_seconds": gate,
            "git_command_seconds": git_s,
            "allowed_seconds": allowed,
        },
    )
    yield Result(
        "git processes per iteration",
        f"{commands:.1f}",
        "<= 8",
        commands <= 8,
        {"commands": commands},
    )


def _run(folder: Path, iterations: int, **environ: str) -> list[dict[str, object]]:
    command = run_of(AGENT, "--headless", "--json", "--max-iterations", str(iterations))
    done = subprocess.run(
        command,
        cwd=folder,
        env={**clean_environment(), **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    events = [json.loads(line) for line in done.stdout.splitlines()]
    if not events or events[-1]["kind"] != "run_finished":
        raise RuntimeError(f"the run did not end as it should: {done.stderr[-2000:]}")
    return events


def _git_processes(folder: Path, traces: Path, iterations: int) -> int:
    """Return the number of git processes that a run with this many iterations starts."""
    traces.mkdir()
    _run(folder, iterations, GIT_TRACE2_EVENT=str(traces))
    return len(list(traces.iterdir()))


def _git(folder: Path) -> None:
    command = ["git", "rev-parse", "HEAD"]
    subprocess.run(command, cwd=folder, env=clean_environment(), capture_output=True, check=True)


def _at(event: dict[str, object]) -> float:
    return datetime.fromisoformat(str(event["at"])).timestamp()


def _spans(events: list[dict[str, object]], first: str, last: str) -> list[float]:
    """Return the seconds from each event of one kind, or ``kind:trigger``, to the other's."""
    starts = [_at(event) for event in events if _is(event, first)]
    ends = [_at(event) for event in events if _is(event, last)]
    return [end - start for start, end in zip(starts, ends, strict=False)]


def _is(event: dict[str, object], name: str) -> bool:
    kind, _, trigger = name.partition(":")
    return event["kind"] == kind and trigger in ("", event.get("trigger"))
