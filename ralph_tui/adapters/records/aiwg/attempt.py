"""The result of an attempt, as files that can be derived again from the folded run.

These are ``attempt.json``, ``outcome.json`` (once the attempt has ended) and ``plan.md``. All times
come from events, so rewriting a file produces the same bytes.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, get_args

from ralph_tui.adapters.records.aiwg.records import (
    RESULTS,
    Attempt,
    AttemptPlan,
    Credited,
    Ending,
    Execution,
    Milestone,
    Quality,
    Reflection,
    Status,
    UsedLearning,
)
from ralph_tui.events import PlanMade, ReflectionWritten, RunStarted
from ralph_tui.events.base import EPOCH
from ralph_tui.events.run import Outcome
from ralph_tui.events.workspace import Category
from ralph_tui.layers.memory.task_types import task_type
from ralph_tui.state import RunState, SeenLearning
from ralph_tui.text.format import count, duration, percent, plain_points
from ralph_tui.text.sanitize import clip
from ralph_tui.text.terms import alarm_words, in_words


def plan_of(started: RunStarted, made: PlanMade | None) -> AttemptPlan:
    """Return the attempt's plan as recorded, or one derived from the run's settings.

    Without memory, no plan has been `made`.
    """
    if made is None:
        steps = [f"work through {started.plan}"] if started.plan else []
        return AttemptPlan(approach=_approach(started), steps=steps)
    known = made.estimated_iterations is not None
    return AttemptPlan(
        approach=made.approach,
        steps=made.steps,
        estimated_iterations=made.estimated_iterations,
        estimate_from=made.estimate_from if known else None,
        cites=made.cites,
        related=made.related,
    )


def plan_text(started: RunStarted, made: PlanMade | None) -> str:
    """Return the text of ``plan.md``: objective, approach and limits."""
    plan = plan_of(started, made)
    end = "" if plan.approach.endswith((".", "!", "?")) else "."
    parts = [
        f"# Plan for {started.name}",
        started.objective.strip(),
        f"## Approach\n\n{plan.approach}{end}",
        *([_numbered("Steps", plan.steps)] if made and plan.steps else []),
        *([f"The items of `{started.plan}` are counted."] if started.plan else []),
        *_estimate(plan),
        *([_listed("Follows", plan.cites)] if plan.cites else []),
        *([_listed("Tasks like this one", plan.related)] if plan.related else []),
        _listed("Limits", _limits(started)),
    ]
    return "\n\n".join(parts) + "\n"


def _estimate(plan: AttemptPlan) -> list[str]:
    if plan.estimated_iterations is None:
        return []
    estimate = f"About {count(plan.estimated_iterations, 'iteration')}"
    rests = f", from {count(plan.estimate_from, 'run')}" if plan.estimate_from else ""
    return [f"## Estimate\n\n{estimate}{rests}."]


def _limits(started: RunStarted) -> list[str]:
    limits = [f"at most {count(started.max_iterations, 'iteration')}"]
    if started.session_timeout_s:
        limits.append(f"at most {duration(started.session_timeout_s)} per session")
    if started.budget_usd is not None:
        limits.append(f"${started.budget_usd:,.2f} for the run")
    if started.budget_tokens is not None:
        limits.append(f"{started.budget_tokens:,} tokens for the run")
    return limits


def _approach(started: RunStarted) -> str:
    goal = (
        f"`{started.command}` passes" if started.command else f"this is true: {started.criterion}"
    )
    if started.watched:
        most = count(started.max_iterations, "iteration")
        return f"{started.agent} works under hooks for at most {most}, until {goal}"
    most = count(started.max_iterations, "iteration")
    return f"{started.agent} works in a loop until {goal}: at most {most}, each measured at its end"


def _numbered(title: str, items: list[str]) -> str:
    return f"## {title}\n\n" + "\n".join(f"{n}. {item}" for n, item in enumerate(items, 1))


def _listed(title: str, items: list[str]) -> str:
    return f"## {title}\n\n" + "\n".join(f"- {item}" for item in items)


LONGEST = 1_000
"""Maximum length of a reason, in characters."""
MAX_LESSONS = 5
"""Maximum number of gains, and of losses, that an outcome lists."""


def describe_ending(state: RunState) -> Ending | None:
    """Return how the run ended, or None if no end is recorded."""
    run, report = state.run, state.agent.report
    if run.finished is None and run.crash is None:
        return None
    outcome: Outcome = run.finished.outcome if run.finished else "failed"
    measured = run.completion is not None
    completion = None if run.completion is None else round(run.completion, 2)
    return Ending(
        status=RESULTS.get(outcome, "failure"),
        reason=clip(end_words(state), LONGEST),
        completion_percent=completion,
        what_worked=_unique(_worked(state)),
        what_didnt_work=_unique(chain(_failed(state), report.blockers if report else ())),
        suggestions_for_next_time=_unique(_suggestions(state)),
        outcome=outcome,
        best=round(run.best, 2) if measured else None,
        best_iteration=run.best_iteration if measured else None,
    )


def end_words(state: RunState) -> str:
    """Return why the run ended, or "" before its end."""
    run = state.run
    return run.finished.reason if run.finished else run.crash.error if run.crash else ""


def _worked(state: RunState) -> Iterator[str]:
    gains = sorted((-step, number) for number, step in _steps(state) if step > 0)
    for step, number in gains[:MAX_LESSONS]:
        yield f"iteration {number} gained {plain_points(step)}"
    if more := len(gains[MAX_LESSONS:]):
        yield f"{count(more, 'more iteration')} gained"
    for made in state.oversight.interventions:
        if made.effect is not None and made.effect.points > 0:
            yield made.effect.words
    for one in state.memory.seen.values():
        if any(credit.success for credit in one.credits.values()):
            yield f"a learning helped: {one.learning.text}"
    yield from (reflection.learning for reflection in _reflections(state, "success-pattern"))


def _failed(state: RunState) -> Iterator[str]:
    steps = _steps(state)
    losses = sorted((step, number) for number, step in steps if step < 0)
    for step, number in losses[:MAX_LESSONS]:
        yield f"iteration {number} lost {plain_points(step)}"
    if more := len(losses[MAX_LESSONS:]):
        yield f"{count(more, 'more iteration')} lost"
    if idle := sum(step == 0 for _, step in steps):
        yield f"{count(idle, 'iteration')} neither gained nor lost"
    raised = [mark.name for mark in state.control.marks]
    for name in dict.fromkeys(raised):
        yield f"alarm: {alarm_words(name)}, {count(raised.count(name), 'time')}"
    yield from _detected(state)
    for made in state.oversight.interventions:
        if made.effect is not None and made.effect.points <= 0:
            yield made.effect.words
    yield from (reflection.analysis for reflection in _reflections(state, "error-analysis"))


def _detected(state: RunState) -> Iterator[str]:
    """Yield behaviour that the overseer detected but no alarm reports."""
    found = [one.name for check in state.oversight.checks for one in check.detections]
    for name in ("objective_deviation", "resource_burn", "circuit"):
        if often := found.count(name):
            yield f"{in_words(name)} was detected in {count(often, 'iteration')}"


def _suggestions(state: RunState) -> Iterator[str]:
    if (report := state.agent.report) and report.next:
        yield report.next
    for reflection in state.memory.reflections:
        if reflection.reflection_type != "success-pattern":
            yield reflection.learning
        yield from reflection.action_items


def _reflections(state: RunState, kind: str) -> Iterable[ReflectionWritten]:
    return (
        reflection for reflection in state.memory.reflections if reflection.reflection_type == kind
    )


def _steps(state: RunState) -> list[tuple[int, float]]:
    """Return the iterations and their gains in points."""
    return [
        (span.number, gained)
        for span in state.timeline.spans
        if (gained := state.timeline.gain(span)) is not None
    ]


def _unique(sentences: Iterable[str]) -> list[str]:
    return [*dict.fromkeys(sentence for sentence in sentences if sentence)]


def project(state: RunState) -> dict[str, Any]:
    """Return file contents by name: JSON, text, or None if the file must not exist.

    Quick; call it on the thread that owns `state`. Raises ``ValueError`` before the run has
    started.
    """
    attempt = attempt_of(state)
    started = state.run.started
    assert started is not None  # `attempt_of` has checked it
    return {
        "attempt.json": attempt.as_json(),
        "outcome.json": attempt.outcome and attempt.outcome.as_json(),
        "plan.md": plan_text(started, state.memory.plan),
    }


def attempt_of(state: RunState) -> Attempt:
    """Return the attempt's record; raise ``ValueError`` before the run has started."""
    run, started = state.run, state.run.started
    if started is None or run.started_at is None:
        raise ValueError("a run that has not started has no attempt")
    ending = describe_ending(state)
    return Attempt(
        id=int(started.attempt) if started.attempt.isdecimal() else 0,
        task_id=started.task,
        run_id=started.run_id,
        description=started.objective,
        completion_criteria=started.command or started.criterion,
        status=_status(state, ending),
        started=run.started_at,
        updated=state.at,
        ended=run.ended_at,
        tags=[task_type(started.objective), *_changed_files(state)],
        plan=plan_of(started, state.memory.plan),
        execution=Execution(
            agent=started.agent,
            model=run.model,
            iterations=run.iteration,
            actions_performed=state.agent.tool_calls + state.actions.derived,
            quality_history=_qualities(state),
            cost_usd=run.cost_usd if run.cost_known else None,
            tokens=run.tokens or None,
            duration_s=run.worked_s(state.at),
            sessions=sum(len(span.sessions) for span in state.timeline.spans),
        ),
        outcome=ending,
        milestones=sorted(_milestones(state), key=lambda milestone: milestone.timestamp),
        learnings=[_used(one) for one in state.memory.seen.values() if one.gone != "deleted"],
        reflections=[Reflection.of(reflection) for reflection in state.memory.reflections],
    )


