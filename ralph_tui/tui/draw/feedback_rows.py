"""Rows with content set from outside, and a screen's last rows: key feedback above key hints."""

from collections.abc import Callable, Sequence

from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.draw.spans import Line, clip, clip_line, flat, spread

NOTICE_S = 5.0
"""How long feedback stays visible."""
LOW = 15
"""Minimum terminal height in rows at which messages have a row of their own."""


def bottom_line(y: int, height: int, message: str, keys: Callable[[int], Line], width: int) -> Line:
    """Draw one of the last rows: the message above, and the key hints below, which it never covers.

    If there is only one row, the message replaces the hints while it is shown.
    """
    if y >= height - 1 and (height > 1 or not message):
        return keys(width)
    return [(" ", ""), (clip(message, width - 2), "accent")] if message and y == 0 else []


class Rows(LineWidget):
    """Rows whose content is set with `update`."""

    def __init__(self, name: str) -> None:
        super().__init__(id=name)
        self._shown_rows: Sequence[tuple[Line, Line]] | None = None

    def update(self, *rows: tuple[Line, Line]) -> None:
        """Show these rows, each with a left and a right part; if there are none, take no space."""
        if rows != self._shown_rows:
            self._shown_rows = rows
            self.styles.height = len(rows)
            self.display = bool(rows)
            self.repaint()

    def line(self, y: int, width: int) -> Line:
        left, right = (self._shown_rows or ())[y] if y < len(self._shown_rows or ()) else ([], [])
        return clip_line(
            spread([(" ", ""), *left], [*right, (" ", "")] if right else [], width), width
        )


class FeedbackRow(LineWidget):
    """A screen's last rows: feedback for a key, and the current key hints."""

    def __init__(self, name: str, monotonic: Callable[[], float]) -> None:
        super().__init__(id=name)
        self._monotonic = monotonic
        self._feedback = ""
        self._until = 0.0

    def keys_line(self, width: int) -> Line:
        """Return the key hints, shown while there is no feedback."""
        raise NotImplementedError

    @property
    def answer(self) -> str:
        """The feedback shown now, or an empty string."""
        return self._feedback

    def report(self, text: str) -> None:
        """Show feedback for a key; empty text removes it."""
        if text or self._feedback:
            self._feedback, self._until = flat(text), self._monotonic() + NOTICE_S
            self.repaint()

    def refresh_keys(self) -> None:
        """Redraw the key hints, and remove feedback that has expired."""
        if self._feedback and self._monotonic() >= self._until:
            self._feedback = ""
        self.repaint()

    def line(self, y: int, width: int) -> Line:
        return bottom_line(y, self.size.height, self._feedback, self.keys_line, width)
