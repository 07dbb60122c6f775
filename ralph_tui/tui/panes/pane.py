"""What all panes share: frame, title, scrolling, and doing nothing when nothing changed.

Rule: `sync` is the only way in. A pane draws what the state says and knows no other pane: a click
on a tab presses that pane's digit.
"""

from collections.abc import Callable
from dataclasses import dataclass
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
"""Cells a frame takes from a row: a line and a blank on either side."""
BESIDE = 6
"""Cells between the title and what stands beside it, with the corner behind."""
MOST_COPIED = 2000
"""Rows of a pane that are copied or written at most."""

P = TypeVar("P", bound="Pane")


def or_still(move: Callable[[P, int], None]) -> Callable[[P, int], None]:
    """An action that says so where nothing moves: no key is without an answer."""

    @wraps(move)
    def moved(pane: P, by: int) -> None:
        before = pane.standing
        move(pane, by)
        if pane.standing == before:
            pane.post_message(pane.Still())

    return moved


class Pane(LineWidget, can_focus=True):
    """One framed pane; rows are drawn on demand by `row`."""

    key: ClassVar[str] = ""
    """Its id; `cockpit.layout.NAMES` says what it is called and which digit calls it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "edge(-1)", show=False),
        Binding("end", "edge(1)", show=False),
    ]

    @dataclass
    class Opened(Message):
        """An entry's evidence is wanted."""

        title: str
        body: str

    @dataclass
    class Still(Message):
        """A key changed nothing here."""

        why: str = "there is nothing further that way"

    def __init__(self) -> None:
        super().__init__(id=self.key, classes="pane")
        self.state = RunState()
        self.now: datetime = EPOCH
        self.tabs: tuple[Tab, ...] = ()
        self.zoomed = False
        self.lit = False
        """It has the focus; Textual's own flag is set only after the event."""
        self.top = 0
        self.version = 0
        """Grows with every change that is to be drawn."""
        self._stamp: object = None

    # what a pane is ---------------------------------------------------------------------------

    def stamp(self, state: RunState, now: datetime) -> object:
        """Something that differs whenever the pane would look different; ages count in seconds."""
        raise NotImplementedError

    def row_count(self, width: int, height: int) -> int:
        """How many rows there are."""
        raise NotImplementedError

    def row(self, index: int, width: int, height: int) -> Line:
        """One row's spans."""
        raise NotImplementedError

    def subtitle(self, width: int) -> Line:
        """What the lower edge of the frame says."""
        return []

    def headline(self, width: int) -> Line:
        """What the upper edge says beside the title."""
        return []

    def speaks(self, state: RunState) -> bool:
        """Whether it has something to say; one that never had gives its room away."""
        return True

    def changed(self) -> None:
        """Take note of a new state, before it is drawn."""

    def text_rows(self, most: int = MOST_COPIED) -> list[str]:
        """All its rows as text, not only those in view."""
        width, height = self.inner_width, self.inner_height
        number = min(self.row_count(width, height), most)
        rows = ("".join(text for text, _ in self.row(i, width, height)) for i in range(number))
        return [row.rstrip() for row in rows]

    # the one entry ----------------------------------------------------------------------------

    def sync(self, state: RunState, now: datetime) -> None:
        """Show this state; costs next to nothing when nothing visible changed."""
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
        """Take note of its place: who shares it, and whether it has the whole screen."""
        if (tabs, zoomed) != (self.tabs, self.zoomed):
            self.tabs, self.zoomed = tabs, zoomed
            self.redraw()

    def on_focus(self) -> None:
        """The frame tells it."""
        self.lit = True
        self.redraw()

    def on_blur(self) -> None:
        """The frame tells it."""
        self.lit = False
        self.redraw()

    def redraw(self) -> None:
        """Draw anew though the state is the same: selection, tabs or zoom changed."""
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
        """The right edge, with the part that is in view drawn heavy."""
        if count <= height:
            return "│", style
        first = self.top * height // count
        last = max(first, (self.top + height) * height // count - 1)
        return ("┃", "focus" if self.lit else "dim") if first <= y <= last else ("│", style)

    # the mouse --------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """What a row does its pane says; a tab is the key that it names."""
        row = event.y - 1
        if 0 <= row < self.inner_height and self.top + row < self._drawn_rows:
            self.clicked(self.top + row, event.x - len("│ "))

    @property
    def _drawn_rows(self) -> int:
        return self.row_count(self.inner_width, self.inner_height)

    def clicked(self, row: int, cell: int) -> None:
        """A row was clicked, counted as `row` counts them, on a cell inside the frame."""

    # scrolling --------------------------------------------------------------------------------

    def scroll_rows(self, by: int) -> None:
        """Move the view; it stops at either end."""
        last = self.row_count(self.inner_width, self.inner_height) - self.inner_height
        self.top = max(0, min(self.top + by, last))
        self.repaint()

    @property
    def standing(self) -> object:
        """What a key to move may change: what is in view, and what is selected."""
        return self.top

    @or_still
    def action_move(self, by: int) -> None:
        """One row, or one entry, up or down."""
        self.scroll_rows(by)

    @or_still
    def action_page(self, by: int) -> None:
        """One screenful."""
        self.scroll_rows(by * max(1, self.inner_height - 1))

    @or_still
    def action_edge(self, to: int) -> None:
        """The first or the last row."""
        self.scroll_rows(to * 10**9)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel moves the view, not the selection."""
        event.stop()
        self.scroll_rows(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel moves the view, not the selection."""
        event.stop()
        self.scroll_rows(-3)


class LinesPane(Pane):
    """A pane of few rows, built at once and kept until the state or the size changes."""

    def __init__(self) -> None:
        super().__init__()
        self._built: tuple[int, int, int] | None = None
        self._lines: list[Line] = []

    def build(self, width: int, height: int) -> list[Line]:
        """All rows for this size, from `self.state` and `self.now`."""
        raise NotImplementedError

    def lines(self, width: int, height: int) -> list[Line]:
        """The rows, built anew only where something changed."""
        key = (self.version, width, height)
        if key != self._built:
            self._lines, self._built = self.build(width, height), key
        return self._lines

    def row_count(self, width: int, height: int) -> int:
        return len(self.lines(width, height))

    def row(self, index: int, width: int, height: int) -> Line:
        return self.lines(width, height)[index]


def padded(text: str, width: int) -> str:
    """The text filled up with blanks to `width` cells; longer text stays."""
    return text + " " * (width - cell_len(text))


class IterationPane(LinesPane):
    """A pane of one iteration: the one that goes on, or an earlier one that is looked at.

    What it shows is told of `span`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.chosen: int | None = None
        """The earlier iteration that is looked at; None: the latest one."""

    def look_at(self, iteration: int | None) -> None:
        """Show this iteration, or again the latest one."""
        if iteration != self.chosen:
            self.chosen, self.top = iteration, 0
            self.changed()
            self.redraw()

    @property
    def span(self) -> IterationSpan | None:
        """The iteration that is shown; 0 is the baseline."""
        spans = self.state.timeline.spans
        if self.chosen is None:
            return spans[-1] if spans else None
        return next((span for span in reversed(spans) if span.number == self.chosen), None)

    def past(self) -> Line:
        """A row that says that this is not the present; nothing where it is."""
        if self.chosen is None or self.span is None:
            return []
        number = self.span.number
        place = f"iteration {number}" if number else "before iteration 1"
        return [(f"{place}  ", "warn strong"), ("< > other iterations, esc the latest", "dim")]
