"""What of the knowledge a prompt carries: one short line for each learning, with what it is.

Rule: nothing in a learning can pose as ours. None leaves its line or opens anything, and the prompt
puts the lines into a fence that says what they are.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ralph_tui.events import PlanMade
from ralph_tui.events.memory import LearningType, Retrieved
from ralph_tui.layers.memory.orders import gives_orders
from ralph_tui.text.sanitize import clip, plain

LONGEST: Final = 400
"""Characters of one learning."""
_LABELS: Final[dict[LearningType, str]] = {
    "strategy": "worked before",
    "antipattern": "went wrong before",
    "estimate": "estimate",
    "convention": "convention here",
}
_SPACE: Final = re.compile(r"\s+")
_TAG: Final = re.compile(r"<(?=[/!?\w])")
_TICKS: Final = re.compile(r"`{3,}|~{3,}")


def knowledge_lines(plan: PlanMade | None, learnings: Sequence[Retrieved]) -> list[str]:
    """A line for each lesson and learning; none where earlier runs have nothing to say."""
    return [*_lessons(plan), *(learning_line(learning) for learning in learnings)]


def _lessons(plan: PlanMade | None) -> Iterator[str]:
    """What the plan takes up of earlier attempts.

    A lesson may quote what an agent reported: one that gives orders stays in the plan, unsent.
    """
    if plan is not None:
        for cite, step in zip(plan.cites, plan.steps, strict=False):
            if not gives_orders(step):
                yield f"- (lesson of {_quoted(cite)}) {_quoted(step)}"


def learning_line(learning: Retrieved) -> str:
    """A learning as a prompt says it."""
    label = _LABELS[learning.type]
    if learning.again:
        label += ", unproven again"
    elif learning.standing == "staged":
        label += ", unproven"
    if learning.contradicts:
        label += ", contradicts another note: the newer comes first"
    return f"- ({label}) {_quoted(learning.text)}"


def _quoted(text: str) -> str:
    """On one line, without what opens or closes anything: a fence, a tag."""
    line = _SPACE.sub(" ", plain(text)).strip()
    line = _TAG.sub("‹", _TICKS.sub(lambda found: found[0][:1], line))
    return clip(line, LONGEST)
