"""The plan of an attempt: its task, what fails at the start, and lessons from earlier attempts.

The lessons are its first steps, each with its source. Groups of failing tests follow.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from ralph_tui.events import GateFinished, PlanMade
from ralph_tui.events.memory import Learning
from ralph_tui.layers.memory.content import iterations_of, samples_of
from ralph_tui.layers.memory.past import PastReflection, RelatedTask
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import clip, one_line

MAX_STEPS: Final = 6
"""Maximum lessons from earlier attempts in a plan; the newest are used."""
MAX_RELATED: Final = 5
LONGEST: Final = 600
"""Maximum characters of a step."""
PLAIN: Final = "Work in iterations, each measured, until {}."
"""The first sentence of every plan in older journals."""
SAYS_NOTHING: Final = re.compile(re.escape(PLAIN).replace(r"\{\}", "[^.]*"))
"""Pattern of an approach that says nothing else."""
KINDS: Final = {
    "test-fix": "Fix failing tests",
    "bug-fix": "Fix a bug",
    "refactor": "Refactor without a change in behavior",
    "migration": "Migrate the code",
    "documentation": "Write documentation",
    "performance": "Improve performance",
    "feature": "Add a feature",
}
"""What to do, by task type."""
TAUGHT: Final = 240
"""Maximum characters of a lesson in the approach."""
RELATED_STEPS: Final = 2
"""Maximum lessons from other tasks, the most similar first."""


def plan(
    until: str,
    task_type: str,
    reflections: Sequence[PastReflection],
    learnings: Sequence[Learning],
    related: Sequence[RelatedTask],
    needed: Sequence[int] = (),
    gate: GateFinished | None = None,
) -> PlanMade:
    """Make the plan of an attempt.

    `until` says what ends the run. `reflections` are those on earlier attempts, oldest first.
    `needed` lists the iterations of the earlier attempts that completed. `gate` is the completion
    command's result before iteration 1.
    """
    own = _newest(reflections)
    others = _others(related, known={_step(said) for said in own})
    lessons = [_step(said) for said in (*own, *others)]
    expected, samples = _expected(learnings, task_type, related, needed)
    return PlanMade(
        approach=_approach(until, task_type, own, related, gate),
        steps=[*lessons, *_groups(gate)][: max(MAX_STEPS, len(lessons))],
        estimated_iterations=expected,
        estimate_from=samples,
        cites=[said.cite for said in (*own, *others)],
        related=[task.task for task in related[:MAX_RELATED]],
    )


def _newest(reflections: Sequence[PastReflection]) -> list[PastReflection]:
    """Return the newest lessons, each once, in the order in which they were written."""
    newest: dict[str, PastReflection] = {}
    for said in reversed(reflections):
        if step := _step(said):
            newest.setdefault(step, said)
    return list(reversed(list(newest.values())[:MAX_STEPS]))


def _others(related: Sequence[RelatedTask], known: set[str]) -> list[PastReflection]:
    """Return the last lesson of each similar task, unless it is `known`."""
    last = (said for task in related for said in task.reflections[-1:])
    new = {step: said for said in last if (step := _step(said)) and step not in known}
    return list(new.values())[:RELATED_STEPS]


def _step(said: PastReflection) -> str:
    """Return the lesson on one line, because a record file may contain anything."""
    return clip(" ".join(" ".join([said.learning, *said.action_items]).split()), LONGEST)


def _approach(
    until: str,
    task_type: str,
    own: Sequence[PastReflection],
    related: Sequence[RelatedTask],
    gate: GateFinished | None,
) -> str:
    kind = KINDS.get(task_type, "Work on the task")
    parts = [f"{kind} until {until}.", _start(gate)]
    if own:
        attempts = len({said.cite.partition(" ")[0] for said in own})
        parts.append(f"{count(attempts, 'earlier attempt')} taught: {clip(_step(own[-1]), TAUGHT)}")
    if related:
        parts.append(f"{count(len(related), 'task')} like this one came before.")
    return " ".join(part for part in parts if part)


def _start(gate: GateFinished | None) -> str:
    """Say what fails before iteration 1; empty if nothing does or it is not known."""
    if gate is None or gate.ok:
        return ""
    if gate.broken:
        return f"At the start, the build is broken: {gate.broken}."
    return f"At the start, these fail: {gate.failing_words}." if gate.failing else ""


def _groups(gate: GateFinished | None) -> Iterator[str]:
    """Yield a step for the broken build, or for each file of failing tests, the largest first."""
    if gate is None or gate.ok:
        return
    if gate.broken:
        yield f"Repair the build: {gate.broken}."
        return
    files = Counter(name.partition("::")[0] for name in gate.failing if "::" in name)
    for file, failing in sorted(files.items(), key=lambda each: (-each[1], each[0])):
        yield f"Make the {count(failing, 'failing test')} of {one_line(file)} pass."


def _expected(
    learnings: Sequence[Learning],
    task_type: str,
    related: Sequence[RelatedTask],
    needed: Sequence[int],
) -> tuple[int | None, int]:
    """Return the expected iterations and the number of runs behind them.

    Completed runs of this task and of similar ones come first, then estimates for its task type. Of
    several estimates, the one with the most samples wins.
    """
    alike = [*needed, *(number for task in related for number in task.iterations)]
    if alike:
        return _whole(sum(alike) / len(alike)), len(alike)
    of_kind = [
        (samples_of(learning.content), expected)
        for learning in learnings
        if learning.type == "estimate"
        and learning.task_type == task_type
        and not learning.muted
        and (expected := iterations_of(learning.content)) is not None
    ]
    if not of_kind:
        return None, 0
    samples, iterations = max(of_kind)
    return _whole(iterations), samples


def _whole(iterations: float) -> int:
    return max(1, math.floor(iterations + 0.5))
