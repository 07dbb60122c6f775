"""The plan of an attempt: failing tests, lessons from earlier attempts, and expected iterations.

A plan cites its sources.
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
from ralph_tui.layers.memory.task_types import GENERAL
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import clip, one_line

MAX_STEPS: Final = 6
"""Maximum number of lessons from earlier attempts in a plan; the newest are used."""
MAX_RELATED: Final = 5
LONGEST: Final = 600
"""Maximum length of a step, in characters."""
NAMED: Final = 3
"""Maximum number of groups of failing tests that get a step."""
SAYS_NOTHING: Final = re.compile(r"Work in iterations, each measured, until [^.]*\.")
"""Pattern of an approach without content, from older journals."""
RELATED_STEPS: Final = 2
"""Maximum number of lessons from other tasks, most similar first."""


def plan(
    until: str,
    task_type: str,
    reflections: Sequence[PastReflection],
    learnings: Sequence[Learning],
    related: Sequence[RelatedTask],
    needed: Sequence[int] = (),
    start: GateFinished | None = None,
) -> PlanMade:
    """Make the plan of an attempt.

    `until` says what ends the run. `reflections` are those on earlier attempts, oldest first.
    `needed`: iterations of each completed earlier attempt. `start`: the result of the completion
    command before iteration 1.
    """
    own = _newest(reflections)
    others = _others(related, known={_step(said) for said in own})
    expected, samples = _expected(learnings, task_type, related, needed)
    return PlanMade(
        approach=_approach(until, task_type, own, related, start),
        steps=[*(_step(said) for said in (*own, *others)), *_failing_groups(start)],
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
    start: GateFinished | None,
) -> str:
    kind = "" if task_type == GENERAL else f"Kind of task: {task_type}. "
    parts = [f"{kind}Work until {until}.", *_at_start(start)]
    if own:
        attempts = len({said.cite.partition(" ")[0] for said in own})
        parts.append(f"The steps build on {count(attempts, 'earlier attempt')} at this task.")
    if related:
        parts.append(f"{count(len(related), 'similar task')} came before.")
    return " ".join(parts)


def _at_start(start: GateFinished | None) -> Iterator[str]:
    """Say what failed before iteration 1; nothing if the command passed or reported no tests."""
    if start is None or start.ok:
        return
    if start.broken:
        yield f"The build is broken at the start: {start.broken}."
    elif start.failing:
        yield f"Failing at the start: {start.failing_words}."


def _failing_groups(start: GateFinished | None) -> list[str]:
    """Return a step for each file or class of failing tests, the largest first."""
    if start is None or start.ok or start.broken:
        return []
    groups = Counter(group for name in start.failing if (group := group_of(name)))
    return [
        f"Make the tests of {group} pass: {count(number, 'test')} failed at the start."
        for group, number in groups.most_common(NAMED)
    ]


def group_of(name: str) -> str:
    """Return the file or class of a test; empty if its name has none."""
    short, bracket, inner = name.removesuffix(")").partition(" (")
    if bracket and name.endswith(")"):  # unittest: ``test_x (module.Class.test_x)``
        return one_line(inner.removesuffix(f".{short}"))
    for mark in ("::", " > ", "."):
        group, found, _ = name.rpartition(mark)
        if found:
            return one_line(group)
    return ""


def _expected(
    learnings: Sequence[Learning],
    task_type: str,
    related: Sequence[RelatedTask],
    needed: Sequence[int],
) -> tuple[int | None, int]:
    """Return the expected iterations and the number of runs behind them.

    Completed runs of this task and of similar ones come first, then estimates for its task type.
    The estimate with the most samples wins.
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
