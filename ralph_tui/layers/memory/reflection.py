"""Write reflections on an attempt from templates and measurements, without guessing.

Learnings reported by the agent do not appear here; they are separate learnings, which the user can
mute. A completed attempt yields two reflections: what worked, and how the work went.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from ralph_tui.events import ReflectionWritten
from ralph_tui.events.agent import NO_FAULT
from ralph_tui.events.run import Outcome
from ralph_tui.layers.memory.steps import Step, fixed_in, gains_of, largest_of, steps_of
from ralph_tui.layers.sensor.passing import needed
from ralph_tui.state import IterationSpan, RunState
from ralph_tui.text.format import count, duration, percent, plain_points
from ralph_tui.text.sanitize import clip, one_line

NAMED: Final = 3
"""Maximum files, tests or iterations named in a sentence."""
ENDED: Final[dict[Outcome, str]] = {
    "aborted": "was aborted",
    "failed": "failed",
    "interrupted": "was interrupted",
}
REFUSED: Final = ("missing", "not_started", "auth", "unknown_model")
"""Outcomes of a session that could not start."""
BROKEN: Final = ("error", "crashed")
AT_ONCE_S: Final = 10
"""Seconds after which a session that fails may have done some work."""
SMOOTH: Final = "Nothing stood in its way."
UNKNOWN: Final = "Nothing more was recorded."
NO_EVIDENCE: Final = ("", SMOOTH, UNKNOWN)
"""Analyses without anything specific to the attempt."""
RECENT: Final = 2
"""Iterations since the best result after which the pace is meaningless."""
LONGEST: Final = 300
"""Maximum characters of an agent's statement within a sentence."""


def reflect(state: RunState, outcome: Outcome) -> list[ReflectionWritten]:
    """Return the reflections on an attempt that is ending with `outcome`."""
    if state.run.started is None:
        return []
    steps = steps_of(state)
    match outcome:
        case "completed":
            return [_success(state, steps), _process(state, steps)]
        case "limit_reached":
            return [_never_began(state, _timeout(state, steps), steps)]
        case _:
            return [_never_began(state, _failure(state, steps, outcome), steps)]


def _never_began(
    state: RunState, told: ReflectionWritten, steps: Sequence[Step]
) -> ReflectionWritten:
    """Replace the lesson if no agent began to work, which teaches nothing about the task."""
    ended = state.agent.ended
    failed = ended is not None and (
        ended.outcome in REFUSED or (ended.outcome in BROKEN and ended.duration_s < AT_ONCE_S)
    )
    if (
        not failed
        or state.needs.served
        or any(step.points > 0 or _in_files(step.span) for step in steps)
    ):
        return told
    began = ended is not None and ended.outcome in BROKEN
    did = "The agent failed immediately" if began else "The agent never started work"
    return told.model_copy(
        update={
            "learning": f"{did}: this says nothing about the task.",
            "action_items": ["Check with ralph-tui doctor that the agent can work here."],
        }
    )


def _success(state: RunState, steps: Sequence[Step]) -> ReflectionWritten:
    gains = gains_of(steps)[:NAMED]
    return ReflectionWritten(
        attempt=_attempt(state),
        observation=f"The task was completed {_after(state)}; {_rose(state)}.",
        analysis=_joined(*(_describe_gain(step) for step in gains), *_effects(state)),
        learning=_most(gains_of(steps)),
        action_items=[],
        triggered_by="success",
        reflection_type="success-pattern",
    )


def _most(gains: Sequence[Step]) -> str:
    largest = largest_of(gains)
    if not largest:
        return "No iteration gained points by its own work: there is little to learn from here."
    if len(largest) == 1:
        first = largest[0].span
        files = _in_files(first)
        return f"Iteration {first.number} gained the most{files}: start with such work next time."
    if len(largest) == len(gains):
        return "All gains were about equal: take steps of this size again."
    numbers = sorted(one.span.number for one in largest)
    named = _listed([str(number) for number in numbers[:NAMED]], max(0, len(numbers) - NAMED))
    return f"Iterations {named} gained the most, each about the same: work as they did."


