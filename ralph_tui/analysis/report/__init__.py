"""A run as a Markdown page: a fold over its journal, for readers who were not there.

Rule: pure. Unknown facts are left out or called unknown; times are UTC, completion is in points.
"""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ralph_tui.analysis.report.markdown import code, escaped, quoted
from ralph_tui.analysis.report.material import Material
from ralph_tui.analysis.report.sections import FIRST, REVIEW, SECTIONS
from ralph_tui.analysis.verdict import verdict
from ralph_tui.events import Event, RunStarted
from ralph_tui.events.run import UNRESTRICTED
from ralph_tui.events.workspace import FileChange
from ralph_tui.text.format import (
    count,
    duration,
    ending_reason,
    help_words,
    money,
    percent,
    token_count,
    unheld_words,
)
from ralph_tui.text.terms import BUG, NO_END, OUTCOMES, permission_words

_COSTS = (
    "Completion",
    "Time",
    "Cost",
    "Tokens",
    "Agent",
    "Permissions",
    "Completion command",
    "Git at the start",
)
"""Facts that a reviewer needs."""

Section = Callable[[Material], str]
"""Returns the text of a section; empty if there is nothing to report."""


@dataclass(frozen=True)
class Circumstances:
    """Facts about a run that its journal does not contain."""

    folder: str = ""
    """Path of the records, as the reader would write it."""
    alive: bool = False
    """A process still works on the run."""
    problems: Sequence[str] = field(default=())
    """Why parts of the journal could not be read, one sentence each."""
    held: int | None = None
    """Number of its snapshots still in the repository; None without a repository to ask."""
    changes: Sequence[FileChange] | None = None
    """Differences between its first and its last snapshot; None if they are unknown."""
    endless: tuple[str, str] = ("died", NO_END)
    """Phase and reason of a run that has neither a process nor a recorded end."""
    loop: str = ""
    """The fleet's name for the run, ``fleet-001/2``; empty if it is not a fleet's loop.

    The name in the journal belongs to another run here, so commands find the loop by its folder.
    """
    now: datetime | None = None
    """The time of the report; for a run without a process, that of its last sign of life."""


