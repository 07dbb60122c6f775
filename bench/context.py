"""Measure whether work continues after a full window: with handoffs, with blank ones, with none.

Each run is a complete `ralph-tui run` with its processes, git and sessions; only the model is
scripted (`context_policy`). By default the tests' double of Claude Code talks to it. With
`RALPH_BENCH_CLAUDE`, the path of Claude Code, the real one does.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.context_service import WINDOW, Model
from bench.context_table import Ran, Sums, rows
from bench.context_task import Examiner, task_of
from bench.places import clean_environment, git, ralph_tui
from bench.result import Result, Scale
from tests.doubles.launch import STUB, environment, real_environment
from tests.doubles.scenario import Scenario

RUNS, QUICK_RUNS = 20, 4
LIMIT = 6
"""Iterations of a run; four are enough if no work is repeated."""
LONGEST_S = 300.0
AT_ONCE = 2
"""Concurrent runs."""
REAL = "RALPH_BENCH_CLAUDE"


@dataclass(frozen=True)
class Arm:
    """A variant of the runs that are compared."""

    name: str
    rollover: bool = True
    blank: bool = False


ARMS = (Arm("handoff"), Arm("blanked", blank=True), Arm("rollover off", rollover=False))


def ran(seed: int, arm: Arm, place: Path, binary: str | None) -> Ran:
    """Run a seed to its end, and return the result."""
    root, task = place / "project", task_of(seed)
    task.lay_out(root)
    git(root, "init", "--quiet", "--template=", "--initial-branch=main")
    git(root, "add", "--all")
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    git(root, *identity, "commit", "--quiet", "--message=a plan")
    examiner = Examiner(task, root)
    with Model(examiner, blank=arm.blank) as model:
        done = subprocess.run(
            _command(arm),
            cwd=root,
            env=_environment(model.url, place, binary),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST_S,
        )
    events = [json.loads(line) for line in done.stdout.splitlines()]
    if not events or events[-1]["kind"] != "run_finished":
        raise RuntimeError(f"the run of seed {seed} did not end: {done.stderr[-2000:]}")
    return Ran(
        seed,
        events[-1]["outcome"] == "completed",
        events[-1]["iterations"],
        Counter(event["cause"] for event in events if event["kind"] == "rollover_began"),
        Counter(event["outcome"] for event in events if event["kind"] == "session_finished"),
        model.sessions,
        model.calls,
        model.resumes,
        examiner.verdict(),
    )


def _command(arm: Arm) -> list[str]:
    settings = {
        "oversight.enabled": "false",
        "memory.enabled": "false",
        "context.rollover": str(arm.rollover).lower(),
    }
    return [
        *ralph_tui("run", "Carry out the plan", "-c", "sh check.sh", "--plan", "plan.md"),
        *("--json", "--agent", "claude", "--permissions", "skip"),
        *("--max-iterations", str(LIMIT)),
        *(word for name, value in settings.items() for word in ("--set", f"{name}={value}")),
    ]


def _environment(url: str, place: Path, binary: str | None) -> dict[str, str]:
    if binary is None:
        scenario = place / "context.json"
        scenario.write_text(json.dumps({"about": "asks the service", "context_window": WINDOW}))
        double = {**environment(scenario, base=clean_environment()), "STUB_SERVICE": url}
        return {**double, "RALPH_TUI_AGENT__BINARY": str(STUB)}
    real = real_environment(url, place / "home", Scenario("context", "", []))
    real["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{real['PATH']}"
    # Otherwise a full window would end the session later, after a compaction.
    real["DISABLE_AUTO_COMPACT"] = "1"
    return {
        **real,
        "RALPH_TUI_AGENT__BINARY": binary,
        "RALPH_TUI_AGENT__MODEL": "claude-sonnet-5-5",
    }


def measured(seeds: Sequence[int], arm: Arm, binary: str | None = None) -> list[Ran]:
    """Return the runs of a variant, in the order of their seeds."""

    def one(seed: int) -> Ran:
        with tempfile.TemporaryDirectory(prefix="ralph-bench-") as place:
            return ran(seed, arm, Path(place), binary)

    with ThreadPoolExecutor(AT_ONCE) as workers:
        return list(workers.map(one, seeds))


def checkpoints(scale: Scale) -> Iterator[Result]:
    """Yield rows with a figure per variant, beside the design's targets."""
    binary, seeds = os.environ.get(REAL), range(scale.of(RUNS, QUICK_RUNS))
    sums = {arm.name: Sums.of(measured(seeds, arm, binary)) for arm in ARMS}
    yield from rows(sums, "Claude Code" if binary else "the tests' double of Claude Code")