def _process(state: RunState, steps: Sequence[Step]) -> ReflectionWritten:
    idle = _idle(steps)
    asked = [made for made in state.oversight.interventions if made.level in ("REDIRECT", "PAUSE")]
    denied = state.needs.denials
    told = [
        f"{len(idle)} of {count(len(steps), 'iteration')} gained nothing" if idle else "",
        f"the approach was questioned {_times(len(asked))}" if asked else "",
        f"{count(denied, 'tool call')} {'was' if denied == 1 else 'were'} denied" if denied else "",
    ]
    hindrances = "; ".join(words for words in told if words)
    moved = len(steps) - len(idle)
    items = [
        "Permit the denied tools where it is safe." if state.needs.denied else "",
        f"Find out why iteration {idle[0]} gained nothing before repeating it." if idle else "",
    ]
    return ReflectionWritten(
        attempt=_attempt(state),
        observation=f"It took {_iterations(state)} and {duration(state.run.worked_s(state.at))}.",
        analysis=_sentence(f"{hindrances[0].upper()}{hindrances[1:]}") if hindrances else SMOOTH,
        learning=f"The progress came from {moved} of {count(len(steps), 'iteration')}: find a way "
        "without the others."
        if idle
        else "Every measured iteration gained something: work the same way again.",
        action_items=[item for item in items if item],
        triggered_by="success",
        reflection_type="process-improvement",
    )


