"""Build the inputs of controller, planner and overseer from a run's state."""

from ralph_tui.events import GateFinished, ReadingTaken
from ralph_tui.events.intelligence import WATCHED
from ralph_tui.events.memory import Retrieved
from ralph_tui.layers.context.hashes import error_hash_of
from ralph_tui.layers.control.history import Sample
from ralph_tui.layers.control.law import Budget
from ralph_tui.layers.intelligence.strategy import Grounds
from ralph_tui.layers.memory.avoided import matches, recent_work
from ralph_tui.layers.memory.content import gist
from ralph_tui.layers.oversight import Evidence
from ralph_tui.state import RunState

NAMED = 200
"""Maximum number of failing tests whose names are compared with the objective."""


def sample_of(reading: ReadingTaken, state: RunState) -> Sample:
    """Build the controller's sample from a measurement and the run's state."""
    back = state.oversight.rolled_back
    return Sample(
        reading.iteration,
        reading.completion,
        grew=reading.grew,
        rolled_back=back is not None,
        known=back is None or state.timeline.measured(back) is not None,
        undone=_undone(state),
        novel=reading.novel > 0,
        restarted=reading.restarted,
        regained=reading.regained,
        broken=bool(reading.broken),
        hollow=reading.added > 0,
        estimated=reading.source == "estimate",
    )


def _undone(state: RunState) -> int:
    """Count the earlier measurements undone by the rollback before the latest one."""
    rollback = state.oversight.rolled_back
    restored = state.timeline.iteration_of(rollback.snapshot) if rollback else None
    if restored is None:
        return 0
    return sum(reading.iteration > restored for reading in state.gate.readings[:-1])


def budget_of(state: RunState) -> Budget:
    """Return the current limits."""
    run = state.run
    cost = run.cost_usd / run.budget_usd if run.budget_usd else 0.0
    tokens = run.tokens / run.budget_tokens if run.budget_tokens else 0.0
    readings = state.gate.readings
    expected = readings[-1].expected if readings else None
    return Budget(
        max(1, run.max_iterations),
        run.total if expected is None else expected,
        max(cost, tokens),
        slow_last=expected is not None or not readings,
    )


def evidence_of(state: RunState) -> Evidence:
    """Collect facts about the latest iteration for the overseer."""
    run, gate, report, files = state.run, state.gate.last, state.agent.report, state.files
    ended = state.agent.ended
    before = _gate_before(state)
    failed = ended is not None and ended.outcome in ("error", "crashed") and not files.totals
    return Evidence(
        objective=run.started.objective if run.started else "",
        changed=tuple(change.path for change in state.files.changes),
        failing=tuple(gate.failing[:NAMED]) if gate else (),
        failed_before=tuple(before.failing[:NAMED]) if before and not before.broken else (),
        output_words="\n".join(one.tail for one in (before, gate) if one),
        items=_open_items(state),
        words=" ".join([report.summary, report.next, *report.blockers, *report.learnings])
        if report
        else "",
        actions=run.iteration_tool_calls + state.actions.iteration_derived,
        error=ended.reason if ended and failed else "",
        cut=ended.words if ended and ended.outcome in ("timeout", "max_turns", "budget") else "",
        invalid=tuple(
            (one.name, one.text)
            for one in state.intelligence.errors(run.iteration)
            if one.name not in WATCHED
        ),
        conflicts=state.oversight.conflicts,
        unmeasured=state.gate.unmeasured,
        silence=state.gate.readings[-1].note if state.gate.unmeasured else "",
        unchanged=files.iteration == run.iteration
        and not (files.live or files.unknown or files.totals),
        output=_output(gate) if gate and gate.iteration == run.iteration else "",
    )


def _gate_before(state: RunState) -> GateFinished | None:
    """Return the completion command's last result from before the latest iteration."""
    spans = (span for span in reversed(state.timeline.spans) if span.number < state.run.iteration)
    return next((span.gate for span in spans if span.gate is not None), None)


def _open_items(state: RunState) -> tuple[str, ...]:
    item = state.context.item
    return (item.item, *item.later) if item and item.item else ()


def _output(gate: GateFinished) -> str:
    counts = (gate.ok, gate.exit_code, gate.passed, gate.failed, gate.errors, gate.skipped)
    return error_hash_of("\n".join(map(str, (*counts, gate.error, *gate.failing, gate.tail))))


def grounds_of(state: RunState) -> Grounds:
    """Collect the planner's facts from the assessment, the completion command and the plan."""
    readings, report = state.gate.readings, state.agent.report
    reading = readings[-1] if readings else None
    made = state.intelligence.assessment
    now = made is not None and reading is not None and made.iteration == reading.iteration
    blockers = made.blockers if made is not None and now else []
    return Grounds(
        broken=state.gate.broken_words,
        silent=reading.note if reading is not None and reading.unmeasured else "",
        standing=tuple((one.source, one.text) for one in blockers if one.standing),
        said=tuple(one.text for one in blockers if not one.standing),
        failing=_failing(state),
        item=reading.next_item if reading else "",
        next_step=report.next if report else "",
        proven=_proven(state),
        avoid=_repeated(state),
    )


def notes_of(state: RunState) -> frozenset[str]:
    """Return the learnings retrieved for this iteration's prompt, as sentences."""
    return frozenset(one.saying for one in _noted(state))


def _noted(state: RunState) -> list[Retrieved]:
    """Return the learnings retrieved for this iteration's prompt, best first.

    Omit those that the user has since muted or deleted.
    """
    usable = (one for one in state.memory.current if not (one.gone or one.learning.muted))
    return [one.looked_up for one in usable if one.looked_up and one.looked_up.in_prompt]


def _proven(state: RunState) -> str:
    """Return the best proven strategy for this kind of task; empty if there is none."""
    kind = state.memory.task_type
    return next(
        (
            one.saying
            for one in _noted(state)
            if one.type == "strategy"
            and one.standing == "proven"
            and one.task_type == kind
            and not one.again
        ),
        "",
    )


def _repeated(state: RunState) -> str:
    """Return an antipattern that the last iterations repeated; empty if there is none."""
    known = [one for one in _noted(state) if one.type == "antipattern"]
    work = recent_work(state) if known else None
    return next(
        (
            one.saying
            for one in known
            if work and matches(gist(one.type, one.content) or one.text, work)
        ),
        "",
    )


def _failing(state: RunState) -> tuple[str, ...]:
    """Return the failing tests; those that passed at the run's best count come first."""
    now, best = state.gate.last, None
    if now is None or now.broken:
        return ()
    for span in state.timeline.spans:
        if span.gate is not None and span.gate.passed is not None and not span.gate.unnamed:
            best = span.gate if best is None or span.gate.passed >= (best.passed or 0) else best
    if best is None or best is now:
        return tuple(now.failing)
    were = set(best.failing)
    return tuple(sorted(now.failing, key=lambda name: name in were))
