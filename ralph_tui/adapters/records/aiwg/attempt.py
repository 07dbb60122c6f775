"""What an attempt came to, in files that can be made again: functions of the folded run.

``attempt.json``, ``outcome.json`` (once it is over) and ``plan.md``. All times are those of events,
so that a file that is written again is the same, byte for byte.
"""

from collections.abc import Iterator
from typing import Any, get_args

from ralph_tui.adapters.records.aiwg.ending import LONGEST, end_words, ending_of
from ralph_tui.adapters.records.aiwg.plan import plan_of, plan_text
from ralph_tui.adapters.records.aiwg.records import (
    Attempt,
    Credited,
    Ending,
    Execution,
    Milestone,
    Quality,
    Reflection,
    Status,
    UsedLearning,
)
from ralph_tui.events.base import EPOCH
from ralph_tui.events.workspace import Category
from ralph_tui.layers.memory.task_types import task_type
from ralph_tui.state import RunState, SeenLearning
from ralph_tui.text.format import percent
from ralph_tui.text.sanitize import clip


def project(state: RunState) -> dict[str, Any]:
    """File name to content: what becomes JSON, text, or None for a file that is not to be there.

    Quick, and plain data: for the thread that owns `state`. Raises ``ValueError`` before a start.
    """
    attempt = attempt_of(state)
    started = state.run.started
    assert started is not None  # `attempt_of` has looked
    return {
        "attempt.json": attempt.as_json(),
        "outcome.json": attempt.outcome and attempt.outcome.as_json(),
        "plan.md": plan_text(started, state.memory.plan),
    }


def attempt_of(state: RunState) -> Attempt:
    """The attempt's record. Raises ``ValueError`` before the run has started."""
    run, started = state.run, state.run.started
    if started is None or run.started_at is None:
        raise ValueError("a run that has not started has no attempt")
    ending = ending_of(state)
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
        tags=[task_type(started.objective), *_touched(state)],
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
        ),
        outcome=ending,
        milestones=sorted(_milestones(state), key=lambda milestone: milestone.timestamp),
        learnings=[_used(one) for one in state.memory.seen.values() if one.gone != "deleted"],
        reflections=[Reflection.of(told) for told in state.memory.reflections],
    )


def _status(state: RunState, ending: Ending | None) -> Status:
    if ending is None:
        return "paused" if state.run.paused else "running"
    return "completed" if ending.outcome == "completed" else "failed"


def _touched(state: RunState) -> list[str]:
    """Categories of the files that were changed."""
    touched = {
        total.category for span in state.timeline.spans if span.files for total in span.files.totals
    }
    return [category for category in get_args(Category) if category in touched]


def _qualities(state: RunState) -> list[Quality]:
    """Readings, and what each gained: after a restore, on the files that the iteration found."""
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
