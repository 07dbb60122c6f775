"""Every command by name: type to search, and choose with enter or a click.

Rule: the caller provides the commands. Some contain untrusted text, so nothing here is ever markup.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.fuzzy import Matcher
from textual.message import Message
from textual.widgets import Input

from ralph_tui.tui.draw.spans import Line, spread
from ralph_tui.tui.modals.modal import Modal, Pair
from ralph_tui.tui.modals.scroll_text import ScrollText

WIDEST = 84
FRAMED_ROWS, FRAME_CELLS, FRAME_ROWS = 10, 4, 2
"""Minimum number of rows for a frame, and the cells and rows that a frame takes."""


@dataclass(frozen=True)
class Offer:
    """A command in the palette."""

    text: str
    run: Callable[[], None]
    refused: str | None = None
    """Why the command is unavailable now; None if it is available."""
    key: str = ""


class Listed(ScrollText):
    """The commands that match the search; a click runs one."""

    class Clicked(Message):
        """The user clicked a row."""

        def __init__(self, row: int) -> None:
            super().__init__()
            self.row = row

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.post_message(self.Clicked(self.top + event.y))


class Palette(Modal[Callable[[], None] | None]):
    """Lists the commands with their keys. Returns the one to run."""

    AUTO_FOCUS = "Input"
    COMMON_KEYS = ()
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", show=False),
        Binding("down", "select(1)", show=False),
        Binding("up", "select(-1)", show=False),
        Binding("pagedown", "select(10)", show=False),
        Binding("pageup", "select(-10)", show=False),
    ]

    def __init__(self, offered: Sequence[Offer], clock: Callable[[], float] = monotonic) -> None:
        # Accept keys at once: early text belongs to the search, where letters do nothing else.
        super().__init__(clock, guarded=False)
        self._all = self.found = tuple(offered)
        self.current = 0
        """Index of the command that enter runs."""
        self._words = Input(placeholder="Search commands", compact=True)
        self._words.cursor_blink = False
        self._list = Listed("offers")

    def parts(self) -> ComposeResult:
        with Vertical(id="palette", classes="dialog"):
            yield self._words
            yield self._list

    def pairs(self) -> Sequence[Pair]:
        return (("↑", ""), ("↓", "select"), ("enter", "run"), ("esc", "close"))

    def on_resize(self, event: events.Resize) -> None:
        self._draw()

    def on_input_changed(self) -> None:
        """Search, and put the best match first."""
        words = self._words.value.strip()
        if words:
            matcher = Matcher(words)
            scored = [(matcher.match(offer.text), offer) for offer in self._all]
            scored.sort(key=lambda pair: -pair[0])  # stable: equal scores keep their order
            self.found = tuple(offer for score, offer in scored if score > 0)
        else:
            self.found = self._all
        self.current = 0
        self._draw()

    def _draw(self) -> None:
        columns, rows = self.room
        framed = rows >= FRAMED_ROWS
        self.query_one("#palette").set_class(not framed, "-bare")
        width = min(columns, WIDEST) - (FRAME_CELLS if framed else 0) - ScrollText.EDGE
        height = max(1, min(len(self._all), rows - 1 - (FRAME_ROWS if framed else 0)))
        lines = [self._row(index, max(8, width)) for index in range(len(self.found))]
        self._list.show(lines or [[("no matching command", "dim")]], height)
        top = self._list.top
        if not top <= self.current < top + height:
            self._list.roll(self.current - (top if self.current < top else top + height - 1))

    def _row(self, index: int, width: int) -> Line:
        offer, here = self.found[index], index == self.current
        style = "text" if offer.refused is None else "dim"
        left: Line = [
            ("▸ " if here else "  ", "accent"),
            (offer.text, f"strong {style}" if here else style),
        ]
        if offer.refused is not None:
            left.append((f"  ({offer.refused})", "dim"))
        row = spread(left, [(offer.key, "key")] if offer.key else [], width)
        return [(text, f"{name} cursor".strip()) for text, name in row] if here else row

    def accept_key(self, event: events.Key) -> bool:
        """Insert letters that were typed before the field had the focus."""
        if event.is_printable and event.character:
            self._words.insert_text_at_cursor(event.character)
            return True
        return False

    def action_select(self, by: int) -> None:
        before = self.current
        self.current = max(0, min(len(self.found) - 1, before + by))
        self.report_end(self.current != before)
        self._draw()

    def on_input_submitted(self) -> None:
        """Run the selected command."""
        if self.found:
            self.dismiss(self.found[self.current].run)
        else:
            self.report("no matching command; esc closes")

    def on_listed_clicked(self, message: Listed.Clicked) -> None:
        """Run the clicked command."""
        if message.row < len(self.found):
            self.dismiss(self.found[message.row].run)

    def action_close(self) -> None:
        self.dismiss(None)


def choose(app: App[str], offered: Sequence[Offer], clock: Callable[[], float]) -> None:
    """Open the palette with these commands, and run the chosen one."""

    def chosen(run: Callable[[], None] | None) -> None:
        if run is not None:
            run()

    app.push_screen(Palette(offered, clock), chosen)
