"""Write reflections on an attempt from measurements, without guessing.

Rule: a reflection names causes: tests, files, errors, obstacles. Without a cause, no reflection is
written. The agent's own learnings do not appear here; they are separate learnings, which the user
can mute.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final, get_args

from ralph_tui.events import ReflectionWritten
from ralph_tui.events.agent import NO_FAULT
from ralph_tui.events.run import Outcome
from ralph_tui.layers.control.advice import iterations_needed
from ralph_tui.layers.memory.steps import Step, fixed_in, gains_of, largest_of, steps_of
from ralph_tui.layers.sensor.passing import needed
from ralph_tui.layers.settings import ReflectOn
from ralph_tui.state import IterationSpan, RunState
from ralph_tui.text.format import count, duration, percent, plain_points
from ralph_tui.text.sanitize import clip, one_line

NAMED: Final = 3
"""Maximum number of files, tests or iterations named in a sentence."""
ENDED: Final[dict[Outcome, str]] = {
    "aborted": "was aborted",
    "failed": "failed",
    "interrupted": "was interrupted",
}
REFUSED: Final = ("missing", "not_started", "auth", "unknown_model")
"""Outcomes of a session that could not start."""
BROKEN: Final = ("error", "crashed")
AT_ONCE_S: Final = 10
"""Seconds after which a failing session counts as having done some work."""
NO_EVIDENCE: Final = ("", "Nothing stood in its way.", "Nothing more was recorded.")
"""Analyses that say nothing specific about the attempt; the last two are from older journals."""
RECENT: Final = 2
"""Iterations since the best result after which the pace is meaningless."""
LONGEST: Final = 300
"""Maximum length of an agent's statement within a sentence, in characters."""


def reflect(
    state: RunState, outcome: Outcome, on: Collection[ReflectOn] = get_args(ReflectOn)
) -> list[ReflectionWritten]:
    """Return the reflections on an attempt that is ending with `outcome`. Reflections without
    content are omitted, as are those that `on` does not select.
    """
    if state.run.started is None:
        return []
    steps = steps_of(state)
    match outcome:
        case "completed":
            written = [_success(state, steps), _process(state, steps)]
        case "limit_reached":
            written = [_never_began(state, _timeout(state, steps), steps)]
        case _:
            written = [_never_began(state, _failure(state, steps, outcome), steps)]
    return [one for one in map(_with_lesson, written) if one.learning and _end_of(one) in on]


def _end_of(written: ReflectionWritten) -> str:
    is_process = written.reflection_type == "process-improvement"
    return (
        "completion" if is_process and written.triggered_by == "success" else written.triggered_by
    )


def _with_lesson(written: ReflectionWritten) -> ReflectionWritten:
    """Use the last action item as the lesson if there is no other."""
    if written.learning or not written.action_items:
        return written
    *others, lesson = written.action_items
    return written.model_copy(update={"learning": lesson, "action_items": others})


def _never_began(
    state: RunState, written: ReflectionWritten, steps: Sequence[Step]
) -> ReflectionWritten:
    """Replace the lesson with the reason if no agent began to work."""
    ended = state.agent.ended
    failed = ended is not None and (
        ended.outcome in REFUSED or (ended.outcome in BROKEN and ended.duration_s < AT_ONCE_S)
    )
    if (
        not failed
        or state.needs.served
        or any(step.points > 0 or _in_files(step.span) for step in steps)
    ):
        return written
    assert ended is not None  # a session failed
    began = "failed immediately" if ended.outcome in BROKEN else "never started work"
    why = f": {_sentence(clip(ended.reason, LONGEST))}" if ended.reason.strip() else "."
    return written.model_copy(
        update={
            "learning": f"The agent {began}{why}",
            "action_items": ["Check with ralph-tui doctor that the agent can work here."],
        }
    )


def _success(state: RunState, steps: Sequence[Step]) -> ReflectionWritten:
    gains = gains_of(steps)[:NAMED]
    return ReflectionWritten(
        attempt=_attempt(state),
        observation=f"The task was completed {_after(state)}; {_rose(state)}.",
        analysis=_joined(
            *(_describe_gain(state, step) for step in gains), *_effects(state), *_overcome(state)
        ),
        learning=_most(steps),
        action_items=[],
        triggered_by="success",
        reflection_type="success-pattern",
    )


