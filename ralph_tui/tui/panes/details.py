"""Assessment of an iteration, strategy for the next one, context window, and handoffs.

Rule: an unknown context window is reported as unknown. The pane reads the handoff files named in
the journal.
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

MIN_BARS = 3
"""Minimum number of iterations with a bar in an unzoomed pane, even when space is short."""
SCARCE = 12
"""Minimum height in rows for explanations that are also available elsewhere."""
PRESENT_ROWS = 8
"""Approximate number of rows that the running session takes."""
UNSAVED = ("", "It could not be saved to a file; the next prompt contained these facts.")


class DetailsPane(IterationPane):
    """Assessment, strategy, context window, and handoffs."""

    key: ClassVar[str] = "details"

    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source = source
        self._read: dict[int, tuple[str, str]] = {}
        """By event number: the text, and the reason if the text is missing."""

    def stamp(self, state: RunState, now: datetime) -> object:
        spans = state.timeline.spans
        return (
            *(state.intelligence.revision, state.foreign.revision, state.context.revision),
            spans[-1].number if spans else None,
            state.run.session_running,
        )

    def changed(self) -> None:
        """Reload handoffs; an edited handoff is a new event."""
        self._read = {
            handoff.seq: self._read.get(handoff.seq) or self._text(handoff)
            for handoff in self._handoffs()
            if handoff.path
        }

    def _text(self, handoff: HandoffWritten) -> tuple[str, str]:
        """Read the handoff's original text, which a later edit moves to another file."""
        folder = self._source.folder
        if not handoff.edited_by:
            made, none = read_inside(folder, original_path(handoff.path), "handoff")
            if not none:
                return made, ""
        return read_inside(folder, handoff.path, "handoff")

    def _handoffs(self) -> list[HandoffWritten]:
        """Return the chosen iteration's handoffs, newest first, or the run's last handoff."""
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
            most = None if self.zoomed else max(MIN_BARS, height - PRESENT_ROWS)
            rows += context_rows(state, width, scarce=height < SCARCE, most=most)
        for handoff in self._handoffs():
            rows += [[], *handoff_rows(state, handoff, self._read.get(handoff.seq, UNSAVED), width)]
        return rows

    def subtitle(self, width: int) -> Line:
        totals, asked = context_totals(self.state), model_help(self.state)
        both: Line = [*totals, *([(" · ", "dim")] if totals and asked else []), *asked]
        return both if cells(both) <= width else totals or asked


def original_path(path: str) -> str:
    """Return the path of a handoff's original text, which an edit preserves."""
    return f"{path.removesuffix('.md')}-as-made.md"
