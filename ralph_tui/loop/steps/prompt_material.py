"""Build the input of a prompt from the state of the run.

After a rollback, the prompt contains nothing about the undone work.
"""

from collections.abc import Sequence
from dataclasses import replace

from ralph_tui import events as ev
from ralph_tui.config.settings import Settings
from ralph_tui.layers.context.sizes import estimate
from ralph_tui.layers.context.take_on import Open
from ralph_tui.layers.context.window import windows_fill, windows_high
from ralph_tui.layers.control.advice import advice
from ralph_tui.layers.control.evaluation import Evaluation
from ralph_tui.layers.control.law import Phase, phase_of
from ralph_tui.layers.inputs import budget_of
from ralph_tui.layers.intelligence import PromptInput
from ralph_tui.layers.intelligence.fence import item
from ralph_tui.layers.intelligence.findings import found_out
from ralph_tui.layers.memory.prompt import knowledge_lines
from ralph_tui.layers.sensor.passing import needs_promise
from ralph_tui.state import IterationSpan, RunState
from ralph_tui.text.format import duration

SHOWN = 20
"""Maximum number of changed files named in a prompt."""
LAST_REPORTS = 2
"""How many iterations' reports a prompt quotes."""


def guidance_only(iteration: int, start: ev.RunStarted, state: RunState) -> PromptInput:
    """Return an input with only the user's words, which is all that a fallback prompt contains."""
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
        handoff=_last_handoff(state),
        redirect=redirect.instructions if redirect else "",
        redirected_at=redirect.iteration if redirect else 0,
        redirect_undid=_undone_since(state, redirect.iteration) if redirect else "",
    )


def full_input(
    iteration: int,
    start: ev.RunStarted,
    state: RunState,
    control: Evaluation | None,
    settings: Settings,
) -> PromptInput:
    """Return everything known about the run, for a prompt.

    `control` is None if the control layer is off or nothing has been measured yet. Without
    `settings.memory.enabled`, nothing from earlier runs is included, even if it is recorded.
    """
    agent, known = state.agent, state.intelligence
    restored, back = _restored(state), state.oversight.rollback
    reading, gate = measured(state)
    last = _last_worked(iteration, state)
    assessed = None if restored else known.assessments.get(last)
    assessment = assessed if last else None  # the baseline is not work
    strategy = None if restored else known.strategies.get(iteration)
    if control is not None:
        control = control._replace(signal=_urgent(control.signal, strategy))
    interrupted, files = _interrupted(last, state)
    windows = [*state.context.earlier, *state.context.history]
    return replace(
        guidance_only(iteration, start, state),
        phase=_phase(iteration, reading, state),
        reading=reading,
        measured_last=state.gate.measured_last if state.gate.unmeasured else None,
        gate=gate,
        signal=control.signal if control else None,
        advice=_advice(control, state, iteration, planned=strategy is not None) if control else "",
        restored=restored,
        left_alone=back.left_alone if back and restored else 0,
        interrupted=interrupted,
        interrupted_files=files,
        claimed=agent.promised and (reading is None or reading.completion < 100),
        judged=_last_verdict(state),
        assessment=assessment,
        context_files=assessed.context_files if assessed else None,
        invalid=_errors(iteration, 0 if restored else last, state),
        refined=known.refined.get(assessment.iteration) if assessment else None,
        report=agent.report,
        reports=_reports(iteration, state),
        strategy=strategy,
        plan=state.memory.plan if settings.memory.enabled else None,
        windows_fill=windows_fill(windows, settings.context.checkpoint_percent),
        windows_high=windows_high(windows),
        open_items=[] if restored else _open_items(state),
        room=settings.context.checkpoint_percent,
        found_out=_list_findings(iteration, state, settings),
        learnings=knowledge_lines(state.memory.plan, state.memory.for_prompt(iteration))
        if settings.memory.enabled
        else [],
    )


def _open_items(state: RunState) -> list[Open]:
    """Return the plan's open items when it was last read, with their current estimates."""
    first = state.context.item
    texts = [first.item, *first.later] if first and first.item else []
    return [(text, estimate(text, state.plan_items.taken)) for text in texts]


def _list_findings(iteration: int, state: RunState, settings: Settings) -> list[str]:
    """List the learnings reported earlier in this run; those of undone work are marked."""
    known = state.memory.for_prompt(iteration) if settings.memory.enabled else []
    # A session that takes over gets those of its iteration's earlier sessions, too.
    found = found_out(state, iteration + 1, [one.text for one in known])
    return [
        f"Iteration {k}{', since undone' if _undone_since(state, k) else ''}: {text}"
        for k, text in found
    ]


def _phase(iteration: int, reading: ev.ReadingTaken | None, state: RunState) -> Phase:
    """Return the run's phase, which a mere estimate of completion does not change."""
    counts = reading is not None and reading.source != "estimate"
    return phase_of(iteration, budget_of(state), reading.completion if reading and counts else 0.0)


def _errors(iteration: int, last: int, state: RunState) -> list[str]:
    """Return the errors that validation found before this session and after the last one."""
    known, reading = state.intelligence.validations, state.gate.readings[-1:]
    reported = {"near_limit", "unproven_promise"}  # other sections of the prompt report these
    if any(one.missing for one in reading):
        reported.add("fewer_tests")
    done = [known.get((iteration, "before")), known.get((last, "after")) if last else None]
    return [issue.text for one in done if one for issue in one.errors if issue.name not in reported]


