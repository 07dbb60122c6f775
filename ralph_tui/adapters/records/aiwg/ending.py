"""What an attempt came to, from evidence: gains, losses, detections, answers, reflections."""

from collections.abc import Iterable, Iterator
from itertools import chain

from ralph_tui.adapters.records.aiwg.records import RESULTS, Ending
from ralph_tui.events import ReflectionWritten
from ralph_tui.events.run import Outcome
from ralph_tui.state import RunState
from ralph_tui.text.format import count, plain_points
from ralph_tui.text.sanitize import clip
from ralph_tui.text.terms import in_words

LONGEST = 1_000
"""Characters of a reason."""
MOST_LESSONS = 5
"""Gains, and losses, that an outcome names."""


def ending_of(state: RunState) -> Ending | None:
    """None while the run goes on, or where no end was recorded."""
    run, report = state.run, state.agent.report
    if run.finished is None and run.crash is None:
        return None
    outcome: Outcome = run.finished.outcome if run.finished else "failed"
    measured = run.completion is not None
    completion = None if run.completion is None else round(run.completion, 2)
    return Ending(
        status=RESULTS.get(outcome, "failure"),
        reason=clip(end_words(state), LONGEST),
        final_quality=completion,
        completion_percent=completion,
        what_worked=_once(_worked(state)),
        what_didnt_work=_once(chain(_failed(state), report.blockers if report else ())),
        suggestions_for_next_time=_once(_suggestions(state)),
        outcome=outcome,
        best=round(run.best, 2) if measured else None,
        best_iteration=run.best_iteration if measured else None,
    )


def end_words(state: RunState) -> str:
    """Why it ended; empty while it goes on."""
    run = state.run
    return run.finished.reason if run.finished else run.crash.error if run.crash else ""


def _worked(state: RunState) -> Iterator[str]:
    gains = sorted((-step, number) for number, step in _steps(state) if step > 0)
    for step, number in gains[:MOST_LESSONS]:
        yield f"iteration {number} gained {plain_points(step)}"
    for made in state.oversight.interventions:
        if made.effect is not None and made.effect.points > 0:
            yield made.effect.words
    for one in state.memory.seen.values():
        helped = [credit.iteration for credit in one.credits.values() if credit.success]
        if helped:
            yield f"a learning helped in {count(len(helped), 'iteration')}: {one.learning.text}"
    yield from (told.learning for told in _reflections(state, "success-pattern"))


def _failed(state: RunState) -> Iterator[str]:
    steps = _steps(state)
    losses = sorted((step, number) for number, step in steps if step < 0)
    for step, number in losses[:MOST_LESSONS]:
        yield f"iteration {number} lost {plain_points(step)}"
    if idle := sum(step == 0 for _, step in steps):
        yield f"{count(idle, 'iteration')} brought nothing"
    raised = [mark.name for mark in state.control.marks]
    for name in dict.fromkeys(raised):
        yield f"{name} was raised {count(raised.count(name), 'time')}"
    yield from _detected(state)
    for made in state.oversight.interventions:
        if made.effect is not None and made.effect.points <= 0:
            yield made.effect.words
    yield from (told.analysis for told in _reflections(state, "error-analysis"))


def _detected(state: RunState) -> Iterator[str]:
    """Behaviour that the overseer saw and no alarm speaks of."""
    found = [one.name for check in state.oversight.checks for one in check.detections]
    for name in ("objective_deviation", "resource_burn", "circuit"):
        if often := found.count(name):
            yield f"{in_words(name)} was detected in {count(often, 'iteration')}"


def _suggestions(state: RunState) -> Iterator[str]:
    if (report := state.agent.report) and report.next:
        yield report.next
    for told in state.memory.reflections:
        if told.reflection_type != "success-pattern":
            yield told.learning
        yield from told.action_items


def _reflections(state: RunState, kind: str) -> Iterable[ReflectionWritten]:
    return (told for told in state.memory.reflections if told.reflection_type == kind)


def _steps(state: RunState) -> list[tuple[int, float]]:
    """Iterations and what they brought, in points as they are written."""
    return [
        (span.number, gained)
        for span in state.timeline.spans
        if (gained := state.timeline.gain(span)) is not None
    ]


def _once(sentences: Iterable[str]) -> list[str]:
    return [*dict.fromkeys(sentence for sentence in sentences if sentence)]
