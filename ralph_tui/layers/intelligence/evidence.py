"""The evidence for assessing an iteration: facts from the journal, and traces in the files.

Anything may be missing; the assessment reports that and uses the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from ralph_tui import events as ev
from ralph_tui.layers.intelligence.findings import found_out
from ralph_tui.layers.sensor.novelty import ticked_items
from ralph_tui.layers.sensor.plan import Progress
from ralph_tui.state import AgentRow, IterationSpan, RunState


@dataclass(frozen=True)
class InnerLoop:
    """A loop of the aiwg tool that ran inside the session."""

    iterations: int = 0
    limit: int = 0
    """0 if unknown."""
    success: bool = False
    """True if the loop reports that its criterion was met."""
    words: str = ""
    """The loop's last message."""
    task: str = ""
    active: bool = False
    """True if the loop still calls itself active."""


@dataclass(frozen=True)
class Traces:
    """Evidence that a session left outside its stream."""

    commits: tuple[str, ...] = ()
    """Subjects, newest first."""
    loops: tuple[InnerLoop, ...] = ()
    artifacts: tuple[str, ...] = ()
    """Files below ``.aiwg`` that it created or updated."""
    gone: tuple[str, ...] = ()
    """Files below ``.aiwg`` that it deleted."""
    missing: tuple[str, ...] = ()
    """Evidence that was unavailable."""


@dataclass(frozen=True)
class Evidence:
    """Everything known about an iteration; iteration 0 is the state before the first."""

    iteration: int
    gate: ev.GateFinished | None = None
    """None if no completion command ran."""
    before: ev.GateFinished | None = None
    """The command's result for the files the iteration started from; None if unknown."""
    broken_since: int | None = None
    """The iteration that broke the build; None if it is not broken."""
    files: ev.FilesChanged | None = None
    report: ev.AgentReported | None = None
    previous: ev.AgentReported | None = None
    """The last report of an earlier iteration."""
    ended: ev.SessionFinished | None = None
    calls: tuple[AgentRow, ...] = ()
    """Tool calls of its sessions, in order."""
    words: str = ""
    """The agent's last message."""
    last_change: str = ""
    """The path that changed last."""
    plan: Progress | None = None
    planned: bool = False
    """True if there is a plan file to read."""
    next_item: str = ""
    """The plan's next item before this iteration, in case the plan cannot be read now."""
    ticked: tuple[str, ...] = ()
    """Plan items that are ticked now and were not before."""
    traces: Traces = Traces()
    found_out: tuple[str, ...] = ()
    """Learnings reported in earlier iterations of this run, newest first."""
    test_files: tuple[str, ...] = ()
    """Test files of the repository."""
    artifacts: tuple[str, ...] = ()
    """Artifacts changed in this run before this iteration, newest first."""
    transcript: str = ""
    """The last session's transcript, relative to the attempt's folder."""


def gather(
    state: RunState,
    iteration: int,
    *,
    plan: Progress | None = None,
    traces: Traces | None = None,
    test_files: Sequence[str] = (),
) -> Evidence:
    """Collect the evidence of the latest iteration, before its measurement or right after it."""
    spans = [span for span in state.timeline.spans if span.number <= iteration]
    span = spans[-1] if spans and spans[-1].number == iteration else None
    start = _start(state, iteration, spans[:-1] if span else spans)
    known = {reading.iteration: reading for reading in state.gate.readings}
    earlier = known.get(start.number) if start else None
    reports = [report for each in spans[:-1] for report in each.reports]
    rows = agent_rows(state, iteration)
    done = ticked_items(plan) if plan else {}
    files, said = span.files if span else None, state.agent.report
    from_ = state.intelligence.assessments.get(start.number) if start else None
    return Evidence(
        iteration=iteration,
        gate=span.gate if span else None,
        before=_counted_before(start, spans),
        broken_since=_broken_since(span, state),
        files=files if files and not (files.live or files.unknown) else None,
        report=said if said is not None and said.iteration == iteration else None,
        previous=reports[-1] if reports else None,
        ended=span.ends[-1] if span and span.ends else None,
        calls=tuple(row for row in rows if row.kind == "tool"),
        words=next((r.text for r in reversed(rows) if r.kind == "text" and not r.nested), ""),
        last_change=_last_change(state, iteration, span),
        plan=plan,
        planned=bool(state.run.started and state.run.started.plan),
        next_item=earlier.next_item if earlier else "",
        ticked=tuple(done[name] for name in earlier.open_items if name in done) if earlier else (),
        traces=traces or Traces(),
        found_out=tuple(found.text for found in found_out(state, iteration)),
        test_files=tuple(test_files),
        artifacts=tuple(from_.context_files.artifacts) if from_ else (),
        transcript=span.sessions[-1].transcript if span and span.sessions else "",
    )


def _counted_before(
    start: IterationSpan | None, spans: Sequence[IterationSpan]
) -> ev.GateFinished | None:
    """Return the result for the previous files or, if their build was broken, for earlier ones."""
    if start is None or start.gate is None or not start.gate.broken:
        return start.gate if start else None
    earlier = (each.gate for each in reversed(spans) if each.number < start.number)
    return next((gate for gate in earlier if gate is not None and not gate.broken), None)


def _broken_since(span: IterationSpan | None, state: RunState) -> int | None:
    if span is None or span.gate is None or not span.gate.broken:
        return None
    readings = [one for one in state.gate.readings if one.iteration < span.number]
    broken = [one.iteration for one in takewhile(lambda one: one.broken, reversed(readings))]
    return broken[-1] if broken else span.number


def _start(
    state: RunState, iteration: int, before: Sequence[IterationSpan]
) -> IterationSpan | None:
    """Return the iteration that measured the files this one started from; None if unmeasured."""
    readings, oversight = state.gate.readings, state.oversight
    taken = bool(readings) and readings[-1].iteration == iteration
    back: ev.WorktreeRestored | None = oversight.rollback if oversight.stale else None
    if back is None and taken:
        back = oversight.rolled_back
    if back is not None:
        span = state.timeline.measured(back)
        return span if span is None or span.number < iteration else None
    return next((span for span in reversed(before) if span.completion is not None), None)


def agent_rows(state: RunState, iteration: int) -> list[AgentRow]:
    """Return the rows of the agent's stream in an iteration, oldest first.

    Older rows may be missing, because the state keeps only the latest.
    """
    mine = takewhile(lambda row: row.iteration >= iteration, reversed(state.agent.rows))
    return [row for row in mine if row.iteration == iteration][::-1]


def _last_change(state: RunState, iteration: int, span: IterationSpan | None) -> str:
    """Return the path that changed last, as seen during the session, or the only one."""
    if state.files.iteration == iteration and state.files.latest:
        return state.files.latest
    changes = span.files.changes if span and span.files else []
    return changes[0].path if len(changes) == 1 else ""
