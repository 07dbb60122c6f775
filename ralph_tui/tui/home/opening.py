"""The first frame of home, while the rest of it is loaded. Rule: it knows nothing of records."""

from textual.app import ComposeResult

from ralph_tui.tui.base_screen import FirstFrame
from ralph_tui.tui.draw.bar import Bar
from ralph_tui.tui.draw.spans import clickable


class HomeOpening(FirstFrame):
    """The bars of home around an empty list."""

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield Bar("home-head", [(" ralph-tui", "accent strong")], [("looking for runs… ", "dim")])
        yield Bar("runs", [], [])
        leave = clickable([("q", "key"), (" leave", "text")], "q")
        yield Bar("home-foot", [(" ", ""), *leave], [])
