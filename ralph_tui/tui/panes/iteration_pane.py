"""A pane of one iteration: the one that goes on, or an earlier one that is looked at."""

from ralph_tui.state import IterationSpan
from ralph_tui.tui.draw.spans import Line
from ralph_tui.tui.panes.pane import LinesPane


class IterationPane(LinesPane):
    """What it shows is told of `span`."""

    def __init__(self) -> None:
        super().__init__()
        self.chosen: int | None = None
        """The earlier iteration that is looked at; None: the latest one."""

    def look_at(self, iteration: int | None) -> None:
        """Show this iteration, or again the latest one."""
        if iteration != self.chosen:
            self.chosen, self.top = iteration, 0
            self.changed()
            self.redraw()

    @property
    def span(self) -> IterationSpan | None:
        """The iteration that is shown; 0 is the baseline."""
        spans = self.state.timeline.spans
        if self.chosen is None:
            return spans[-1] if spans else None
        return next((span for span in reversed(spans) if span.number == self.chosen), None)

    def past(self) -> Line:
        """A row that says that this is not the present; nothing where it is."""
        if self.chosen is None or self.span is None:
            return []
        number = self.span.number
        place = f"iteration {number}" if number else "before iteration 1"
        return [(f"{place}  ", "warn strong"), ("< > other iterations, esc the latest", "dim")]
