"""What a prompt is made of, taken from what is known of the run.

Rule: after a roll back nothing is said that belongs to what was undone.
"""

from collections.abc import Sequence
from dataclasses import replace

from ralph_tui import events as ev
from ralph_tui.config.settings import Settings
from ralph_tui.layers.context.window import windows_fill
from ralph_tui.layers.control import Evaluation, advice
from ralph_tui.layers.inputs import budget_of
from ralph_tui.layers.intelligence import PromptInput
from ralph_tui.layers.intelligence.fence import item
from ralph_tui.layers.intelligence.findings import found_out
from ralph_tui.layers.memory.prompt import knowledge_lines
from ralph_tui.layers.sensor.passing import needs_promise
from ralph_tui.state import IterationSpan, RunState
from ralph_tui.text.format import duration

SHOWN = 20
"""Changed files that a prompt names."""
LAST_REPORTS = 2
"""Iterations whose reports it quotes."""


def said_only(iteration: int, start: ev.RunStarted, state: RunState) -> PromptInput:
    """What the owner has said, and nothing that is derived: all that a fallback says."""
    redirect, goal = state.oversight.redirect, state.run.started or start
    return PromptInput(
        objective=start.objective,
        command=start.command or "",
        iteration=iteration,
        criterion=goal.criterion or "",
        until_promise=needs_promise(state),
        max_iterations=state.run.max_iterations,
        instruction=state.intelligence.standing_instruction,
        guidance=[item.text for item in state.guidance.queued],
        handoff=_left(state),
        redirect=redirect.instructions if redirect else "",
        redirected_at=redirect.iteration if redirect else 0,
        redirect_undid=_undone_since(state, redirect.iteration) if redirect else "",
    )


def all_known(
    iteration: int,
    start: ev.RunStarted,
    state: RunState,
    control: Evaluation | None,
    settings: Settings,
) -> PromptInput:
    """All that is known of the run; `control` is None with the layer off, and before a reading.

    Without `settings.memory.enabled` nothing of earlier runs is said, whatever the record holds.
    """
    agent, known = state.agent, state.intelligence
    restored, back = _restored(state), state.oversight.rollback
    reading, gate = measured(state)
    last = _last_worked(iteration, state)
    assessment = known.assessments.get(last) if last and not restored else None
    strategy = None if restored else known.strategies.get(iteration)
    if control is not None:
        control = replace(control, signal=_urgent(control.signal, strategy))
    interrupted, files = _interrupted(last, state)
    return replace(
        said_only(iteration, start, state),
        reading=reading,
        measured_last=state.gate.measured_last if state.gate.unmeasured else None,
        gate=gate,
        signal=control.signal if control else None,
        advice=_advice(control, state, iteration, planned=strategy is not None) if control else "",
        restored=restored,
        left_alone=back.left_alone if back and restored else 0,
        interrupted=interrupted,
        interrupted_files=files,
        claimed=agent.promised,
        judged=_judged(state),
        assessment=assessment,
        refined=known.refined.get(assessment.iteration) if assessment else None,
        report=agent.report,
        reports=_reports(iteration, state),
        strategy=strategy,
        plan=state.memory.plan if settings.memory.enabled else None,
        windows_fill=windows_fill(state.context.history, settings.context.checkpoint_percent),
        found_out=_found_out(iteration, state, settings),
        learnings=knowledge_lines(state.memory.plan, state.memory.for_prompt(iteration))
        if settings.memory.enabled
        else [],
    )


def _found_out(iteration: int, state: RunState, settings: Settings) -> list[str]:
    """What the agent reported as learned earlier in this run; work that is undone is marked."""
    known = state.memory.for_prompt(iteration) if settings.memory.enabled else []
    found = found_out(state, iteration, [one.text for one in known])
    return [
        f"Iteration {k}{', undone since' if _undone_since(state, k) else ''}: {text}"
        for k, text in found
    ]


def _left(state: RunState) -> ev.HandoffWritten | None:
    """The handoff that the next session goes on from; None without one, and once it is undone."""
    left = state.context.handoff
    return None if left is None or _undone_since(state, left.iteration) else left


def _judged(state: RunState) -> ev.CriterionJudged | None:
    """A no that is still about the files as they are."""
    judged = state.intelligence.judged
    if judged is None or judged.met or _undone_since(state, judged.iteration):
        return None
    return judged


def _reports(iteration: int, state: RunState) -> Sequence[ev.AgentReported]:
    """The last ones of the iterations before whose work is there; the older first."""
    there: dict[int, IterationSpan] = {}
    for span in reversed(state.timeline.spans):  # the later of two of one number counts
        before = 0 < span.number < iteration and span.number not in there
        if before and not _undone_since(state, span.number):
            there[span.number] = span
        if len(there) == LAST_REPORTS:
            break
    return [span.reports[-1] for span in reversed(there.values()) if span.reports]