def report(events: Sequence[Event], circumstances: Circumstances, *, full: bool = True) -> str:
    """Return the page, ending with a newline. `events` must begin with ``run_started``.

    `full`: everything known; otherwise only what a reviewer needs.
    """
    told = Material.of(events)
    told.changes, told.alive = circumstances.changes, circumstances.alive
    told.now = max(told.state.at, circumstances.now or told.state.at)
    if not full:
        parts = [_title(told, circumstances), *_objective(told), _outcome(told, circumstances)]
        parts += [*_told(REVIEW, told), "## Cost", _facts(told, _COSTS)]
        name = shlex.quote(circumstances.folder) if circumstances.loop else _name(told)
        parts += [f"Everything else: {code(f'ralph-tui report {name} --full')}"]
        return "\n\n".join(part for part in parts if part) + "\n"
    parts = [_title(told, circumstances), _outcome(told, circumstances), *_objective(told)]
    parts += [*_told(FIRST, told), "## The run", _facts(told), *_told(SECTIONS, told)]
    parts += ["## Records", _records(told, circumstances)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _told(sections: Mapping[str, Section], told: Material) -> list[str]:
    bodies = ((title, section(told)) for title, section in sections.items())
    return [text for title, body in bodies if body for text in (f"## {title}", body)]


def _title(told: Material, circumstances: Circumstances) -> str:
    return f"# Report on {escaped(circumstances.loop or _name(told) or 'a run')}"


def _name(told: Material) -> str:
    started = told.started
    return started.name if started.task or started.watched else ""


def _objective(told: Material) -> list[str]:
    started = told.started
    goal = [quoted(started.objective)]
    if started.criterion:
        goal += ["Done when:", quoted(started.criterion)]
    return goal


def _outcome(told: Material, circumstances: Circumstances) -> str:
    run = told.state.run
    lines = [f"**{_end(told, circumstances)}**"]
    if run.finished is not None:
        lines[0] += f" {escaped(ending_reason(run.finished.outcome, run.finished.reason))}"
    elif run.crash is not None:
        lines[0] += f" {escaped(run.crash.error)}"
    elif circumstances.alive:
        lines[0] += f" iteration {run.iteration} of {run.max_iterations}, as of {told.ended_at}"
        if told.state.needs.question is not None:
            lines.append(f"It needs your answer: {escaped(told.state.needs.question.text)}")
        else:
            lines.append(escaped(verdict(told.state, told.at, recorded=True).text))
    else:
        where = f"iteration {run.iteration} of {run.max_iterations}, at {told.ended_at}"
        lines[0] += f" {circumstances.endless[1]}. The record stops in {where}"
    if (back := told.state.oversight.rollback) is not None and told.state.oversight.stale:
        lines.append(
            f"Then {count(back.files, 'file')} {'was' if back.files == 1 else 'were'} restored "
            f"to snapshot {back.snapshot} by {escaped(back.by)}; nothing has been measured since."
        )
    lines += [escaped(problem) for problem in circumstances.problems]
    if tool := told.state.foreign.tool:
        lines.append(
            f"Recorded by {escaped(told.started.imported)}: completion is what it measured. "
            "ralph-tui recomputed the control output, alarms and interventions; "
            f"what {escaped(tool)} reported has its own section."
        )
    if told.unknown:
        kinds = ", ".join(code(kind) for kind in told.unknown)
        number = count(sum(told.unknown.values()), "event")
        lines.append(f"{number} of a newer version cannot be shown here: {kinds}")
    return "\n\n".join(lines)


def _end(told: Material, circumstances: Circumstances) -> str:
    run = told.state.run
    if run.finished is not None:
        return OUTCOMES[run.finished.outcome].word.capitalize() + ":"
    if run.crash is not None:
        return BUG.capitalize() + ":"
    if circumstances.alive:
        return "Still running:"
    return circumstances.endless[0].capitalize() + ":"


def _facts(told: Material, names: Sequence[str] = ()) -> str:
    """`names`: include only these facts; empty: all of them."""
    run, started = told.state.run, told.started
    facts = [
        ("Completion", _completion(told)),
        ("Time", f"{duration(told.seconds)}{_waited(told)}, {told.began_at} to {told.ended_at}"),
        ("Cost", _cost(told)),
        ("Model help", _model_help(told)),
        ("Tokens", token_count(run.tokens, partial=run.tokens_partial) if run.tokens else ""),
        ("Tools", _tools(told)),
        ("Agent", _agents(told)),
        ("Worked", "; ".join(map(escaped, told.state.roster.worked_words))),
        ("Permissions", "" if started.imported else _permissions(told)),
        ("Completion command", code(started.command) if started.command else ""),
        ("Plan file", code(started.plan) if started.plan else ""),
        ("Started", f"{_how(started)}with at most {count(started.max_iterations, 'iteration')}"
                    + (f" and {money(started.budget_usd)}" if started.budget_usd else "")),
        ("Limits since", _limits(told)),
        ("Git at the start", _git(told)),
    ]  # fmt: skip
    return "\n".join(
        f"- {name}: {text}" for name, text in facts if text and name in (names or (name,))
    )


def _agents(told: Material) -> str:
    """Return the chosen agent and its model; if several worked, each with its own model."""
    run, started, worked = told.state.run, told.started, told.state.roster.worked
    if told.state.roster.working == started.agent and len(worked) < 2:
        return ", ".join(escaped(word) for word in (started.agent, run.model) if word)
    models = {started.agent: ""} | {name: one.model for name, one in worked.items()}
    return ", ".join(
        escaped(f"{name} ({model})" if model else name) for name, model in models.items()
    )


def _waited(told: Material) -> str:
    """Time spent waiting for an answer, a service or the end of a pause; empty below a second."""
    seconds = sum(told.waited.values())
    return f", including {duration(seconds)} of waiting" if seconds >= 1 else ""


def _how(started: RunStarted) -> str:
    if started.watched:
        return "by its user, watched by hooks, "
    return "" if started.imported else f"{started.mode}, "


def _cost(told: Material) -> str:
    """Return the cost and, if known, who pays it: a subscription's dollars are on no bill."""
    run = told.state.run
    if not run.cost_known:
        return f"unknown{unheld_words(run.budget_usd)}" if told.state.roster.worked else ""
    paid = f" ({escaped(run.billing)})" if run.billing else ""
    untold = told.state.roster.untold_words
    without = f", {escaped(untold)}, which is not reported" if untold else ""
    return told.cost(run.cost_usd, estimated=run.cost_estimated) + paid + without


def _permissions(told: Material) -> str:
    """Return the agent's permissions; an agent that is a shell command ignores them."""
    started = told.started
    if started.watched:  # The journal of an older version may lack it.
        return escaped(permission_words(told.state.run.permission_mode or "unknown"))
    free = started.permissions == UNRESTRICTED or started.agent == "command"
    return escaped(permission_words(UNRESTRICTED if free else _mode(told)))


def _mode(told: Material) -> str:
    if told.state.needs.mode == "ask":  # the agent reports this mode under the name of `edits`
        return "ask"
    if told.state.needs.mode == "skip" or len(told.state.roster.worked) > 1:
        return told.state.needs.mode  # each of several agents has its own name for it
    return told.state.run.permission_mode or told.started.permissions


def _limits(told: Material) -> str:
    """Return the limits at the end, if they differ from those at the start."""
    run, started = told.state.run, told.started
    changed = []
    if run.max_iterations != started.max_iterations:
        changed.append(count(run.max_iterations, "iteration"))
    if run.budget_usd and run.budget_usd != started.budget_usd:
        changed.append(money(run.budget_usd))
    return " and ".join(changed)


def _completion(told: Material) -> str:
    run = told.state.run
    if run.completion is None:
        return "never measured"
    tests = "" if run.total is None else f", {run.passed} of {run.total}"
    held = ", before the files were restored" if told.state.oversight.stale else ""
    accepted = told.state.gate.accepted
    source = escaped(accepted) if accepted else f"{told.state.gate.origin}{tests}{held}"
    where = f"after iteration {run.best_iteration}" if run.best_iteration else "at the start"
    known = [told for told in (run.baseline, run.completion, run.best) if told is not None]
    start = "" if run.baseline is None else f"; {percent(run.baseline, *known)} at the start"
    return (
        f"{percent(run.completion, *known)} ({source}){start}; "
        f"best {percent(run.best, *known)} {where}"
    )


def _tools(told: Material) -> str:
    agent = told.state.agent
    if not told.tells_tools:
        return ""
    errors = f", {agent.tool_errors} failed" if agent.tool_errors else ""
    denied = f", {told.state.needs.denials} denied" if told.state.needs.denials else ""
    return f"{count(agent.tool_calls, 'call')}{errors}{denied}"


def _model_help(told: Material) -> str:
    """Describe the model calls made outside the agent's sessions."""
    known = told.state.intelligence
    words = help_words(known.help_calls, known.help_failed, known.help_seconds, known.help_cost_usd)
    return words and f"{words}; included in the cost above"


def _git(told: Material) -> str:
    branch, commit = told.started.branch, told.started.commit
    parts = [
        f"branch {code(branch)}" if branch else "",
        f"at {code(commit[:12])}" if commit else "",
    ]
    return " ".join(part for part in parts if part)


def _records(told: Material, circumstances: Circumstances) -> str:
    folder = circumstances.folder
    if imported := told.started.imported:
        tool = escaped(imported.partition(",")[0])
        where = f"In {code(folder)}, as {tool} left them"
        shows = f"`ralph-tui replay {told.started.name}` shows them"
        return f"{where}; {shows}.\n\nRun {code(told.started.run_id)}."
    lines = [f"In {code(folder)}:\n"] if folder else []
    lines.append("- `events.jsonl`: the journal; `ralph-tui replay` shows it")
    started = told.state.run.started
    only = circumstances.loop or (started is not None and started.watched)
    if not only:  # hooks and fleets record only the journal
        lines.append(
            "- `results/iter-*/`: prompts as sent, transcripts, outputs of the completion command "
            "(unless removed by `ralph-tui prune`)"
        )
    if told.state.memory.plan is not None and not only:
        lines.append("- `plan.md`: the plan of this attempt")
    if told.state.memory.reflections and not only:
        name = "reflections.jsonl"
        lines.append(f"- `../../{name}`: reflections on this task's attempts")
    if told.state.timeline.snapshots:
        lines.append(f"- {_snapshots(told, circumstances.held)}")
    version = escaped(told.started.program_version)
    return "\n".join([*lines, f"\nRun {code(told.started.run_id)}, by ralph-tui {version}."])


def _snapshots(told: Material, held: int | None) -> str:
    """Describe how many snapshots there were, where, and what became of them."""
    taken = len(told.state.timeline.snapshots)
    words = f"{count(taken, 'snapshot')} of the files"
    refs = code(f"refs/ralph/{told.started.run_id}/*")
    gone = "(pruned, deleted by hand, or left in another clone)"
    if held is None:
        return f"{words}, as recorded, on {refs}; there is no repository here to check them"
    if not held:
        return f"none of {words} remain on {refs} {gone}"
    if held < taken:
        return f"{held} of {words}, on {refs}; {taken - held} gone {gone}"
    return f"{words}, on {refs}"
