"""Findings of a run: learnings that its agent reported in earlier iterations."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from ralph_tui.layers.memory.extraction import is_empty
from ralph_tui.layers.memory.orders import gives_orders
from ralph_tui.layers.memory.similarity import is_same_text
from ralph_tui.state import RunState

MOST: Final = 8
"""Maximum findings in a prompt."""


class Finding(NamedTuple):
    """A learning, and the iteration that last reported it."""

    iteration: int
    text: str


def found_out(state: RunState, before: int, known: Iterable[str] = ()) -> list[Finding]:
    """Return the findings from before an iteration, newest first, without repetitions.

    Findings that read like an order to the agent or repeat a text in `known` are omitted.
    """
    said = list(known)
    found: list[Finding] = []
    for span in reversed(state.timeline.spans):
        if not 0 < span.number < before:
            continue
        for report in reversed(span.reports):
            for text in reversed(report.learnings):
                line = " ".join(text.split())
                if is_empty(line) or gives_orders(line) or any(is_same_text(line, x) for x in said):
                    continue
                said.append(line)
                found.append(Finding(span.number, line))
                if len(found) == MOST:
                    return found
    return found
