"""The first frame of home, while the rest of it is loaded. Rule: it knows nothing of records."""

from textual.app import ComposeResult

from ralph_tui.tui.base_screen import FirstFrame
from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.draw.spans import Line, clickable, spread


class Row(LineWidget):
    """One row, or an empty list."""

    def __init__(self, name: str, left: Line, right: Line) -> None:
        super().__init__(id=name)
        self._parts = (left, right)

    def line(self, y: int, width: int) -> Line:
        """See `LineWidget`."""
        return spread(*self._parts, width) if y == 0 else []


class HomeOpening(FirstFrame):
    """The bars of home around an empty list."""

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield Row("home-head", [(" ralph-tui", "accent strong")], [("looking for runs… ", "dim")])
        yield Row("runs", [], [])
        leave = clickable([("q", "key"), (" leave", "text")], "q")
        yield Row("home-foot", [(" ", ""), *leave], [])
