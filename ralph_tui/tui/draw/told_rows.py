"""Rows that are told, and the last row of a screen: its keys, or for a while an answer to one."""

from collections.abc import Callable, Sequence

from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.draw.spans import Line, clip, clip_line, flat, spread

NOTICE_S = 5.0
"""How long an answer to a key stands."""


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
        """See `LineWidget`."""
        left, right = (self._told or ())[y] if y < len(self._told or ()) else ([], [])
        return clip_line(
            spread([(" ", ""), *left], [*right, (" ", "")] if right else [], width), width
        )


class AnswerRow(LineWidget):
    """The last row: what the keys do now, or an answer to one."""

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
        """See `LineWidget`."""
        if self._answer:
            return [(" ▸ ", "warn"), (clip(self._answer, width - 4), "text")]
        return self.keys_line(width)
