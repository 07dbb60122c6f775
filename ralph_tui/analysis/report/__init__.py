"""A run as a Markdown page: a fold over its journal, for readers who were not there.

Pure functions. Unknown facts are left out or called unknown. Times are UTC; completion is in
points.
"""

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
    unreported_cost_words,
)
from ralph_tui.text.terms import BUG, ENDLESS, NO_END, OUTCOMES, permission_words

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
"""Names of the facts that a reviewer needs."""

Section = Callable[[Material], str]
"""Returns the text of a section; empty if there is nothing to report."""


@dataclass(frozen=True)
class Circumstances:
    """Facts about a run that its journal does not contain."""

    folder: str = ""
    """Path of the records, as the reader would write it."""
    alive: bool = False
    """True if a process is still working on the run."""
    problems: Sequence[str] = field(default=())
    """Why parts of the journal could not be read, one sentence each."""
    held: int | None = None
    """Number of its snapshots still in the repository; None without a repository to check."""
    changes: Sequence[FileChange] | None = None
    """Differences between its first and its last snapshot; None if they are unknown."""
    endless: tuple[str, str] = ("died", NO_END)
    """Phase and reason to show for a run with neither a process nor a recorded end."""
    loop: str = ""
    """The fleet's name for the run, ``fleet-001/2``; empty if it is not a fleet's loop."""
    argument: str = ""
    """The run's argument in commands, where its name alone would find no run or a different one."""
    copied: bool = False
    """True if the record is not in a worktree."""
    now: datetime | None = None
    """The time of the report; for a run without a process, the time of its last activity."""


