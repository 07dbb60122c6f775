"""The plan of an attempt: what earlier ones teach about it, and how long it may take.

Rule: a plan cites what it rests on; where nothing is known it says so little as that.
"""

import math
import re
from collections.abc import Sequence
from typing import Final

from ralph_tui.events import PlanMade
from ralph_tui.events.memory import Learning
from ralph_tui.layers.memory.content import iterations_of, samples_of
from ralph_tui.layers.memory.past import PastReflection, RelatedTask
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import clip

MOST_STEPS: Final = 6
"""Lessons of earlier attempts that a plan takes up, the newest."""
MOST_RELATED: Final = 5
LONGEST: Final = 600
"""Characters of a step."""
PLAIN: Final = "Work in iterations, each measured, until {}."
"""What every plan says."""
SAYS_NOTHING: Final = re.compile(re.escape(PLAIN).replace(r"\{\}", "[^.]*"))
"""An approach that says nothing more."""
RELATED_STEPS: Final = 2
"""Lessons of other tasks, the most alike first."""


def plan(
    until: str,
    task_type: str,
    reflections: Sequence[PastReflection],
    learnings: Sequence[Learning],
    related: Sequence[RelatedTask],
    needed: Sequence[int] = (),
) -> PlanMade:
    """`reflections` are those of earlier attempts, oldest first; `until`: what ends the run.

    `needed`: the iterations of those attempts that completed.
    """
    own = _newest(reflections)
    others = _others(related, known={_step(said) for said in own})
    expected, samples = _expected(learnings, task_type, related, needed)
    return PlanMade(
        approach=_approach(until, own, related),
        steps=[_step(said) for said in (*own, *others)],
        estimated_iterations=expected,
        estimate_from=samples,
        cites=[said.cite for said in (*own, *others)],
        related=[task.task for task in related[:MOST_RELATED]],
    )


def _newest(reflections: Sequence[PastReflection]) -> list[PastReflection]:
    """The newest lessons, each once, in the order in which they were written."""
    newest: dict[str, PastReflection] = {}
    for said in reversed(reflections):
        if step := _step(said):
            newest.setdefault(step, said)
    return list(reversed(list(newest.values())[:MOST_STEPS]))


def _others(related: Sequence[RelatedTask], known: set[str]) -> list[PastReflection]:
    """The last lesson of each task like this one, unless it is `known`."""
    last = (said for task in related for said in task.reflections[-1:])
    new = {step: said for said in last if (step := _step(said)) and step not in known}
    return list(new.values())[:RELATED_STEPS]


def _step(said: PastReflection) -> str:
    """On one line: what a file of records holds may be anything."""
    return clip(" ".join(" ".join([said.learning, *said.action_items]).split()), LONGEST)


def _approach(until: str, own: Sequence[PastReflection], related: Sequence[RelatedTask]) -> str:
    parts = [PLAIN.format(until)]
    if own:
        attempts = len({said.cite.partition(" ")[0] for said in own})
        parts.append(
            f"The steps take up what {count(attempts, 'earlier attempt')} of this task taught."
        )
    if related:
        parts.append(f"{count(len(related), 'task')} like this one came before it.")
    return " ".join(parts)


def _expected(
    learnings: Sequence[Learning],
    task_type: str,
    related: Sequence[RelatedTask],
    needed: Sequence[int],
) -> tuple[int | None, int]:
    """Iterations, and how many runs say so: of this task and those like it, else of its kind.

    Of several estimates the one counts that most runs stand behind.
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