def _most(steps: Sequence[Step]) -> str:
    """Say where the largest gains came from; empty if no file is known to have caused them."""
    gains = gains_of(steps)
    if gains and any(not step.own and step.points > gains[0].points for step in steps):
        return ""
    largest = sorted(largest_of(gains), key=lambda step: step.span.number)
    paths = [path for step in largest for path in _paths(step.span)]
    if not paths:
        return ""
    files = _list_names(dict.fromkeys(paths))
    if len(largest) == 1:
        first = largest[0].span.number
        return f"Iteration {first} gained the most, with changes in {files}: start there next time."
    if len(largest) == len(gains):
        return f"All gains were about equal; they came from changes in {files}."
    numbers = _name_iterations([one.span.number for one in largest])
    return f"{numbers} gained the most, with changes in {files}."


def _process(state: RunState, steps: Sequence[Step]) -> ReflectionWritten:
    idle = _idle(steps)
    asked = [made for made in state.oversight.interventions if made.level in ("REDIRECT", "PAUSE")]
    denied = state.needs.denials
    reasons = [
        f"{len(idle)} of {count(len(steps), 'iteration')} gained nothing" if idle else "",
        f"the approach was questioned {_times(len(asked))}" if asked else "",
        f"{count(denied, 'tool call')} {'was' if denied == 1 else 'were'} denied" if denied else "",
    ]
    hindrances = "; ".join(words for words in reasons if words)
    items = ["Permit the denied tools where it is safe."] if state.needs.denied else []
    return ReflectionWritten(
        attempt=_attempt(state),
        observation=f"It took {_iterations(state)} and {duration(state.run.worked_s(state.at))}.",
        analysis=_sentence(f"{hindrances[0].upper()}{hindrances[1:]}") if hindrances else "",
        learning=_in_common(idle)
        or (
            f"The agent asked for tools that were denied: {_denied(state)}."
            if state.needs.denied
            else ""
        ),
        action_items=items,
        triggered_by="success",
        reflection_type="process-improvement",
    )


def _timeout(state: RunState, steps: Sequence[Step]) -> ReflectionWritten:
    run = state.run
    own = [step.points for step in steps if step.own]
    pace = sum(own) / len(own) if own else 0.0
    missing = 100 - (run.completion or 0.0)
    more = iterations_needed(missing / pace) if pace > 0 else None
    rises = run.iteration - run.best_iteration < RECENT
    if lacks := needed(state):
        learning = f"The completion command passes: {lacks}."
    elif more is not None and more <= 10 * len(steps) and rises:
        learning = (
            f"At its pace, it needed about {count(more, 'more iteration')}: allow more, or "
            "make the task smaller."
        )
    else:
        learning = _in_common(_idle(steps))
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
    return ReflectionWritten(
        attempt=_attempt(state),
        observation=f"The attempt {ENDED[outcome]} {_after(state)}; {_rose(state)}.",
        analysis=_describe_obstacles(state, steps),
        learning=_loss(steps) or _in_common(_idle(steps)) or _unmeasured(state),
        action_items=[*_open_problems(state), *_fixed(state, steps)],
        triggered_by="failure",
        reflection_type="error-analysis",
    )


def _loss(steps: Sequence[Step]) -> str:
    """Name the iteration that lost the most, and the files it changed."""
    losses = [step for step in steps if step.own and step.points < 0]
    if not losses:
        return ""
    worst = min(losses, key=lambda step: step.points)
    return f"Iteration {worst.span.number} lost {_size(worst)}{_in_files(worst.span)}."


def _unmeasured(state: RunState) -> str:
    """Name the files of a session that was cut off before a measurement."""
    span = state.timeline.current
    if span is None or span.completion is not None or not _paths(span):
        return ""
    return (
        f"The session of iteration {span.number} was cut off; its changes in "
        f"{_list_names(_paths(span))} were not measured."
    )


# -- causes --------------------------------------------------------------------------------------


