"""What is painted first, while what takes its place is loaded. Rule: it knows nothing of a run."""

from textual import events
from textual.app import ComposeResult

from ralph_tui.tui.app import BaseScreen
from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.draw.spans import Line, clickable, spread

LEAVING: Line = [(" ", ""), *clickable([("q", "key"), (" leave", "text")], "q")]


class FirstFrame(BaseScreen):
    """Keys that are pressed here are kept for the screen that comes, but those that leave."""

    LEAVE = frozenset({"q", "ctrl+c", "ctrl+q"})

    def __init__(self) -> None:
        super().__init__()
        self.typed: list[events.Key] = []

    def on_key(self, event: events.Key) -> None:
        """Leave, or keep the key."""
        if event.key in self.LEAVE:
            self.app.exit()
        else:
            self.typed.append(event)

    def open_help(self) -> None:
        """No dialog stands here."""


class FixedRows(LineWidget):
    """Rows that are known from the start."""

    def __init__(self, name: str, *rows: tuple[Line, Line]) -> None:
        """Of each row the left and the right part."""
        super().__init__(id=name)
        self._parts = rows

    def line(self, y: int, width: int) -> Line:
        return spread(*self._parts[y], width) if y < len(self._parts) else []


class ListFrame(FirstFrame):
    """The bars of a screen that lists something, around an empty list."""

    def __init__(self, name: str, rows: str, title: str, what: str) -> None:
        """`name` of the screen and `rows` of its list in the stylesheet; `what` is going on."""
        super().__init__()
        self._which, self._rows_id = name, rows
        self._head: tuple[Line, Line] = [(f" {title}", "accent strong")], [(f"{what} ", "dim")]

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield FixedRows(f"{self._which}-head", self._head)
        yield FixedRows(self._rows_id)
        yield FixedRows(f"{self._which}-foot", ([], []), (LEAVING, []))
