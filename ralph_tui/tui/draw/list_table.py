"""A list with a selected row; however long it is, only the rows in view are drawn.

Rule: it draws what its kind says of a row, and reads nothing.
"""

from dataclasses import dataclass

from textual import events
from textual.message import Message

from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.draw.spans import Line, cells, clip_line, wrap

MARK = 2
"""Cells of the sign of the selected row."""
WHEEL = 3
"""Rows that a turn of the wheel moves."""


class ListTable(LineWidget):
    """See above; its titles stand in the first row."""

    @dataclass
    class Chosen(Message):
        """A row was clicked twice."""

    class Moved(Message):
        """Another row is selected, or others are in view."""

    def __init__(self, name: str) -> None:
        super().__init__(id=name)
        self.top = 0
        self.sentence = ""
        """What stands in the place of the rows; empty: they do."""

    # what a kind of it says ---------------------------------------------------------------------

    @property
    def count(self) -> int:
        """How many rows there are."""
        raise NotImplementedError

    @property
    def selected(self) -> int:
        """Which one is."""
        raise NotImplementedError

    def select(self, index: int) -> None:
        """Select this one."""
        raise NotImplementedError

    def titles(self, width: int) -> Line:
        """What stands above the rows."""
        raise NotImplementedError

    def row(self, index: int, width: int) -> Line:
        """One of them."""
        raise NotImplementedError

    # what all of them share ---------------------------------------------------------------------

    @property
    def page(self) -> int:
        """How many rows are in view."""
        return max(1, self.size.height - 1)

    def follow(self, sentence: str = "") -> None:
        """Show how it stands now, or a sentence in place of it."""
        self.sentence = sentence
        self._keep_in_view()
        self.repaint()

    def move(self, by: int) -> bool:
        """Select another row; whether there is one that way."""
        before = self.selected
        self.select(max(0, min(before + by, self.count - 1)))
        self._keep_in_view()
        self.post_message(self.Moved())  # who hears it follows
        return self.selected != before

    def _keep_in_view(self) -> None:
        self.top = max(min(self.top, self.selected), self.selected - self.page + 1)
        self.top = max(0, min(self.top, self.count - self.page))

    def line(self, y: int, width: int) -> Line:
        """See `LineWidget`."""
        if self.sentence:
            rows = wrap(self.sentence, max(1, width - 2 * MARK), max(1, self.size.height))
            return [("  ", ""), (rows[y - 1], "text")] if 0 < y <= len(rows) else []
        room = width - MARK - 1
        if y == 0:
            return [(" " * MARK, ""), *self.titles(room)]
        index = self.top + y - 1
        if index >= self.count:
            return []
        here = index == self.selected
        spans = [("▸ " if here else "  ", "accent"), *clip_line(self.row(index, room), room)]
        if here:
            spans = [(text, f"{style} cursor".strip()) for text, style in spans]
            spans.append((" " * max(0, width - cells(spans)), "cursor"))
        return spans

    def on_resize(self, event: events.Resize) -> None:
        """Others come into view."""
        self._keep_in_view()
        self.post_message(self.Moved())

    def on_click(self, event: events.Click) -> None:
        """Select what was clicked; a second click opens it."""
        index = self.top + event.y - 1
        if event.y and index < self.count and not self.sentence:
            self.move(index - self.selected)
            if event.chain > 1:
                self.post_message(self.Chosen())

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel selects."""
        event.stop()
        self.move(WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel selects."""
        event.stop()
        self.move(-WHEEL)
