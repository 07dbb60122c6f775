"""The plan of an attempt: lessons from earlier attempts, and the expected number of iterations.

A plan cites its sources; without any, it says only what ends the run.
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

MAX_STEPS: Final = 6
"""Maximum lessons from earlier attempts in a plan; the newest are used."""
MAX_RELATED: Final = 5
LONGEST: Final = 600
"""Maximum characters of a step."""
PLAIN: Final = "Work in iterations, each measured, until {}."
"""The sentence in every plan."""
SAYS_NOTHING: Final = re.compile(re.escape(PLAIN).replace(r"\{\}", "[^.]*"))
"""Pattern of an approach that says nothing else."""
RELATED_STEPS: Final = 2
"""Maximum lessons from other tasks, the most similar first."""


def plan(
    until: str,
    task_type: str,
    reflections: Sequence[PastReflection],
    learnings: Sequence[Learning],
    related: Sequence[RelatedTask],
    needed: Sequence[int] = (),
) -> PlanMade:
    """Make the plan of an attempt.

    `until` says what ends the run. `reflections` are those on earlier attempts, oldest first.
    `needed` lists the iterations of the earlier attempts that completed.
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


def _approach(until: str, own: Sequence[PastReflection], related: Sequence[RelatedTask]) -> str:
    parts = [PLAIN.format(until)]
    if own:
        attempts = len({said.cite.partition(" ")[0] for said in own})
        parts.append(f"The steps build on {count(attempts, 'earlier attempt')} at this task.")
    if related:
        parts.append(f"{count(len(related), 'task')} like this one came before.")
    return " ".join(parts)


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
