"""What one can do with a run that is over, each as a command that can be copied. Pure."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ralph_tui.events import RunStarted
from ralph_tui.state import RunState

SCRATCH = "ralph-tui-demo-"
"""How a folder's name begins that is deleted when its demo's screen is left."""
MORE = 5
"""Iterations that are offered where the granted ones are used up."""
TREE_CHARACTERS = 12
"""Of a snapshot's name, as git is asked about it."""

StepName = Literal["resume", "report", "diff", "restore", "again", "replay"]


@dataclass(frozen=True)
class NextStep:
    """One of them."""

    name: StepName
    verb: str
    command: str


def next_steps(state: RunState) -> list[NextStep]:
    """The most useful first; none while the run goes on."""
    run = state.run
    if run.started is None or run.live:
        return []
    return list(_steps(state, run.started))


def _steps(state: RunState, started: RunStarted) -> Iterator[NextStep]:
    run, name = state.run, f"{started.task}/{started.attempt}"
    completed = run.finished is not None and run.finished.outcome == "completed"
    if not completed and not started.watched:
        yield NextStep("resume", "resume", f"ralph-tui resume {name}{_more(state)}")
    yield NextStep("report", "report", f"ralph-tui report {name}")
    trees = whole_change(state)
    if trees is not None:
        first, last = (tree[:TREE_CHARACTERS] for tree in trees)
        yield NextStep("diff", "diff", f"git diff {first} {last}")
        yield NextStep("restore", "restore", f"ralph-tui restore --run {name}")
    if not started.watched:
        yield NextStep("again", "run again", run_again(started))
    yield NextStep("replay", "replay", f"ralph-tui replay {name}")


def whole_change(state: RunState) -> tuple[str, str] | None:
    """The trees of the first and the last snapshot; None where nothing was saved."""
    taken = list(state.timeline.snapshots.values())
    return (taken[0].tree, taken[-1].tree) if taken else None


def _more(state: RunState) -> str:
    """What a resume needs to be granted: more of what is used up."""
    run = state.run
    spent = len(run.completions) >= run.max_iterations
    limited = run.finished is not None and run.finished.outcome == "limit_reached"
    if spent or (limited and run.budget_usd is None):
        return f" --max-iterations {run.max_iterations + MORE}"
    if limited and run.budget_usd is not None:
        return f" --budget {2 * run.budget_usd:g}"
    return ""


def run_again(started: RunStarted) -> str:
    """The command that begins the same anew."""
    if started.scenario:
        return f"ralph-tui demo --scenario {shlex.quote(started.scenario)}"
    words = ["ralph-tui", "run", started.objective]
    options = {
        "-c": started.command,
        "--criterion": started.criterion,
        "--plan": started.plan,
        "--agent": started.agent,
        "--agent-command": started.config.get("agent.command"),
        "--max-iterations": str(started.max_iterations),
        "--budget": f"{started.budget_usd:g}" if started.budget_usd else None,
        "--permissions": "skip" if started.permissions == "skip" else None,
    }
    for option, value in options.items():
        if isinstance(value, str) and value:
            words += [option, value]
    return shlex.join(words)


def scratch(started: RunStarted) -> bool:
    """Whether the worktree goes when the screen is left: a demo's that is not kept."""
    return started.scenario is not None and f"/{SCRATCH}" in started.root