def report(events: Sequence[Event], circumstances: Circumstances, *, full: bool = True) -> str:
    """Return the page, ending with a newline. `events` must begin with ``run_started``.

    `full`: include everything known, not only what a reviewer needs.
    """
    material = Material.of(events, circumstances.now)
    material.changes, material.alive = circumstances.changes, circumstances.alive
    material.copied = circumstances.copied
    if not full:
        parts = [
            _title(material, circumstances),
            *_objective(material),
            _outcome(material, circumstances),
        ]
        parts += [
            *_build_sections(REVIEW, material),
            "## Result and cost",
            _facts(material, _COSTS),
        ]
        name = circumstances.argument or _name(material)
        parts += [f"Everything else: {code(f'ralph-tui report {name} --full')}"]
        return "\n\n".join(part for part in parts if part) + "\n"
    parts = [
        _title(material, circumstances),
        _outcome(material, circumstances),
        *_objective(material),
    ]
    parts += [
        *_build_sections(FIRST, material),
        "## The run",
        _facts(material),
        *_build_sections(SECTIONS, material),
    ]
    parts += ["## Records", _records(material, circumstances)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _build_sections(sections: Mapping[str, Section], material: Material) -> list[str]:
    bodies = ((title, section(material)) for title, section in sections.items())
    return [text for title, body in bodies if body for text in (f"## {title}", body)]


def _title(material: Material, circumstances: Circumstances) -> str:
    return f"# Report on {escaped(circumstances.loop or _name(material) or 'a run')}"


def _name(material: Material) -> str:
    started = material.started
    return started.name if started.task or started.watched else ""


def _objective(material: Material) -> list[str]:
    started = material.started
    goal = [quoted(started.objective)]
    if started.criterion:
        goal += ["Done when:", quoted(started.criterion)]
    return goal


def _outcome(material: Material, circumstances: Circumstances) -> str:
    run = material.state.run
    lines = [f"**{_end(material, circumstances)}**"]
    if run.finished is not None:
        lines[0] += f" {escaped(ending_reason(run.finished.outcome, run.finished.reason))}"
    elif run.crash is not None:
        lines[0] += f" {escaped(run.crash.error)}"
    elif circumstances.alive:
        lines[0] += f" iteration {run.iteration} of {run.max_iterations}, as of {material.ended_at}"
        if material.state.needs.question is not None:
            lines.append(f"It needs your answer: {escaped(material.state.needs.question.text)}")
        else:
            lines.append(escaped(verdict(material.state, material.at, recorded=True).text))
    else:
        where = f"iteration {run.iteration} of {run.max_iterations}, at {material.ended_at}"
        lines[0] += f" {circumstances.endless[1]}. The record stops in {where}"
    if (back := material.state.oversight.rollback) is not None and material.state.oversight.stale:
        lines.append(
            f"Then {count(back.files, 'file')} {'was' if back.files == 1 else 'were'} restored "
            f"to snapshot {back.snapshot} by {escaped(back.by)}; nothing has been measured since."
        )
    lines += [escaped(problem) for problem in circumstances.problems]
    if tool := material.state.foreign.tool:
        lines.append(
            f"Recorded by {escaped(material.started.imported)}, which measured the completion. "
            "ralph-tui recomputed the control output, alarms and interventions. "
            f"What {escaped(tool)} reported is in its own section."
        )
    if material.unknown:
        kinds = ", ".join(code(kind) for kind in material.unknown)
        number = count(sum(material.unknown.values()), "event")
        lines.append(f"{number} from a newer version cannot be shown here: {kinds}")
    return "\n\n".join(lines)


def _end(material: Material, circumstances: Circumstances) -> str:
    run = material.state.run
    if run.finished is not None:
        return OUTCOMES[run.finished.outcome].word.capitalize() + ":"
    if run.crash is not None:
        return BUG.capitalize() + ":"
    if circumstances.alive:
        return "Still running:"
    return ENDLESS[circumstances.endless[0]].word.capitalize() + ":"


def _facts(material: Material, names: Sequence[str] = ()) -> str:
    """`names`: include only these facts; empty: all of them."""
    run, started = material.state.run, material.started
    facts = [
        ("Completion", _completion(material)),
        (
            "Time",
            f"{duration(material.seconds)}{_waited(material)}, "
            f"{material.began_at} to {material.ended_at}",
        ),
        ("Cost", _cost(material)),
        ("Model help", _model_help(material)),
        ("Tokens", token_count(run.tokens, partial=run.tokens_partial) if run.tokens else ""),
        ("Tools", _tools(material)),
        ("Agent", _agents(material)),
        ("Worked", "; ".join(map(escaped, material.state.roster.worked_words))),
        ("Permissions", "" if started.imported else _permissions(material)),
        ("Completion command", code(started.command) if started.command else ""),
        ("Plan file", code(started.plan) if started.plan else ""),
        ("Started", f"{_how(started)}with at most {count(started.max_iterations, 'iteration')}"
                    + (f" and {money(started.budget_usd)}" if started.budget_usd else "")),
        ("Limits since", _limits(material)),
        ("Git at the start", _git(material)),
    ]  # fmt: skip
    return "\n".join(
        f"- {name}: {text}" for name, text in facts if text and name in (names or (name,))
    )


def _agents(material: Material) -> str:
    """Return the chosen agent and its model; if several agents worked, each with its model."""
    run, started, worked = material.state.run, material.started, material.state.roster.worked
    if material.state.roster.working == started.agent and len(worked) < 2:
        return ", ".join(escaped(word) for word in (started.agent, run.model) if word)
    models = {started.agent: ""} | {name: one.model for name, one in worked.items()}
    return ", ".join(
        escaped(f"{name} ({model})" if model else name) for name, model in models.items()
    )


def _waited(material: Material) -> str:
    """Time spent waiting for an answer, a service or the end of a pause; empty if under 1 s."""
    seconds = sum(material.waited.values())
    return f", including {duration(seconds)} of waiting" if seconds >= 1 else ""


def _how(started: RunStarted) -> str:
    if started.watched:
        return "by its user, watched by hooks, "
    return "" if started.imported else f"{started.mode}, "


def _cost(material: Material) -> str:
    """Return the cost and, if known, who pays it: with a subscription, it is not billed."""
    run = material.state.run
    if not run.cost_known:
        return (
            f"unknown{unreported_cost_words(run.budget_usd)}"
            if material.state.roster.worked
            else ""
        )
    paid = f" ({escaped(run.billing)})" if run.billing else ""
    unreported = material.state.roster.unreported_text
    without = f", {escaped(unreported)}, which is not reported" if unreported else ""
    return material.cost(run.cost_usd, estimated=run.cost_estimated) + paid + without


def _permissions(material: Material) -> str:
    """Return the agent's permissions; an agent that is a shell command ignores them."""
    started = material.started
    if started.watched:  # The journal of an older version may lack it.
        return escaped(permission_words(material.state.run.permission_mode or "unknown"))
    free = started.permissions == UNRESTRICTED or started.agent == "command"
    return escaped(permission_words(UNRESTRICTED if free else _mode(material)))


def _mode(material: Material) -> str:
    if material.state.needs.mode == "ask":  # the agent reports this mode as `edits`
        return "ask"
    if material.state.needs.mode == "skip" or len(material.state.roster.worked) > 1:
        return material.state.needs.mode  # with several agents, each has its own name for it
    return material.state.run.permission_mode or material.started.permissions


def _limits(material: Material) -> str:
    """Return the limits at the end, if they differ from those at the start."""
    run, started = material.state.run, material.started
    changed = []
    if run.max_iterations != started.max_iterations:
        changed.append(count(run.max_iterations, "iteration"))
    if run.budget_usd and run.budget_usd != started.budget_usd:
        changed.append(money(run.budget_usd))
    return " and ".join(changed)


def _completion(material: Material) -> str:
    run = material.state.run
    if run.completion is None:
        return "never measured"
    tests = "" if run.total is None else f", {run.passed} of {run.total}"
    held = ", before the files were restored" if material.state.oversight.stale else ""
    accepted = material.state.gate.accepted
    source = escaped(accepted) if accepted else f"{material.state.gate.origin}{tests}{held}"
    where = f"after iteration {run.best_iteration}" if run.best_iteration else "at the start"
    known = [
        material for material in (run.baseline, run.completion, run.best) if material is not None
    ]
    start = "" if run.baseline is None else f"; {percent(run.baseline, *known)} at the start"
    return (
        f"{percent(run.completion, *known)} ({source}){start}; "
        f"best {percent(run.best, *known)} {where}"
    )


def _tools(material: Material) -> str:
    agent = material.state.agent
    if not material.reports_tools:
        return ""
    errors = f", {agent.tool_errors} failed" if agent.tool_errors else ""
    denied = f", {material.state.needs.denials} denied" if material.state.needs.denials else ""
    return f"{count(agent.tool_calls, 'call')}{errors}{denied}"


def _model_help(material: Material) -> str:
    """Describe the model calls made outside the agent's sessions."""
    known = material.state.intelligence
    words = help_words(known.help_calls, known.help_failed, known.help_seconds, known.help_cost_usd)
    return words and f"{words}; included in the cost above"


def _git(material: Material) -> str:
    branch, commit = material.started.branch, material.started.commit
    parts = [
        f"branch {code(branch)}" if branch else "",
        f"at {code(commit[:12])}" if commit else "",
    ]
    return " ".join(part for part in parts if part)


def _records(material: Material, circumstances: Circumstances) -> str:
    folder = circumstances.folder
    if imported := material.started.imported:
        tool = escaped(imported.partition(",")[0])
        where = f"In {code(folder)}, as {tool} left them"
        shows = f"`ralph-tui replay {material.started.name}` shows them"
        return f"{where}; {shows}.\n\nRun {code(material.started.run_id)}."
    lines = [f"In {code(folder)}:\n"] if folder else []
    lines.append("- `events.jsonl`: the journal; `ralph-tui replay` shows it")
    started = material.state.run.started
    only = circumstances.loop or (started is not None and started.watched)
    if not only:  # hooks and fleets record only the journal
        lines.append(
            "- `results/iter-*/`: prompts as sent, transcripts, outputs of the completion command "
            "(unless removed by `ralph-tui prune`)"
        )
    if material.state.memory.plan is not None and not only:
        lines.append("- `plan.md`: the plan of this attempt")
    if material.state.memory.reflections and not only:
        name = "reflections.jsonl"
        lines.append(f"- `../../{name}`: reflections on this task's attempts")
    if material.state.timeline.snapshots:
        lines.append(f"- {_snapshots(material, circumstances.held)}")
    version = escaped(material.started.program_version)
    return "\n".join([*lines, f"\nRun {code(material.started.run_id)}, by ralph-tui {version}."])


def _snapshots(material: Material, held: int | None) -> str:
    """Describe how many snapshots were taken, where they are, and how many are gone."""
    taken = len(material.state.timeline.snapshots)
    words = f"{count(taken, 'snapshot')} of the files"
    refs = code(f"refs/ralph/{material.started.run_id}/*")
    gone = "(pruned, deleted by hand, or left in another clone)"
    if held is None:
        return f"{words}, as recorded, on {refs}; there is no repository here to check them"
    if not held:
        return f"none of {words} remain on {refs} {gone}"
    if held < taken:
        return f"{held} of {words}, on {refs}; {taken - held} gone {gone}"
    return f"{words}, on {refs}"