def _status(state: RunState, ending: Ending | None) -> Status:
    if ending is None:
        return "paused" if state.run.paused or state.needs.question is not None else "running"
    return "completed" if ending.outcome == "completed" else "failed"


def _changed_files(state: RunState) -> list[str]:
    touched = {
        total.category for span in state.timeline.spans if span.files for total in span.files.totals
    }
    return [category for category in get_args(Category) if category in touched]


def _qualities(state: RunState) -> list[Quality]:
    """Return measurements and gains; after a restore, gains are relative to the restored files."""
    readings = state.gate.readings
    gained = {span.number: state.timeline.gain(span) for span in state.timeline.spans}
    before = [reading.completion for reading in (*readings[:1], *readings)]
    return [
        Quality(
            iteration=reading.iteration,
            quality=round(reading.completion, 2),
            delta=round(reading.completion - last if gain is None else gain, 2),
        )
        for last, reading in zip(before, readings, strict=False)
        for gain in (gained.get(reading.iteration),)
    ]


def _used(one: SeenLearning) -> UsedLearning:
    learning = one.learning
    return UsedLearning(
        learning_id=learning.learning_id,
        type=learning.type,
        text=learning.text,
        confidence=learning.confidence,
        standing=learning.standing,
        origin=one.origin,
        prompts=one.prompts,
        credits=[
            Credited(iteration=each.iteration, success=each.success, points=round(each.points, 2))
            for each in one.credits.values()
        ],
        promoted=one.promoted is not None,
    )


def _milestones(state: RunState) -> Iterator[Milestone]:
    run, best = state.run, 0.0
    yield Milestone(timestamp=run.started_at or EPOCH, event="started")
    for reading in state.gate.readings:
        if reading.iteration == 0:
            best = reading.completion
            yield Milestone(timestamp=reading.at, event="baseline", details=percent(best))
        elif reading.restarted or reading.completion > best:
            best = reading.completion
            details = f"{percent(best)} after iteration {reading.iteration}"
            yield Milestone(timestamp=reading.at, event="best", details=details)
    for span in state.timeline.spans:
        for made in span.interventions:
            yield Milestone(timestamp=made.at, event=made.level.lower(), details=made.reason)
        for back in span.rollbacks:
            details = f"to snapshot {back.snapshot}, by {back.by}"
            yield Milestone(timestamp=back.at, event="rollback", details=details)
    if run.ended_at is not None:
        end, details = run.finished, clip(end_words(state), LONGEST)
        event = end.outcome if end else "crashed"
        yield Milestone(timestamp=run.ended_at, event=event, details=details)
