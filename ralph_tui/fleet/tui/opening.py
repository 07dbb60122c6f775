"""The first frame of a fleet's screen, while the rest of it is loaded."""

from textual.app import ComposeResult

from ralph_tui.tui.base_screen import FirstFrame
from ralph_tui.tui.draw.bar import Bar
from ralph_tui.tui.draw.spans import clickable


class FleetOpening(FirstFrame):
    """The bars of the screen around an empty list."""

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield Bar("fleet-head", [(" fleet", "accent strong")], [("reading the fleet… ", "dim")])
        yield Bar("loops", [], [])
        leave = clickable([("q", "key"), (" leave", "text")], "q")
        yield Bar("fleet-foot", [(" ", ""), *leave], [])
