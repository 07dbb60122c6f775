"""Rows that are told, and the last rows of a screen: an answer to a key, and the keys below it."""

from collections.abc import Callable, Sequence

from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.draw.spans import Line, clip, clip_line, flat, spread

NOTICE_S = 5.0
"""How long an answer to a key stands."""
LOW = 15
"""Rows of a terminal below which messages have no row of their own."""


def bottom_line(y: int, height: int, message: str, keys: Callable[[int], Line], width: int) -> Line:
    """A row of the last rows: the message above, the keys below, which nothing covers.

    Where there is one row, the message takes it for as long as it stands.
    """
    if y >= height - 1 and (height > 1 or not message):
        return keys(width)
    return [(" ", ""), (clip(message, width - 2), "accent")] if message and y == 0 else []


class Rows(LineWidget):
    """Rows that are told."""

    def __init__(self, name: str) -> None:
        super().__init__(id=name)
        self._told: Sequence[tuple[Line, Line]] | None = None

    def tell(self, *rows: tuple[Line, Line]) -> None:
        """Show these, each at either edge; none at all: no room is taken."""
        if rows != self._told:
            self._told = rows
            self.styles.height = len(rows)
            self.display = bool(rows)
            self.repaint()

    def line(self, y: int, width: int) -> Line:
        left, right = (self._told or ())[y] if y < len(self._told or ()) else ([], [])
        return clip_line(
            spread([(" ", ""), *left], [*right, (" ", "")] if right else [], width), width
        )


class AnswerRow(LineWidget):
    """The last rows: an answer to a key, and what the keys do now."""

    def __init__(self, name: str, monotonic: Callable[[], float]) -> None:
        super().__init__(id=name)
        self._monotonic = monotonic
        self._answer = ""
        self._until = 0.0

    def keys_line(self, width: int) -> Line:
        """What stands there without an answer."""
        raise NotImplementedError

    @property
    def answer(self) -> str:
        """The sentence that stands now, or nothing."""
        return self._answer

    def say(self, text: str) -> None:
        """Answer a key; empty: it is over."""
        if text or self._answer:
            self._answer, self._until = flat(text), self._monotonic() + NOTICE_S
            self.repaint()

    def bring_up_to_date(self) -> None:
        """What the keys do may have changed; an answer that stood long enough goes."""
        if self._answer and self._monotonic() >= self._until:
            self._answer = ""
        self.repaint()

    def line(self, y: int, width: int) -> Line:
        return bottom_line(y, self.size.height, self._answer, self.keys_line, width)
