"""Rows of styled text that scroll if they do not fit, and the base of dialogs for reading.

Rule: a dialog lays out its rows in `lay`, which runs first and after each resize.
"""

from collections.abc import Callable
from time import monotonic
from typing import ClassVar, TypeVar

from textual import events
from textual.binding import Binding, BindingType

from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.draw.spans import Line, cells, clip_line
from ralph_tui.tui.modals.modal import Modal


class ScrollText(LineWidget):
    """Rows of text, with a scroll bar in the last two cells."""

    EDGE = 2
    """Cells to the right of the text, for the scroll bar."""

    def __init__(self, name: str) -> None:
        super().__init__(id=name)
        self.rows: list[Line] = []
        self.top = 0
        self._height = 0
        """The height passed to `show`; the layout applies it later."""

    def show(self, rows: list[Line], height: int) -> None:
        """Show these rows in a view of this height."""
        self.rows, self._height = rows, max(1, height)
        self.styles.height = max(1, height)
        self.display = height > 0
        self._roll_to(self.top, height)

    @property
    def hidden(self) -> int:
        """Number of rows out of view."""
        return max(0, len(self.rows) - self._height)

    def roll(self, by: int) -> bool:
        """Move the view, stopping at either end; return True if it moved."""
        before = self.top
        self._roll_to(self.top + by, self.size.height)
        return self.top != before

    def page(self, by: int) -> bool:
        """Move the view by screenfuls, overlapping by a row; return True if it moved."""
        return self.roll(by * max(1, self.size.height - 1))

    def _roll_to(self, top: int, height: int) -> None:
        self.top = max(0, min(top, len(self.rows) - height))
        self.repaint()

    def line(self, y: int, width: int) -> Line:
        index, height = self.top + y, self.size.height
        room = width - self.EDGE
        spans = clip_line(self.rows[index], room) if index < len(self.rows) else []
        count = len(self.rows)
        if count <= height:
            return spans
        first = self.top * height // count
        last = max(first, (self.top + height) * height // count - 1)
        thumb = ("┃", "dim") if first <= y <= last else (" ", "")
        return [*spans, (" " * (room - cells(spans) + 1), ""), thumb]

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.roll(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.roll(-3)


T = TypeVar("T")


class ReadDialog(Modal[T | None]):
    """A dialog for reading, which scrolls its `text`; closing it returns None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter", "close", show=False),
        Binding("down,j", "roll(1)", show=False),
        Binding("up,k", "roll(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("home", "roll(-100000)", show=False),
        Binding("end", "roll(100000)", show=False),
    ]

    def __init__(self, name: str, clock: Callable[[], float] = monotonic) -> None:
        """`name` is the id of the text."""
        super().__init__(clock)
        self.text = ScrollText(name)

    def lay(self) -> None:
        """Lay out the rows for the current size."""
        raise NotImplementedError

    def on_resize(self, event: events.Resize) -> None:
        self.lay()

    def action_roll(self, by: int) -> None:
        self.report_end(self.text.roll(by))

    def action_page(self, by: int) -> None:
        self.report_end(self.text.page(by))

    def action_close(self) -> None:
        self.dismiss(None)
