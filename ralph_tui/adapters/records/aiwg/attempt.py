"""What an attempt came to, in files that can be made again: functions of the folded run.

``attempt.json``, ``outcome.json`` (once it is over) and ``plan.md``; snake_case. All times are
those of events, so that a file that is written again is the same, byte for byte.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from ralph_tui.events import RunStarted
from ralph_tui.events.base import EPOCH
from ralph_tui.events.run import Outcome
from ralph_tui.events.text import Line, Plain
from ralph_tui.state import IterationSpan, RunState
from ralph_tui.text.format import count, duration, percent
from ralph_tui.text.sanitize import clip

Status = Literal["running", "paused", "completed", "failed"]
AttemptResult = Literal["success", "failure", "timeout"]

RESULTS: dict[Outcome, AttemptResult] = {"completed": "success", "limit_reached": "timeout"}
"""An attempt's outcome in the words of the schema; every end that is not named is a failure."""
LONGEST = 1_000
"""Characters of a reason, and of a command within a sentence."""
MOST_LESSONS = 5
"""Gains, and losses, that an outcome names."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class AttemptPlan(_Record):
    """What the attempt sets out to do."""

    approach: Plain = ""
    steps: list[Plain] = []
    estimated_iterations: int = 0
    """The most it may take."""


class Quality(_Record):
    """One reading of completion, in points, and its step."""

    iteration: int
    quality: float
    delta: float


class Execution(_Record):
    """How it went."""

    agent: Line = ""
    model: Line | None = None
    iterations: int = 0
    actions_performed: int = 0
    quality_history: list[Quality] = []
    cost_usd: float | None = None
    """None where the agent does not tell."""
    tokens: int = 0
    duration_s: float = 0.0


class Ending(_Record):
    """What it came to; quality and completion in points."""

    status: AttemptResult
    reason: Plain
    final_quality: float
    completion_percent: float
    what_worked: list[Plain] = []
    what_didnt_work: list[Plain] = []
    suggestions_for_next_time: list[Plain] = []
    outcome: Line = ""
    """The same in this program's own words."""
    best: float = 0.0
    best_iteration: int = 0


class Milestone(_Record):
    """A moment worth telling."""

    timestamp: datetime
    event: Line
    details: Plain = ""


class Attempt(_Record):
    """``attempt.json``."""

    id: int
    task_id: Line
    run_id: Line = ""
    description: Plain = ""
    completion_criteria: Plain | None = None
    status: Status = "running"
    started: datetime
    updated: datetime
    ended: datetime | None = None
    plan: AttemptPlan = AttemptPlan()
    execution: Execution = Execution()
    outcome: Ending | None = None
    milestones: list[Milestone] = []


def project(state: RunState) -> dict[str, Any]:
    """File name to content: what becomes JSON, text, or None for a file that is not to be there.

    Quick, and plain data: for the thread that owns `state`. Raises ``ValueError`` before a start.
    """
    attempt = attempt_of(state)
    started = state.run.started
    assert started is not None  # `attempt_of` has looked
    return {
        "attempt.json": attempt.model_dump(mode="json"),
        "outcome.json": attempt.outcome and attempt.outcome.model_dump(mode="json"),
        "plan.md": _plan_text(started),
    }


def attempt_of(state: RunState) -> Attempt:
    """The attempt's record. Raises ``ValueError`` before the run has started."""
    run, started = state.run, state.run.started
    if started is None or run.started_at is None:
        raise ValueError("a run that has not started has no attempt")
    ending = _ending(state)
    readings = state.gate.readings
    before = [reading.completion for reading in (*readings[:1], *readings)]
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
        plan=AttemptPlan(
            approach=_approach(started),
            steps=[f"work through {started.plan}"] if started.plan else [],
            estimated_iterations=run.max_iterations,
        ),
        execution=Execution(
            agent=started.agent,
            model=run.model,
            iterations=run.iteration,
            actions_performed=state.agent.tool_calls,
            quality_history=[
                Quality(
                    iteration=reading.iteration,
                    quality=round(reading.completion, 2),
                    delta=round(reading.completion - last, 2),
                )
                for last, reading in zip(before, readings, strict=False)
            ],
            cost_usd=run.cost_usd if run.cost_known else None,
            tokens=run.tokens,
            duration_s=run.worked_s(state.at),
        ),
        outcome=ending,
        milestones=sorted(_milestones(state), key=lambda milestone: milestone.timestamp),
    )