def _timeout(state: RunState, steps: Sequence[Step]) -> ReflectionWritten:
    run = state.run
    pace = sum(step.points for step in steps if step.own) / len(steps) if steps else 0.0
    missing = 100 - (run.completion or 0.0)
    more = max(1, -(-missing // pace)) if pace > 0 else None
    rises = run.iteration - run.best_iteration < RECENT
    if lacks := needed(state):
        learning = f"The completion command passes: {lacks}."
    elif more is not None and more <= 10 * len(steps) and rises:
        learning = (
            f"At its pace, it needed about {count(int(more), 'iteration')} more: give it more, or "
            "make the task smaller."
        )
    else:
        learning = (
            "More iterations alone do not help: change the approach, or make the task smaller."
        )
    return ReflectionWritten(
        attempt=_attempt(state),
        observation=f"The limit was reached {_after(state)}; {_rose(state)}.",
        analysis=_describe_obstacles(state, steps),
        learning=learning,
        action_items=[*_open_problems(state), *_fixed(state, steps)],
        triggered_by="timeout",
        reflection_type="process-improvement",
    )


def _failure(state: RunState, steps: Sequence[Step], outcome: Outcome) -> ReflectionWritten:
    losses = sorted(
        (step for step in steps if step.own and step.points < 0), key=lambda step: step.points
    )
    if losses:
        worst = losses[0]
        learning = (
            f"Iteration {worst.span.number} lost {_size(worst)}{_in_files(worst.span)}: make such "
            "changes in smaller steps."
        )
    elif outcome == "interrupted" or (not steps and state.files.totals):
        learning = "It was stopped before it could show more: continue from where it was."
    elif steps:
        learning = "The approaches tried did not complete it: start with another one."
    else:
        learning = "Nothing was tried yet: fix what kept it from working, then start again."
    return ReflectionWritten(
        attempt=_attempt(state),
        observation=f"The attempt {ENDED[outcome]} {_after(state)}; {_rose(state)}.",
        analysis=_describe_obstacles(state, steps),
        learning=learning,
        action_items=[*_open_problems(state), *_fixed(state, steps)],
        triggered_by="failure",
        reflection_type="error-analysis",
    )


# -- measurements --------------------------------------------------------------------------------


def _idle(steps: Sequence[Step]) -> list[int]:
    """Return the iterations whose own work gained nothing."""
    return [step.span.number for step in steps if step.own and step.points <= 0]


def _attempt(state: RunState) -> int:
    started = state.run.started
    return int(started.attempt) if started and started.attempt.isdecimal() else 0


def _iterations(state: RunState) -> str:
    return count(state.run.iteration, "iteration")


def _after(state: RunState) -> str:
    spent = duration(state.run.worked_s(state.at))
    if not state.run.completions:
        return f"after {spent}, before anything was measured"
    return f"after {_iterations(state)} and {spent}"


def _rose(state: RunState) -> str:
    run = state.run
    now, began = run.completion or 0.0, run.baseline or 0.0
    best = f", best {percent(run.best, now)} after iteration {run.best_iteration}"
    higher = best if run.best > now and run.best_iteration else ""
    if now == began:
        return f"completion stayed at {percent(now)}{higher}"
    return f"completion went from {percent(began, now)} to {percent(now, began)}{higher}"


def _describe_gain(step: Step) -> str:
    return f"Iteration {step.span.number} gained {_size(step)}{_in_files(step.span)}."


def _size(step: Step) -> str:
    """Format the points gained or lost: ``14 points``."""
    return plain_points(step.shown_gain)


def _in_files(span: IterationSpan) -> str:
    changes = span.files.changes if span.files else []
    named = [one_line(change.path) for change in changes[:NAMED]]
    more = len(changes) - len(named)
    return f", with changes in {_listed(named, more)}" if named else ""


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _listed(names: Sequence[str], more: int) -> str:
    """Join names: ``a, b and c``, ``a, b, c and 4 more``."""
    parts = [*names, f"{more} more"] if more else list(names)
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]


def _effects(state: RunState) -> Iterator[str]:
    for made in state.oversight.interventions:
        if made.effect is not None and made.effect.points >= 1:
            after = count(made.effect.after, "iteration")
            yield (
                f"The change of approach after iteration {made.iteration} gained "
                f"{plain_points(made.effect.points)} in {after}."
            )


def _describe_obstacles(state: RunState, steps: Sequence[Step]) -> str:
    """Describe the obstacles, with evidence."""
    idle = len(_idle(steps))
    reasons = dict.fromkeys(made.reason for made in state.oversight.interventions)
    report = state.agent.report
    blockers = [text for text in report.blockers if text.strip()][:NAMED] if report else []
    return _joined(
        _idle_words(idle, len(steps)),
        _cut_short(state),
        *[_sentence(reason) for reason in list(reasons)[-NAMED:]],
        *(f"The agent was blocked by: {_sentence(clip(text, LONGEST))}" for text in blockers),
    )


def _idle_words(idle: int, iterations: int) -> str:
    if not idle:
        return ""
    if idle == iterations:
        return "No iteration gained anything."
    return f"{idle} of {count(iterations, 'iteration')} gained nothing."


def _cut_short(state: RunState) -> str:
    """Return how the last session failed; empty if it did not."""
    ended = state.agent.ended
    if ended is None or ended.outcome in NO_FAULT or not ended.reason.strip():
        return ""
    return f"The last session did not end normally: {_sentence(clip(ended.reason, LONGEST))}"


def _open_problems(state: RunState) -> Iterator[str]:
    """Yield the problems that remain."""
    gate = state.gate.last
    if broken := state.gate.broken_words:
        yield f"Fix the build first: {broken}."
        return
    if gate is None or gate.ok or not gate.failing:
        return
    yield f"Start with what failed at the end: {gate.failing_words}."


def _fixed(state: RunState, steps: Sequence[Step]) -> Iterator[str]:
    """Name the tests fixed for good by the largest proven gain, and the files it changed."""
    for gain in gains_of(steps):
        names, files = fixed_in(state, gain.span), _in_files(gain.span)
        if names and files:
            named = _listed([one_line(name) for name in names[:NAMED]], len(names[NAMED:]))
            has = "have" if names[1:] else "has"
            yield f"{named} {has} passed since iteration {gain.span.number}{files}."
            return


def _joined(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence) or UNKNOWN


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text if text[-1:] in ".!?:…" else f"{text}."
