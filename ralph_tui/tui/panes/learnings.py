"""What the loop has learned. Nothing is kept in this version, and the pane says so."""

from datetime import datetime
from typing import ClassVar

from ralph_tui.state import RunState
from ralph_tui.tui.draw.spans import Line, wrap
from ralph_tui.tui.panes.pane import LinesPane


class LearningsPane(LinesPane):
    """Says kindly that there are none yet."""

    key: ClassVar[str] = "learnings"
    heading: ClassVar[str] = "learnings"
    digit: ClassVar[int] = 5

    def stamp(self, state: RunState, now: datetime) -> object:
        """See `Pane`."""
        return 0

    def build(self, width: int, height: int) -> list[Line]:
        """See `LinesPane`."""
        text = "What earlier runs have taught will stand here, with why it was chosen."
        rows: list[Line] = [[("none yet", "text")]]
        return rows + [[(piece, "dim")] for piece in wrap(text, width, 4)]
