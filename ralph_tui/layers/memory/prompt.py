"""Format learnings for a prompt: one short, labelled line for each.

The agent cannot mistake a learning for part of the prompt: its text stays on one line and cannot
start any markup, and the prompt puts the lines into a labelled fence.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ralph_tui.events import PlanMade
from ralph_tui.events.memory import LearningType, Retrieved
from ralph_tui.layers.memory.orders import gives_orders
from ralph_tui.text.sanitize import clip, plain

LONGEST: Final = 400
"""Maximum length of one learning, in characters."""
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
    """Return a line for each lesson and learning; empty if earlier runs left none."""
    return [*_lessons(plan), *(learning_line(learning) for learning in learnings)]


def _lessons(plan: PlanMade | None) -> Iterator[str]:
    """Yield the plan's lessons from earlier attempts.

    A lesson may quote an agent's report; one that gives orders stays in the plan but is not sent.
    """
    if plan is not None:
        for cite, step in zip(plan.cites, plan.steps, strict=False):
            if not gives_orders(step):
                yield f"- (lesson from {_quoted(cite)}) {_quoted(step)}"


def learning_line(learning: Retrieved) -> str:
    """Format a learning for a prompt."""
    label = _LABELS[learning.type]
    if learning.again:
        label += ", unproven again"
    elif learning.standing == "staged":
        label += ", unproven"
    if learning.contradicts:
        label += ", contradicts another note; the newer one comes first"
    return f"- ({label}) {_quoted(learning.text)}"


def _quoted(text: str) -> str:
    """Return the text on one line, without anything that opens or closes a fence or tag."""
    line = _SPACE.sub(" ", plain(text)).strip()
    line = _TAG.sub("‹", _TICKS.sub(lambda found: found[0][:1], line))
    return clip(line, LONGEST)