def _in_common(idle: Sequence[IterationSpan]) -> str:
    """Say what the iterations without a gain had in common; empty if nothing is known."""
    if not idle:
        return ""
    causes = [
        f"changed {_list_names(paths)}" if (paths := _shared(idle, _paths)) else "",
        "changed no file" if all(_is_unchanged(span) for span in idle) else "",
        f"left {_list_names(tests)} failing" if (tests := _shared(idle, _failing)) else "",
        f"were blocked by: {clip(said[0], LONGEST)}" if (said := _shared(idle, _blockers)) else "",
    ]
    known = [cause for cause in causes if cause]
    if not known:
        return ""
    subject = f"{_name_iterations([span.number for span in idle])} gained nothing"
    return _sentence(f"{subject} and {' and '.join(known)}")


def _shared(
    spans: Sequence[IterationSpan], values: Callable[[IterationSpan], Sequence[str]]
) -> list[str]:
    """Return the values that all of these iterations share, in the order of the first."""
    return [one for one in values(spans[0]) if all(one in values(span) for span in spans[1:])]


def _paths(span: IterationSpan) -> list[str]:
    return [one_line(change.path) for change in span.files.changes] if span.files else []


def _failing(span: IterationSpan) -> list[str]:
    return [one_line(name) for name in span.gate.failing] if span.gate else []


def _blockers(span: IterationSpan) -> list[str]:
    return [one_line(text) for report in span.reports for text in report.blockers if text.strip()]


def _is_unchanged(span: IterationSpan) -> bool:
    return span.files is not None and not (span.files.changes or span.files.unknown)


def _overcome(state: RunState) -> Iterator[str]:
    """Name the obstacles that the agent reported and later stopped reporting."""
    reported = [span for span in state.timeline.spans if span.reports]
    last = {text: span.number for span in reported for text in _blockers(span)}
    for text, number in list(last.items())[:NAMED]:
        after = [span.number for span in reported if span.number > number]
        if after:
            gone = f"An obstacle was gone by iteration {after[0]}"
            yield _sentence(f"{gone}: {clip(text, LONGEST)}")


def _denied(state: RunState) -> str:
    tools = list(state.needs.denied)
    return _listed(tools[:NAMED], max(0, len(tools) - NAMED))


# -- measurements --------------------------------------------------------------------------------


def _idle(steps: Sequence[Step]) -> list[IterationSpan]:
    """Return the iterations whose own work gained nothing."""
    return [step.span for step in steps if step.own and step.points <= 0]


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


def _describe_gain(state: RunState, step: Step) -> str:
    fixed = [one_line(name) for name in fixed_in(state, step.span)]
    did = f"made {_list_names(fixed)} pass" if fixed else f"gained {_size(step)}"
    return f"Iteration {step.span.number} {did}{_in_files(step.span)}."


def _size(step: Step) -> str:
    """Format the points gained or lost: ``14 points``."""
    return plain_points(step.shown_gain)


def _in_files(span: IterationSpan) -> str:
    paths = _paths(span)
    return f", with changes in {_list_names(paths)}" if paths else ""


def _list_names(names: Iterable[str]) -> str:
    """Join at most three names."""
    known = list(names)
    return _listed(known[:NAMED], max(0, len(known) - NAMED))


def _name_iterations(numbers: Sequence[int]) -> str:
    """Return ``Iteration 3``, or ``Iterations 3, 4 and 7``."""
    if len(numbers) == 1:
        return f"Iteration {numbers[0]}"
    return f"Iterations {_list_names([str(number) for number in numbers])}"


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
    # The observation says how much of the limit was used.
    made = [one for one in state.oversight.interventions if one.about != "budget"]
    reasons = dict.fromkeys(one.reason for one in made)
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
    yield f"Start with the tests that failed at the end: {gate.failing_words}."


def _fixed(state: RunState, steps: Sequence[Step]) -> Iterator[str]:
    """Name the tests fixed for good by the largest proven gain, and the files it changed."""
    for gain in gains_of(steps):
        names, files = fixed_in(state, gain.span), _in_files(gain.span)
        if names and files:
            named = _list_names([one_line(name) for name in names])
            has = "have" if names[1:] else "has"
            yield f"{named} {has} passed since iteration {gain.span.number}{files}."
            return


def _joined(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text if text[-1:] in ".!?:…" else f"{text}."
