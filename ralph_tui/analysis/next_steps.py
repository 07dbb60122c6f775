"""Next steps for a run that has ended, each as a command to copy. Pure."""

import shlex
from collections.abc import Iterator
from typing import Literal, NamedTuple

from ralph_tui.analysis.resume_words import limit_options, resume_command
from ralph_tui.events import RunStarted
from ralph_tui.layers.sensor.passing import refused
from ralph_tui.state import RunState
from ralph_tui.state.fleet_work import FleetWork
from ralph_tui.text.secrets import HIDDEN

SCRATCH = "ralph-tui-demo-"
"""Prefix of a demo's folder that is deleted when the user leaves the demo's screen."""
TREE_CHARACTERS = 12
"""Length of a tree's hash in a `git` command."""

StepName = Literal["resume", "report", "diff", "restore", "again", "replay", "attach", "merge"]
FALLBACK = ("agent.fallback", "agent.fallback_after")
HAVE_OPTIONS = (
    *("agent.name", "agent.command", "agent.model", "permissions.mode", "limits.max_iterations"),
    *("limits.session_timeout_s", "limits.budget_usd"),
)
"""Settings that have a command-line option of their own."""
SESSION_S = 28_800.0
"""The default timeout of a session."""


class NextStep(NamedTuple):
    """A step that the user can take."""

    name: StepName
    verb: str
    command: str


def next_steps(
    state: RunState, *, gone: bool = False, broken: bool = False, fleet: FleetWork | None = None
) -> list[NextStep]:
    """Return the steps, the most useful first; empty while the run continues.

    `gone`: its process is gone, so it does not continue, whatever its record says. `broken`: the
    record is damaged after this state. `fleet`: the run is a fleet's loop, with no record in a
    worktree; the user types each command in the repository.
    """
    run = state.run
    if run.started is None or (run.live and not gone):
        return []
    return list(
        _of_fleet(fleet) if fleet else _steps(state, run.started, state.seq if broken else None)
    )


def explain_refusal(name: StepName, state: RunState, *, gone: bool = False) -> str | None:
    """Return why the screen cannot end with this step (resume or run again); None if it can."""
    started = state.run.started
    if started is None or (state.run.live and not gone):
        return "the run is still running"
    if started.watched:
        return "hooks recorded it; the next Claude Code session continues it"
    if started.imported:
        return "another tool recorded it; it is read-only here"
    if name == "resume" and scratch(started):
        return "its folder is deleted when you leave; ralph-tui demo --keep FOLDER keeps it"
    if name == "resume" and refused(state):
        return "the completion command already passes; {again} runs until the agent promises"
    if name not in {step.name for step in next_steps(state, gone=gone)}:
        return "it is already completed; {again} runs it again"
    said = (started.command, started.criterion, started.objective)
    if any(HIDDEN in words for words in said if words) or HIDDEN in run_again(started):
        return "the record omits a secret from its command; type the command again"
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
        yield NextStep("resume", "resume", resume_command(name, kept, _more(state)))
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
    """Return the command that restores a snapshot of this run, or lists its snapshots.

    Without ``--run``, the command would use the newest run.
    """
    return " ".join(("ralph-tui restore", *([which] if which else []), "--run", shlex.quote(run)))


def _of_fleet(work: FleetWork) -> Iterator[NextStep]:
    if work.branch:
        change = shlex.quote(f"{work.base[:TREE_CHARACTERS]}...{work.branch}")
        yield NextStep("diff", "diff", f"git diff {change}")
        yield NextStep("merge", "merge", f"git merge {shlex.quote(work.branch)}")
    if work.record:
        yield NextStep("restore", "restore", restore_command(work.record))
    yield NextStep("attach", "reopen", f"ralph-tui fleet attach {shlex.quote(work.name)}")


def whole_change(state: RunState) -> tuple[str, str] | None:
    """Return the trees of the first and the last snapshot; None if nothing was saved."""
    taken = list(state.timeline.snapshots.values())
    return (taken[0].tree, taken[-1].tree) if taken else None


def _more(state: RunState) -> str:
    """Return the options that raise the limits a resumed run has reached."""
    run = state.run
    limited = run.finished is not None and run.finished.outcome == "limit_reached"
    return limit_options(
        len(run.completions),
        run.max_iterations,
        run.budget_usd,
        limited=limited,
        tokens=run.tokens,
        budget_tokens=run.budget_tokens,
    )


def promise_instead(state: RunState) -> str:
    """Return the command for a run whose completion command had already passed; otherwise empty."""
    started = state.run.started
    if started is None or not refused(state):
        return ""
    return run_again(started.model_copy(update={"until_promise": True}))


def run_again(started: RunStarted) -> str:
    """Return the command that starts the same run again."""
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
    """Return the ``--set`` option for a setting; empty if an older record lacks the setting."""
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
    """Return True if the worktree is a demo's temporary one, deleted when the screen is left."""
    return started.scenario is not None and f"/{SCRATCH}" in started.root
