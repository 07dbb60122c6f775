"""Findings of a run: learnings from earlier iterations, by the agent or a second opinion."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from ralph_tui.layers.memory.extraction import is_empty
from ralph_tui.layers.memory.orders import gives_orders
from ralph_tui.layers.memory.similarity import is_same_text
from ralph_tui.state import IterationSpan, RunState

MOST: Final = 8
"""Maximum number of findings in a prompt."""


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
        for text, mark in _learned(state, span):
            line = " ".join(text.split())
            if is_empty(line) or gives_orders(line) or any(is_same_text(line, x) for x in said):
                continue
            said.append(line)
            found.append(Finding(span.number, f"{line}{mark}"))
            if len(found) == MOST:
                return found
    return found


def _learned(state: RunState, span: IterationSpan) -> Iterator[tuple[str, str]]:
    """Yield an iteration's learnings, newest first, each with its mark."""
    opinion = state.intelligence.refined.get(span.number)
    for text in reversed(opinion.learnings if opinion else []):
        yield text, " (a model's opinion)"
    for report in reversed(span.reports):
        for text in reversed(report.learnings):
            yield text, ""