def _status(state: RunState, ending: Ending | None) -> Status:
    if ending is None:
        return "paused" if state.run.paused else "running"
    return "completed" if ending.outcome == "completed" else "failed"


def _ending(state: RunState) -> Ending | None:
    run = state.run
    if run.finished is None and run.crash is None:
        return None
    outcome: Outcome = run.finished.outcome if run.finished else "failed"
    report, completion = state.agent.report, round(run.completion or 0.0, 2)
    return Ending(
        status=RESULTS.get(outcome, "failure"),
        reason=clip(_end_words(state), LONGEST),
        final_quality=completion,
        completion_percent=completion,
        what_worked=_worked(state.timeline.spans),
        what_didnt_work=[*_failed(state), *(report.blockers if report else ())],
        suggestions_for_next_time=[report.next] if report and report.next else [],
        outcome=outcome,
        best=round(run.best, 2),
        best_iteration=run.best_iteration,
    )


def _steps(spans: list[IterationSpan]) -> list[tuple[int, float]]:
    """Iterations and what they brought, in points."""
    return [
        (span.number, round(span.completion - span.previous, 1))
        for span in spans
        if span.completion is not None and span.previous is not None
    ]


def _worked(spans: list[IterationSpan]) -> list[str]:
    gains = sorted((-step, number) for number, step in _steps(spans) if step > 0)
    return [f"iteration {number} gained {-step:g} points" for step, number in gains[:MOST_LESSONS]]


def _failed(state: RunState) -> Iterator[str]:
    steps = _steps(state.timeline.spans)
    losses = sorted((step, number) for number, step in steps if step < 0)
    for step, number in losses[:MOST_LESSONS]:
        yield f"iteration {number} lost {-step:g} points"
    if idle := sum(step == 0 for _, step in steps):
        yield f"{count(idle, 'iteration')} brought nothing"
    raised = [mark.name for mark in state.control.marks]
    for name in dict.fromkeys(raised):
        yield f"{name} was raised {count(raised.count(name), 'time')}"


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
        end, details = run.finished, clip(_end_words(state), LONGEST)
        event = end.outcome if end else "crashed"
        yield Milestone(timestamp=run.ended_at, event=event, details=details)


def _end_words(state: RunState) -> str:
    run = state.run
    return run.finished.reason if run.finished else run.crash.error if run.crash else ""


def _approach(started: RunStarted) -> str:
    goal = (
        f"`{started.command}` passes" if started.command else f"this is true: {started.criterion}"
    )
    return (
        f"{started.agent} works in a loop, measured after each of at most "
        f"{count(started.max_iterations, 'iteration')}, until {goal}"
    )


def _plan_text(started: RunStarted) -> str:
    """The plan as a document: what was wanted, how its end is known, within which limits."""
    limits = [
        f"at most {count(started.max_iterations, 'iteration')}",
        f"a session at most {duration(started.session_timeout_s)}",
    ]
    if started.budget_usd is not None:
        limits.append(f"${started.budget_usd:,.2f} for the run")
    if started.budget_tokens is not None:
        limits.append(f"{started.budget_tokens:,} tokens for the run")
    parts = [
        f"# Plan of {started.task}/{started.attempt}",
        started.objective.strip(),
        f"## Approach\n\n{_approach(started)}.",
        *([f"The items of `{started.plan}` are counted."] if started.plan else []),
        "## Limits\n\n" + "\n".join(f"- {limit}" for limit in limits),
    ]
    return "\n\n".join(parts) + "\n"
