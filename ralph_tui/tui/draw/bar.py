"""A row that stays as it is, or an empty list: what a first frame is made of."""

from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.draw.spans import Line, spread


class Bar(LineWidget):
    """Something at either edge of its last row."""

    def __init__(self, name: str, left: Line, right: Line) -> None:
        super().__init__(id=name)
        self._parts = (left, right)

    def line(self, y: int, width: int) -> Line:
        """See `LineWidget`."""
        return spread(*self._parts, width) if y == self.size.height - 1 else []