def _restored(state: RunState) -> str:
    """What the files were brought back to after the last reading; empty when they were not.

    A restore that was undone is none.
    """
    back, last = state.oversight.rollback, _last_measured(state)
    if back is None or (last is not None and _at(state, back) is last):
        return ""
    return _named(state, back)


def measured(state: RunState) -> tuple[ev.ReadingTaken | None, ev.GateFinished | None]:
    """What is known of the files as they are."""
    readings, back = state.gate.readings, state.oversight.rollback
    if back is None or not _restored(state):
        return (readings[-1] if readings else None), state.gate.last
    span = _at(state, back)
    if span is None:
        return None, None
    return next((r for r in reversed(readings) if r.iteration == span.number), None), span.gate


def _undone_since(state: RunState, iteration: int) -> str:
    """What the files were brought back to since that iteration, to a state before its end.

    Empty: they were not.
    """
    since = [
        back
        for span in state.timeline.spans
        for back in span.rollbacks
        if back.iteration >= iteration
    ]
    if not since:
        return ""
    span = _at(state, since[-1])
    later = span is not None and span.number >= iteration
    return "" if later else _named(state, since[-1])


def _named(state: RunState, back: ev.WorktreeRestored) -> str:
    span = _at(state, back)
    if span is None:
        return f"an earlier state (snapshot {back.snapshot})"
    after = f"what they were after iteration {span.number}"
    return after if span.number else "what they were at the start of the run"


def _at(state: RunState, back: ev.WorktreeRestored) -> IterationSpan | None:
    """The iteration whose measured work was brought back; None for a state in between."""
    measured = [s for s in state.timeline.spans if s.boundary and s.completion is not None]
    for span in measured:
        if span.boundary is not None and span.boundary.number == back.snapshot:
            return span
    # An undo brings back a snapshot of its own, of the same files.
    same = (s for s in reversed(measured) if s.boundary and s.boundary.tree == back.tree)
    return next(same, None)


def _last_measured(state: RunState) -> IterationSpan | None:
    return next((s for s in reversed(state.timeline.spans) if s.completion is not None), None)


def _advice(control: Evaluation, state: RunState, iteration: int, *, planned: bool) -> str:
    """What the control layer says, which knows nothing of episodes."""
    last = state.gate.readings[-2:]
    return advice(
        control.signal,
        tuple(a for a in control.alarms if a.alarm not in state.control.outgrown),
        budget_of(state),
        episode=state.oversight.episode is not None,
        redirected=state.oversight.redirect is not None,
        planned=planned,
        rose=len(last) < 2 or last[1].completion > last[0].completion,
        measured=not state.gate.unmeasured and state.run.source != "estimate",
        iteration=iteration,
    )


def _urgent(signal: ev.SignalComputed, strategy: ev.StrategyPlanned | None) -> ev.SignalComputed:
    """The signal; where the approach is given up, it is urgent however near the end is."""
    if strategy is None or strategy.approach == "persist" or signal.urgency == "critical":
        return signal
    return signal.model_copy(update={"urgency": "high"})


def _last_worked(iteration: int, state: RunState) -> int:
    """The iteration before that one in which an agent was told anything; 0 without one."""
    last = iteration - 1
    for span in reversed(state.timeline.spans):
        cut_off = span.finished is not None and span.finished.status == "interrupted"
        if span.number == last and cut_off and not span.prompts:
            last -= 1
    return last


def _interrupted(last: int, state: RunState) -> tuple[str, list[str]]:
    """What iteration `last` left behind when it was cut off, and the files it had changed.

    Empty when it was not.
    """
    before = next((span for span in reversed(state.timeline.spans) if span.number == last), None)
    if before is None or before.finished is None or before.finished.status != "interrupted":
        return "", []
    changes = before.files.changes if before.files and not before.files.live else []
    back = state.oversight.rollback
    if state.oversight.stale and back is not None and back.iteration >= before.number:
        return "", []  # what it had done is not there any more
    took = duration(before.finished.duration_s)
    said = (
        f"Iteration {before.number} was interrupted after {took}. Look at the state of the files, "
        "and go on from there; do not start the task again."
    )
    files = [f"- {item(c.path)} ({c.status}, +{c.added} -{c.removed})" for c in changes[:SHOWN]]
    more = [f"- and {len(changes) - SHOWN} more"] if len(changes) > SHOWN else []
    return said, files + more
