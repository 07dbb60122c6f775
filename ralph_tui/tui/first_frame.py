"""The first screen, painted while the real one loads. Rule: it knows nothing about runs."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult

from ralph_tui.tui.app import BaseScreen
from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.draw.spans import Line, clickable, spread

LEAVING: Line = [(" ", ""), *clickable([("q", "key"), (" leave", "text")], "q")]


class FirstFrame(BaseScreen):
    """Saves keys for the next screen, except those that leave the app."""

    LEAVE = frozenset({"q", "ctrl+c", "ctrl+q"})

    def __init__(self) -> None:
        super().__init__()
        self.typed: list[events.Key] = []

    def on_key(self, event: events.Key) -> None:
        """Leave, or save the key."""
        if event.key in self.LEAVE:
            self.app.exit()
        else:
            self.typed.append(event)

    def open_help(self) -> None:
        """Do nothing: this screen has no dialogs."""


class FixedRows(LineWidget):
    """Rows that never change."""

    def __init__(self, name: str, *rows: tuple[Line, Line]) -> None:
        """Create the rows, each with a left and a right part."""
        super().__init__(id=name)
        self._parts = rows

    def line(self, y: int, width: int) -> Line:
        return spread(*self._parts[y], width) if y < len(self._parts) else []


class ListFrame(FirstFrame):
    """The bars of a list screen around an empty list."""

    STYLES: ClassVar[Sequence[str]] = ("lists.tcss",)

    def __init__(self, name: str, rows: str, title: str, what: str) -> None:
        """`name` and `rows` are ids in the stylesheet; `what` describes the current activity."""
        super().__init__()
        self._which, self._rows_id = name, rows
        self._head: tuple[Line, Line] = [(f" {title}", "accent strong")], [(f"{what} ", "dim")]

    def compose(self) -> ComposeResult:
        yield FixedRows(f"{self._which}-head", self._head)
        yield FixedRows(self._rows_id)
        yield FixedRows(f"{self._which}-foot", ([], []), (LEAVING, []))
