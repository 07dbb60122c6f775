"""Shared behaviour of panes: frame, title, scrolling, and no unnecessary redraws.

Rule: `sync` is the only entry point. A pane draws only from the state and knows no other pane: a
click on a tab presses that pane's digit.
"""

from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import ClassVar, TypeVar

from rich.cells import cell_len
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from ralph_tui.events.base import EPOCH
from ralph_tui.state import IterationSpan, RunState
from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.draw.spans import Line, cells, clip_line
from ralph_tui.tui.panes.tabs import TITLE_FRAME, Tab, edge, title

FRAME_WIDTH = 4
"""Cells that the frame takes from a row: a line and a blank on either side."""
BESIDE = 6
"""Cells taken by the corner and the space between title and headline."""
MAX_COPIED = 2000
"""Maximum number of rows copied or exported from a pane."""

P = TypeVar("P", bound="Pane")


def or_report(move: Callable[[P, int], None]) -> Callable[[P, int], None]:
    """Wrap a movement action so that it reports when nothing moves."""

    @wraps(move)
    def moved(pane: P, by: int) -> None:
        before = pane.view_state
        move(pane, by)
        if pane.view_state == before:
            pane.post_message(pane.NoEffect())

    return moved


class Pane(LineWidget, can_focus=True):
    """A framed pane whose rows are drawn on demand by `row`."""

    key: ClassVar[str] = ""
    """The pane's id; `cockpit.layout.NAMES` holds its name and digit."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "edge(-1)", show=False),
        Binding("end", "edge(1)", show=False),
    ]

    class Opened(Message):
        """The user opened an entry's details."""

        def __init__(self, title: str, body: str) -> None:
            super().__init__()
            self.title, self.body = title, body

    class NoEffect(Message):
        """A key had no effect; `why` says why."""

        def __init__(self, why: str = "nothing more in that direction") -> None:
            super().__init__()
            self.why = why

    def __init__(self) -> None:
        super().__init__(id=self.key, classes="pane")
        self.state = RunState()
        self.now: datetime = EPOCH
        self.tabs: tuple[Tab, ...] = ()
        self.zoomed = False
        self.lit = False
        """True if the pane has the focus; Textual sets its own flag only after the event."""
        self.top = 0
        self.version = 0
        """Incremented by every change that must be drawn."""
        self._stamp: object = None

    # methods for subclasses -------------------------------------------------------------------

    def stamp(self, state: RunState, now: datetime) -> object:
        """Return a value that changes whenever the pane would look different.

        If ages are shown, it changes once a second.
        """
        raise NotImplementedError

    def row_count(self, width: int, height: int) -> int:
        """Return the number of rows."""
        raise NotImplementedError

    def row(self, index: int, width: int, height: int) -> Line:
        """Return the spans of one row."""
        raise NotImplementedError

    def subtitle(self, width: int) -> Line:
        """Return the text in the bottom edge of the frame."""
        return []

    def headline(self, width: int) -> Line:
        """Return the text beside the title."""
        return []

    def has_content(self, state: RunState) -> bool:
        """True if the pane has content; a pane that has never had any yields its space."""
        return True

    def changed(self) -> None:
        """Process a new state before it is drawn."""

    def text_rows(self, most: int = MAX_COPIED) -> list[str]:
        """Return the pane's rows as text, including those out of view."""
        width, height = self.inner_width, self.inner_height
        number = min(self.row_count(width, height), most)
        rows = ("".join(text for text, _ in self.row(i, width, height)) for i in range(number))
        return [row.rstrip() for row in rows]

    # the entry point --------------------------------------------------------------------------

    def sync(self, state: RunState, now: datetime) -> None:
        """Show this state; very cheap if nothing visible has changed."""
        if not self.display:
            return
        stamp = self.stamp(state, now)
        if state is self.state and stamp == self._stamp:
            return
        self._stamp, self.state, self.now = stamp, state, now
        self.version += 1
        self.changed()
        self.repaint()

    def take_place(self, tabs: tuple[Tab, ...], *, zoomed: bool) -> None:
        """Set the tabs of the pane's group, and whether the pane fills the screen."""
        if (tabs, zoomed) != (self.tabs, self.zoomed):
            self.tabs, self.zoomed = tabs, zoomed
            self.redraw()

    def on_focus(self) -> None:
        self.lit = True
        self.redraw()

    def on_blur(self) -> None:
        self.lit = False
        self.redraw()

    def redraw(self) -> None:
        """Draw again although the state is unchanged: the selection, tabs or zoom have changed."""
        self.version += 1
        self.repaint()

    # frame ------------------------------------------------------------------------------------

    @property
    def inner_width(self) -> int:
        """Cells of a row inside the frame."""
        return max(1, self.size.width - FRAME_WIDTH)

    @property
    def inner_height(self) -> int:
        """Rows inside the frame."""
        return max(1, self.size.height - 2)

    def line(self, y: int, width: int) -> Line:
        frame = "focus" if self.lit else "frame"
        if y == 0:
            named = title(self._tabs, width - TITLE_FRAME, lit=self.lit)
            room = width - TITLE_FRAME - BESIDE - cells(named)
            beside = clip_line(self.headline(room), room) if room > 0 else []
            return edge("╭", "╮", named, beside, width, frame)
        if y >= self.size.height - 1:
            room = width - TITLE_FRAME - 1
            return edge("╰", "╯", [], clip_line(self.subtitle(room), room), width, frame)
        inner, height = self.inner_width, self.inner_height
        count = self.row_count(inner, height)
        self.top = max(0, min(self.top, count - height))
        index = self.top + y - 1
        spans = clip_line(self.row(index, inner, height), inner) if index < count else []
        right = self._thumb(y - 1, count, height, frame)
        return [("│ ", frame), *spans, (" " * (inner - cells(spans) + 1), ""), right]

    @property
    def _tabs(self) -> tuple[Tab, ...]:
        return self.tabs or (Tab(0, self.key, shown=True),)

    def _thumb(self, y: int, count: int, height: int, style: str) -> tuple[str, str]:
        """Draw one cell of the right edge; a heavy line marks the visible part of the content."""
        if count <= height:
            return "│", style
        first = self.top * height // count
        last = max(first, (self.top + height) * height // count - 1)
        return ("┃", "focus" if self.lit else "dim") if first <= y <= last else ("│", style)

    # the mouse --------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """Pass the clicked row to `clicked`; tabs handle their own clicks."""
        row = event.y - 1
        if 0 <= row < self.inner_height and self.top + row < self._drawn_rows:
            self.clicked(self.top + row, event.x - len("│ "))

    @property
    def _drawn_rows(self) -> int:
        return self.row_count(self.inner_width, self.inner_height)

    def clicked(self, row: int, cell: int) -> None:
        """Handle a click on row `row`, at a cell inside the frame."""

    # scrolling --------------------------------------------------------------------------------

    def scroll_rows(self, by: int) -> None:
        """Scroll the view, stopping at either end."""
        last = self.row_count(self.inner_width, self.inner_height) - self.inner_height
        self.top = max(0, min(self.top + by, last))
        self.repaint()

    @property
    def view_state(self) -> object:
        """The position that a movement key can change: the view and the selection."""
        return self.top

    @or_report
    def action_move(self, by: int) -> None:
        self.scroll_rows(by)

    @or_report
    def action_page(self, by: int) -> None:
        self.scroll_rows(by * max(1, self.inner_height - 1))

    @or_report
    def action_edge(self, to: int) -> None:
        self.scroll_rows(to * 10**9)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll without moving the selection."""
        event.stop()
        self.scroll_rows(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll without moving the selection."""
        event.stop()
        self.scroll_rows(-3)


class LinesPane(Pane):
    """A pane with few rows, built all at once and cached until the state or the size changes."""

    def __init__(self) -> None:
        super().__init__()
        self._built: tuple[int, int, int] | None = None
        self._lines: list[Line] = []

    def build(self, width: int, height: int) -> list[Line]:
        """Build all rows for this size from `self.state` and `self.now`."""
        raise NotImplementedError

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the rows, rebuilding them only after a change."""
        key = (self.version, width, height)
        if key != self._built:
            self._lines, self._built = self.build(width, height), key
        return self._lines

    def row_count(self, width: int, height: int) -> int:
        return len(self.lines(width, height))

    def row(self, index: int, width: int, height: int) -> Line:
        return self.lines(width, height)[index]


def padded(text: str, width: int) -> str:
    """Pad the text with blanks to `width` cells; longer text is unchanged."""
    return text + " " * (width - cell_len(text))


class IterationPane(LinesPane):
    """A pane that shows one iteration: the latest, or one that the user has chosen.

    Subclasses draw the iteration in `span`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.chosen: int | None = None
        """The iteration chosen by the user; None for the latest one."""

    def show_iteration(self, iteration: int | None) -> None:
        """Show this iteration; None for the latest one."""
        if iteration != self.chosen:
            self.chosen, self.top = iteration, 0
            self.changed()
            self.redraw()

    @property
    def span(self) -> IterationSpan | None:
        """The displayed iteration; number 0 is the baseline."""
        spans = self.state.timeline.spans
        if self.chosen is None:
            return spans[-1] if spans else None
        return next((span for span in reversed(spans) if span.number == self.chosen), None)

    def past(self) -> Line:
        """Return a row stating that an earlier iteration is shown; empty for the latest one."""
        if self.chosen is None or self.span is None:
            return []
        number = self.span.number
        place = f"iteration {number}" if number else "before iteration 1"
        return [(f"{place}  ", "warn strong"), ("< > other iterations, esc latest", "dim")]
