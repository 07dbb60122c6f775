"""Behind the agent's work: the assessment of an iteration, the strategy of the next, the context.

Rule: a window of which nothing is known is said to be so. It reads the handoffs that the journal
names.
"""

from datetime import datetime
from typing import ClassVar

from ralph_tui.analysis.context import handoffs_of
from ralph_tui.events import HandoffWritten
from ralph_tui.ports.source import Source
from ralph_tui.state import RunState
from ralph_tui.tui.draw.spans import Line, cells
from ralph_tui.tui.panes.assessment import assessment_rows, model_help
from ralph_tui.tui.panes.context import (
    context_rows,
    context_totals,
    handoff_rows,
    past_context_rows,
)
from ralph_tui.tui.panes.pane import IterationPane
from ralph_tui.tui.panes.recorded_text import read_inside

LEAST_BARS = 3
"""Iterations whose bars are drawn where the pane is not zoomed, however little room there is."""
SCARCE = 12
"""Rows below which what explains itself elsewhere is left out."""
PRESENT_ROWS = 8
"""What is said of the running session takes about so many."""
UNSAVED = ("", "It could not be kept in a file; the next prompt told what stands here.")


class DetailsPane(IterationPane):
    """Assessment, strategy, context window, handoffs."""

    key: ClassVar[str] = "details"

    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source = source
        self._read: dict[int, tuple[str, str]] = {}
        """By number of the event: text, and why there is none."""

    def stamp(self, state: RunState, now: datetime) -> object:
        spans = state.timeline.spans
        return (
            *(state.intelligence.revision, state.foreign.revision, state.context.revision),
            spans[-1].number if spans else None,
            state.run.session_running,
        )

    def changed(self) -> None:
        """See `Pane`; an edited handoff is another event, and is read again."""
        self._read = {
            handoff.seq: self._read.get(handoff.seq) or self._text(handoff)
            for handoff in self._handoffs()
            if handoff.path
        }

    def _text(self, handoff: HandoffWritten) -> tuple[str, str]:
        """What it said then: an edit that came later has set aside what had been made."""
        folder = self._source.folder
        if not handoff.edited_by:
            made, none = read_inside(folder, as_made(handoff.path), "handoff")
            if not none:
                return made, ""
        return read_inside(folder, handoff.path, "handoff")

    def _handoffs(self) -> list[HandoffWritten]:
        """The newest first: those of the iteration that is looked at, or the last of the run."""
        if self.chosen is None:
            return self.state.context.handoffs[-1:]
        return handoffs_of(self.state, self.span)[::-1]

    def build(self, width: int, height: int) -> list[Line]:
        state, past = self.state, self.chosen is not None
        rows: list[Line] = [self.past()] if past else []
        rows += assessment_rows(state, self.span, width, chosen=past)
        rows += [[], [("context window", "strong")]]
        if past:
            rows += past_context_rows(state, self.span, width)
        else:
            most = None if self.zoomed else max(LEAST_BARS, height - PRESENT_ROWS)
            rows += context_rows(state, width, scarce=height < SCARCE, most=most)
        for handoff in self._handoffs():
            rows += [[], *handoff_rows(state, handoff, self._read.get(handoff.seq, UNSAVED), width)]
        return rows

    def subtitle(self, width: int) -> Line:
        totals, asked = context_totals(self.state), model_help(self.state)
        both: Line = [*totals, *([(" · ", "dim")] if totals and asked else []), *asked]
        return both if cells(both) <= width else totals or asked


def as_made(path: str) -> str:
    """Where a handoff is kept as it was made, once it is edited."""
    return f"{path.removesuffix('.md')}-as-made.md"
