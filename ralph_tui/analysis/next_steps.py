"""What one can do with a run that is over, each as a command that can be copied. Pure."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ralph_tui.analysis.means import lacking, resuming
from ralph_tui.events import RunStarted
from ralph_tui.layers.sensor.passing import refused
from ralph_tui.state import RunState
from ralph_tui.state.fleet_work import FleetWork
from ralph_tui.text.secrets import HIDDEN

SCRATCH = "ralph-tui-demo-"
"""How a folder's name begins that is deleted when its demo's screen is left."""
TREE_CHARACTERS = 12
"""Of a snapshot's name, as git is asked about it."""

StepName = Literal["resume", "report", "diff", "restore", "again", "replay", "attach", "merge"]
FALLBACK = ("agent.fallback", "agent.fallback_after")
HAVE_OPTIONS = (
    *("agent.name", "agent.command", "agent.model", "permissions.mode", "limits.max_iterations"),
    *("limits.session_timeout_s", "limits.budget_usd"),
)
"""Settings that the command line gives by options of their own."""
SESSION_S = 28_800.0
"""Seconds of a session's timeout where none was asked for."""


@dataclass(frozen=True)
class NextStep:
    """One of them."""

    name: StepName
    verb: str
    command: str


def next_steps(
    state: RunState, *, gone: bool = False, broken: bool = False, fleet: FleetWork | None = None
) -> list[NextStep]:
    """The most useful first; none while the run goes on.

    `gone`: its process is, so that it does not go on, whatever its record says. `broken`: what its
    record has behind this state cannot be read. `fleet`: it is a loop of one, whose record is in no
    worktree; each command is typed in the user's repository.
    """
    run = state.run
    if run.started is None or (run.live and not gone):
        return []
    return list(
        _of_fleet(fleet) if fleet else _steps(state, run.started, state.seq if broken else None)
    )


def refusal_to_go_on(name: StepName, state: RunState, *, gone: bool = False) -> str | None:
    """Why this screen cannot end with a step, or None: resume, or begin the same anew."""
    started = state.run.started
    if started is None or (state.run.live and not gone):
        return "the run goes on"
    if started.watched:
        return "hooks have recorded it: the next session of Claude Code goes on with it"
    if started.imported:
        return "another tool has recorded it: here it is read, and no more"
    if name == "resume" and scratch(started):
        return "its folder goes when you leave; ralph-tui demo --keep FOLDER keeps it"
    if name == "resume" and refused(state):
        return "the completion command passes already; {again} runs until the agent promises"
    if name not in {step.name for step in next_steps(state, gone=gone)}:
        return "it is completed; {again} runs it again"
    said = (started.command, started.criterion, started.objective)
    if any(HIDDEN in words for words in said if words) or HIDDEN in run_again(started):
        return "a secret in its command was kept out of the record; type it again"
    return None


def _steps(state: RunState, started: RunStarted, kept: int | None) -> Iterator[NextStep]:
    run, name = state.run, started.name
    completed = run.finished is not None and run.finished.outcome == "completed"
    if started.imported:
        yield NextStep("report", "report", f"ralph-tui report {name}")
        yield NextStep("replay", "replay", f"ralph-tui replay {name}")
        return
    instead = promise_instead(state)
    if not (completed or instead or started.watched or scratch(started)):
        yield NextStep("resume", "resume", resuming(name, kept, _more(state)))
    yield NextStep("report", "report", f"ralph-tui report {name}")
    trees = whole_change(state)
    if trees is not None:
        first, last = (tree[:TREE_CHARACTERS] for tree in trees)
        if trees[0] != trees[1]:
            yield NextStep("diff", "diff", f"git diff {first} {last}")
        yield NextStep("restore", "restore", restore_command(name))
    if not started.watched:
        yield NextStep("again", "run again", instead or run_again(started))
    yield NextStep("replay", "replay", f"ralph-tui replay {name}")


def restore_command(run: str, which: str = "") -> str:
    """Restores a snapshot of this run, or lists them; without ``--run`` the newest is meant."""
    return " ".join(("ralph-tui restore", *([which] if which else []), "--run", shlex.quote(run)))


def _of_fleet(work: FleetWork) -> Iterator[NextStep]:
    if work.branch:
        change = shlex.quote(f"{work.base[:TREE_CHARACTERS]}...{work.branch}")
        yield NextStep("diff", "diff", f"git diff {change}")
        yield NextStep("merge", "merge", f"git merge {shlex.quote(work.branch)}")
    if work.record:
        yield NextStep("restore", "restore", restore_command(work.record))
    yield NextStep("attach", "look again", f"ralph-tui fleet attach {shlex.quote(work.name)}")


def whole_change(state: RunState) -> tuple[str, str] | None:
    """The trees of the first and the last snapshot; None where nothing was saved."""
    taken = list(state.timeline.snapshots.values())
    return (taken[0].tree, taken[-1].tree) if taken else None


def _more(state: RunState) -> str:
    """What a resume needs to be granted: more of what is used up."""
    run = state.run
    limited = run.finished is not None and run.finished.outcome == "limit_reached"
    return lacking(len(run.completions), run.max_iterations, run.budget_usd, limited=limited)


def promise_instead(state: RunState) -> str:
    """The command for a run whose completion command passed already; empty for any other."""
    started = state.run.started
    if started is None or not refused(state):
        return ""
    return run_again(started.model_copy(update={"until_promise": True}))


def run_again(started: RunStarted) -> str:
    """The command that begins the same anew."""
    if started.scenario:
        fast = " --fast" if started.fast else ""
        return f"ralph-tui demo --scenario {shlex.quote(started.scenario)}{fast}"
    words = ["ralph-tui", "run", started.objective]
    command = started.config.get("agent.command")
    options = {
        "-c": started.command,
        "--criterion": started.criterion,
        "--plan": started.plan,
        "--agent": None if command and started.agent == "command" else started.agent,
        "--agent-command": command,
        "--max-iterations": str(started.max_iterations),
        "--budget": f"{started.budget_usd:g}" if started.budget_usd else None,
        "--permissions": started.permissions if started.permissions in ("skip", "ask") else None,
        "--model": started.config.get("agent.model"),
        "--timeout": None
        if started.session_timeout_s == SESSION_S
        else f"{started.session_timeout_s:g}s",
    }
    for option, value in options.items():
        if isinstance(value, str) and value:
            words += [option, value]
    words += ["--until-promise"] if started.until_promise else []
    fallback = FALLBACK if started.config.get("agent.fallback") else ()
    for name in dict.fromkeys(("agent.binary", *fallback, *started.set_names)):
        if name not in HAVE_OPTIONS:
            words += _set(name, started.config.get(name))
    return shlex.join(words)


def _set(name: str, value: object) -> list[str]:
    """A setting that has no option of its own; nothing of one that an older record has not."""
    match value:
        case list():
            return ["--set", f"{name}={','.join(map(str, value))}"]
        case bool():
            return ["--set", f"{name}={str(value).lower()}"]
        case int() | float():
            return ["--set", f"{name}={value:g}"]
        case str():
            return ["--set", f"{name}={value}"]
    return []


def scratch(started: RunStarted) -> bool:
    """Whether the worktree goes when the screen is left: a demo's that is not kept."""
    return started.scenario is not None and f"/{SCRATCH}" in started.root
