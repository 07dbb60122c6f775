"""The first frame: empty panes in their places, shown while the cockpit loads.

Rule: it imports neither events nor state.
"""

from textual.app import ComposeResult
from textual.containers import Container

from ralph_tui.text.terms import PHASES
from ralph_tui.tui.cockpit import layout
from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.draw.spans import Line
from ralph_tui.tui.first_frame import LEAVING, FirstFrame, FixedRows
from ralph_tui.tui.panes.tabs import TITLE_FRAME, Tab, edge, title


class Frame(LineWidget):
    """The empty frame of a pane."""

    def __init__(self, key: str) -> None:
        super().__init__(id=key, classes="pane")
        self.tabs: tuple[Tab, ...] = (layout.tab(key, shown=True),)

    def line(self, y: int, width: int) -> Line:
        if y == 0:
            named = title(self.tabs, width - TITLE_FRAME, lit=False)
            return edge("╭", "╮", named, [], width, "frame")
        if y >= self.size.height - 1:
            return edge("╰", "╯", [], [], width, "frame")
        return [("│", "frame"), (" " * (width - 2), ""), ("│", "frame")]


class OpeningScreen(FirstFrame):
    """The screen shown until the cockpit is ready."""

    HORIZONTAL_BREAKPOINTS = layout.HORIZONTAL
    VERTICAL_BREAKPOINTS = layout.VERTICAL

    def __init__(self) -> None:
        super().__init__()
        self._frames = {key: Frame(key) for key in layout.ORDER}
        self.update_classes(self._style_classes(), update=False)  # before the first styling

    def compose(self) -> ComposeResult:
        starting = PHASES["starting"]
        state: Line = [(f"{starting.glyph} {starting.word}", "dim")]
        name: Line = [(" ralph-tui", "accent strong")]
        yield FixedRows("status", (state, []))
        yield FixedRows("header", (name, []), ([], []), ([(" ", ""), *state], []))
        with Container(id="body"):
            yield from self._frames.values()
        yield FixedRows("footer", ([], []), (LEAVING, []))

    def on_mount(self) -> None:
        self._arrange()

    def on_resize(self) -> None:
        self._arrange()

    def _arrange(self) -> None:
        places = layout.groups(
            *self.app.size, layout.HOSTS
        )  # these panes have no content yet, so others use their space
        self.update_classes(self._style_classes())
        for place in places:
            for key in place:
                frame = self._frames[key]
                frame.tabs = tuple(layout.tab(sharer, shown=sharer == key) for sharer in place)
                frame.display = key == place[0]

    def _style_classes(self) -> dict[str, bool]:
        return layout.style_classes(*self.app.size, layout.HOSTS)
