"""What an attempt teaches, by template from what was measured: nothing is guessed.

A completed attempt gives two reflections: what worked, and how the work went.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ralph_tui.events import ReflectionWritten
from ralph_tui.events.run import Outcome
from ralph_tui.state import IterationSpan, RunState
from ralph_tui.state.wording import failing_words
from ralph_tui.text.format import count, duration, percent, points_gained
from ralph_tui.text.sanitize import clip, one_line

NAMED: Final = 3
"""Files, tests and iterations that a sentence names."""
ENDED: Final[dict[Outcome, str]] = {
    "aborted": "was aborted",
    "failed": "failed",
    "interrupted": "was interrupted",
}
LONGEST: Final = 300
"""Characters of what an agent has said, within a sentence."""


class Step(NamedTuple):
    """What one iteration brought."""

    span: IterationSpan
    points: float


def reflect(state: RunState, outcome: Outcome) -> list[ReflectionWritten]:
    """The reflections on an attempt that ends now; none before its first iteration was measured."""
    steps = _steps(state)
    if state.run.started is None or not steps:
        return []
    match outcome:
        case "completed":
            return [_success(state, steps), _process(state, steps)]
        case "limit_reached":
            return [_timeout(state, steps)]
        case _:
            return [_failure(state, steps, outcome)]


def _success(state: RunState, steps: Sequence[Step]) -> ReflectionWritten:
    gains = _gains(steps)
    best = gains[0] if gains else steps[-1]
    return ReflectionWritten(
        attempt=_attempt(state),
        observation=f"The task was completed {_after(state)}; {_rose(state)}.",
        analysis=_joined(*(_brought(step) for step in gains), *_effects(state)),
        learning=(
            f"Most came of iteration {best.span.number}{_in_files(best.span)}: "
            "begin there when it is done again."
        ),
        action_items=[*_reported(state), f"Expect {_iterations(state)}."],
        triggered_by="success",
        reflection_type="success-pattern",
    )


def _process(state: RunState, steps: Sequence[Step]) -> ReflectionWritten:
    idle = [step.span.number for step in steps if step.points <= 0]
    asked = [made for made in state.oversight.interventions if made.level in ("REDIRECT", "PAUSE")]
    denied = state.run.denied
    told = [
        f"{len(idle)} of {count(len(steps), 'iteration')} brought nothing" if idle else "",
        f"the approach was questioned {count(len(asked), 'time')}" if asked else "",
        f"{count(denied, 'tool call')} of the agent {'was' if denied == 1 else 'were'} denied"
        if denied
        else "",
    ]
    hindrances = "; ".join(words for words in told if words)
    needed = count(len(steps) - len(idle), "iteration")
    items = [
        "Permit what was denied, where it is safe." if denied else "",
        f"See why iteration {idle[0]} stood still before it is done again." if idle else "",
    ]
    return ReflectionWritten(
        attempt=_attempt(state),
        observation=f"It took {_iterations(state)} and {duration(state.run.worked_s(state.at))}.",
        analysis=_sentence(f"{hindrances[0].upper()}{hindrances[1:]}")
        if hindrances
        else "Nothing stood in its way.",
        learning=f"It could have been done in {needed}."
        if idle
        else "Every iteration brought something: go about it in the same way.",
        action_items=[item for item in items if item],
        triggered_by="success",
        reflection_type="process-improvement",
    )


def _timeout(state: RunState, steps: Sequence[Step]) -> ReflectionWritten:
    run = state.run
    gained = sum(step.points for step in steps)
    pace = gained / len(steps)
    missing = 100 - (run.completion or 0.0)
    more = max(1, -(-missing // pace)) if pace > 0 else None
    learning = (
        f"At its pace it needed about {count(int(more), 'iteration')} more: give it more, or make "
        "the task smaller."
        if more is not None and more <= 10 * len(steps)
        else "More iterations alone do not help: change the approach, or make the task smaller."
    )
    return ReflectionWritten(
        attempt=_attempt(state),
        observation=f"The limit was reached {_after(state)}; {_rose(state)}.",
        analysis=_hindered(state, steps),
        learning=learning,
        action_items=[*_left(state), *_again(steps)],
        triggered_by="timeout",
        reflection_type="process-improvement",
    )


def _failure(state: RunState, steps: Sequence[Step], outcome: Outcome) -> ReflectionWritten:
    losses = sorted((step for step in steps if step.points < 0), key=lambda step: step.points)
    learning = (
        f"Iteration {losses[0].span.number} took {points_gained(-losses[0].points).lstrip('+')} "
        f"away{_in_files(losses[0].span)}: measure after each such change."
        if losses
        else "What was tried did not bring it to its end: begin with another approach."
    )
    return ReflectionWritten(
        attempt=_attempt(state),
        observation=f"The attempt {ENDED[outcome]} {_after(state)}; {_rose(state)}.",
        analysis=_hindered(state, steps),
        learning=learning,
        action_items=[*_left(state), *_again(steps)],
        triggered_by="failure",
        reflection_type="error-analysis",
    )


# -- what was measured ---------------------------------------------------------------------------


def _steps(state: RunState) -> list[Step]:
    return [
        Step(span, span.completion - span.previous)
        for span in state.timeline.spans
        if span.number and span.completion is not None and span.previous is not None
    ]


def _gains(steps: Sequence[Step]) -> list[Step]:
    """The largest first."""
    gains = [step for step in steps if step.points > 0]
    return sorted(gains, key=lambda step: (-step.points, step.span.number))[:NAMED]


def _attempt(state: RunState) -> int:
    started = state.run.started
    return int(started.attempt) if started and started.attempt.isdecimal() else 0


def _iterations(state: RunState) -> str:
    return count(state.run.iteration, "iteration")


def _after(state: RunState) -> str:
    return f"after {_iterations(state)} and {duration(state.run.worked_s(state.at))}"


def _rose(state: RunState) -> str:
    run = state.run
    now, began = run.completion or 0.0, run.baseline or 0.0
    best = f", best {percent(run.best, now)} after iteration {run.best_iteration}"
    higher = best if run.best > now and run.best_iteration else ""
    if now == began:
        return f"completion stayed at {percent(now)}{higher}"
    return f"completion went from {percent(began, now)} to {percent(now, began)}{higher}"


def _brought(step: Step) -> str:
    gained = points_gained(step.points)
    return f"Iteration {step.span.number} brought {gained}{_in_files(step.span)}."


def _in_files(span: IterationSpan) -> str:
    changes = span.files.changes if span.files else []
    named = [one_line(change.path) for change in changes[:NAMED]]
    more = len(changes) - len(named)
    return (
        f" with changes in {', '.join(named)}{f' and {more} more' if more else ''}" if named else ""
    )


def _effects(state: RunState) -> Iterator[str]:
    for made in state.oversight.interventions:
        if made.effect is not None and made.effect.points >= 1:
            after = count(made.effect.after, "iteration")
            yield (
                f"The change of approach after iteration {made.iteration} brought "
                f"{points_gained(made.effect.points)} in {after}."
            )


def _hindered(state: RunState, steps: Sequence[Step]) -> str:
    """What stood in the way, with its evidence."""
    idle = sum(step.points <= 0 for step in steps)
    reasons = dict.fromkeys(made.reason for made in state.oversight.interventions)
    report = state.agent.report
    blockers = report.blockers[:NAMED] if report else []
    return _joined(
        f"{idle} of {count(len(steps), 'iteration')} brought nothing." if idle else "",
        *[_sentence(reason) for reason in list(reasons)[-NAMED:]],
        *(f"The agent was blocked by: {_sentence(clip(text, LONGEST))}" for text in blockers),
    )


def _left(state: RunState) -> Iterator[str]:
    """What is still wrong."""
    gate = state.gate.last
    if gate is None or gate.ok or not gate.failing:
        return
    yield f"Look first at {failing_words(gate)}: failing at its end."


def _again(steps: Sequence[Step]) -> Iterator[str]:
    if gains := _gains(steps):
        yield f"What worked best was iteration {gains[0].span.number}{_in_files(gains[0].span)}."


def _reported(state: RunState) -> list[str]:
    """What the agent says to have learned at last."""
    report = state.agent.report
    learned = report.learnings[:NAMED] if report else []
    return [_sentence(clip(text, LONGEST)) for text in learned if text.strip()]


def _named(names: Sequence[str]) -> str:
    """The first ones, and how many more there are."""
    more = len(names[NAMED:])
    listed = ", ".join(one_line(name) for name in names[:NAMED])
    return f"{listed} and {more} more" if more else listed


def _joined(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence) or "Nothing more was recorded."


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text[-1:] in ".!?:…" else f"{text}."