def _last_handoff(state: RunState) -> ev.HandoffWritten | None:
    """Return the handoff for the next session; None if there is none, or if it was undone."""
    left = state.context.handoff
    return None if left is None or _undone_since(state, left.iteration) else left


def _last_verdict(state: RunState) -> ev.CriterionJudged | None:
    """Return a model's negative verdict that still applies to the current files."""
    judged = state.intelligence.judged
    if judged is None or judged.met or _undone_since(state, judged.iteration):
        return None
    return judged


def _reports(iteration: int, state: RunState) -> Sequence[ev.AgentReported]:
    """Return the last reports of earlier iterations whose work still exists, oldest first."""
    there: dict[int, IterationSpan] = {}
    for span in reversed(state.timeline.spans):  # if a number occurs twice, the later span counts
        before = 0 < span.number < iteration and span.number not in there
        if before and not _undone_since(state, span.number):
            there[span.number] = span
        if len(there) == LAST_REPORTS:
            break
    return [span.reports[-1] for span in reversed(there.values()) if span.reports]


def _restored(state: RunState) -> str:
    """Describe the state to which the files were restored after the last measurement, if any.

    A restore that was undone does not count.
    """
    back, last = state.oversight.rollback, _last_measured(state)
    if back is None or (last is not None and state.timeline.measured(back) is last):
        return ""
    return _named(state, back)


def measured(state: RunState) -> tuple[ev.ReadingTaken | None, ev.GateFinished | None]:
    """Return the measurement and command result that apply to the current files."""
    readings, back = state.gate.readings, state.oversight.rollback
    if back is None or not _restored(state):
        return (readings[-1] if readings else None), state.gate.last
    span = state.timeline.measured(back)
    if span is None:
        return None, None
    return next((r for r in reversed(readings) if r.iteration == span.number), None), span.gate


def _undone_since(state: RunState, iteration: int) -> str:
    """Describe the restore, if any, that undid the work of `iteration`.

    Empty if the files were not restored since then, or to a state that includes this work.
    """
    since = [
        back
        for span in state.timeline.spans
        for back in span.rollbacks
        if back.iteration >= iteration
    ]
    if not since:
        return ""
    span = state.timeline.measured(since[-1])
    later = span is not None and span.number >= iteration
    return "" if later else _named(state, since[-1])


def _named(state: RunState, back: ev.WorktreeRestored) -> str:
    span = state.timeline.measured(back)
    if span is None:
        return f"an earlier state (snapshot {back.snapshot})"
    after = f"their state after iteration {span.number}"
    return after if span.number else "their state at the start of the run"


def _last_measured(state: RunState) -> IterationSpan | None:
    return next((s for s in reversed(state.timeline.spans) if s.completion is not None), None)


def _advice(control: Evaluation, state: RunState, iteration: int, *, planned: bool) -> str:
    """Return the control layer's advice; that layer does not track episodes itself."""
    last = _last_measured(state)
    gain = state.timeline.gain(last) if last is not None else None
    return advice(
        control.signal,
        tuple(a for a in control.alarms if a.alarm not in state.control.outgrown),
        budget_of(state),
        episode=state.oversight.episode is not None,
        redirected=state.oversight.redirect is not None,
        planned=planned,
        rose=gain is not None and gain > 0,
        measured=not state.gate.unmeasured and state.run.source != "estimate",
        iteration=iteration,
    )


def _urgent(signal: ev.SignalComputed, strategy: ev.StrategyPlanned | None) -> ev.SignalComputed:
    """Return the signal with the strategy's minimum urgency, unless it is already critical."""
    least = strategy.adjustments.get("urgency") if strategy else None
    if least is None or signal.urgency == "critical":
        return signal
    return signal.model_copy(update={"urgency": least})


def _last_worked(iteration: int, state: RunState) -> int:
    """Return the last earlier iteration in which an agent got a prompt, or 0."""
    last = iteration - 1
    for span in reversed(state.timeline.spans):
        cut_off = span.finished is not None and span.finished.status == "interrupted"
        if span.number == last and cut_off and not span.prompts:
            last -= 1
    return last


def _interrupted(last: int, state: RunState) -> tuple[str, list[str]]:
    """Describe the interruption of iteration `last` and list the files it had changed.

    Both are empty if it was not interrupted, or if its work was undone.
    """
    before = next((span for span in reversed(state.timeline.spans) if span.number == last), None)
    if before is None or before.finished is None or before.finished.status != "interrupted":
        return "", []
    changes = before.files.changes if before.files and not before.files.live else []
    back = state.oversight.rollback
    if state.oversight.stale and back is not None and back.iteration >= before.number:
        return "", []  # its work was undone
    took = duration(before.finished.duration_s)
    said = (
        f"Iteration {before.number} was interrupted after {took}. Check the state of the files and "
        "continue from there. Do not restart the task."
    )
    files = [f"- {item(c.path)} ({c.status}, +{c.added} -{c.removed})" for c in changes[:SHOWN]]
    more = [f"- and {len(changes) - SHOWN} more"] if len(changes) > SHOWN else []
    return said, files + more
