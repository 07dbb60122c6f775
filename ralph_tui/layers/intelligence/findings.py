"""What a run has found out: the learnings that its agent reported in earlier iterations."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from ralph_tui.layers.memory.extraction import is_empty
from ralph_tui.layers.memory.orders import gives_orders
from ralph_tui.layers.memory.similarity import says_same
from ralph_tui.state import RunState

MOST: Final = 8
"""Findings that a prompt names."""


class Finding(NamedTuple):
    """One learning, and the iteration that reported it last."""

    iteration: int
    text: str


def found_out(state: RunState, before: int, known: Iterable[str] = ()) -> list[Finding]:
    """The findings from before an iteration, newest first, without repeats.

    Leaves out what reads like an order to the agent, and what repeats a text in `known`.
    """
    said = list(known)
    found: list[Finding] = []
    for span in reversed(state.timeline.spans):
        if not 0 < span.number < before:
            continue
        for report in reversed(span.reports):
            for text in reversed(report.learnings):
                line = " ".join(text.split())
                if is_empty(line) or gives_orders(line) or any(says_same(line, x) for x in said):
                    continue
                said.append(line)
                found.append(Finding(span.number, line))
                if len(found) == MOST:
                    return found
    return found
