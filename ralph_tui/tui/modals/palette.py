"""Every command by its name: typed for, chosen with enter or a click.

Rule: what it offers it is given; of it, some is foreign text, so nothing here is ever markup.
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
"""In fewer rows there is no frame; with its margin it takes these cells and rows."""


@dataclass(frozen=True)
class Offer:
    """One line of the palette."""

    text: str
    run: Callable[[], None]
    refused: str | None = None
    """Why it cannot be done now."""
    key: str = ""


class Listed(ScrollText):
    """The commands that fit what is typed; a click does one."""

    class Clicked(Message):
        """A row was clicked."""

        def __init__(self, row: int) -> None:
            super().__init__()
            self.row = row

    def on_click(self, event: events.Click) -> None:
        """Tell which."""
        event.stop()
        self.post_message(self.Clicked(self.top + event.y))


class Palette(Modal[Callable[[], None] | None]):
    """Ends with what is to be done; a line for each command, its key at the right."""

    AUTO_FOCUS = "Input"
    HELPS = ()
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", show=False),
        Binding("down", "select(1)", show=False),
        Binding("up", "select(-1)", show=False),
        Binding("pagedown", "select(10)", show=False),
        Binding("pageup", "select(-10)", show=False),
    ]

    def __init__(self, offered: Sequence[Offer], clock: Callable[[], float] = monotonic) -> None:
        # Who calls for it types on: its letters only search.
        super().__init__(clock, guarded=False)
        self._all = self.found = tuple(offered)
        self.current = 0
        """The one that enter does."""
        self._words = Input(placeholder="Search commands", compact=True)
        self._words.cursor_blink = False
        self._list = Listed("offers")

    def parts(self) -> ComposeResult:
        """What is searched, and what is found."""
        with Vertical(id="palette", classes="dialog"):
            yield self._words
            yield self._list

    def pairs(self) -> Sequence[Pair]:
        return (("↑", ""), ("↓", "select"), ("enter", "do it"), ("esc", "close"))

    def on_resize(self, event: events.Resize) -> None:
        """Lay it out: it comes first, and with each other size."""
        self._draw()

    def on_input_changed(self) -> None:
        """Search; the best match comes first."""
        words = self._words.value.strip()
        if words:
            matcher = Matcher(words)
            scored = [(matcher.match(offer.text), offer) for offer in self._all]
            scored.sort(key=lambda pair: -pair[0])  # of equals the order stays
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
        told = [self._row(index, max(8, width)) for index in range(len(self.found))]
        self._list.show(told or [[("no command is called so", "dim")]], height)
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

    def take_key(self, event: events.Key) -> bool:
        """See `Modal`: letters that come before the field has the keys are meant for it."""
        if event.is_printable and event.character:
            self._words.insert_text_at_cursor(event.character)
            return True
        return False

    def action_select(self, by: int) -> None:
        """Another one."""
        before = self.current
        self.current = max(0, min(len(self.found) - 1, before + by))
        self.scrolled(self.current != before)
        self._draw()

    def on_input_submitted(self) -> None:
        """Do the one that is selected."""
        if self.found:
            self.dismiss(self.found[self.current].run)
        else:
            self.tell("no command is called so; esc closes")

    def on_listed_clicked(self, message: Listed.Clicked) -> None:
        """Do the one that was clicked."""
        if message.row < len(self.found):
            self.dismiss(self.found[message.row].run)

    def action_close(self) -> None:
        """Close."""
        self.dismiss(None)


def choose(app: App[str], offered: Sequence[Offer], clock: Callable[[], float]) -> None:
    """Open the palette with these, and do the one that is chosen."""

    def chosen(run: Callable[[], None] | None) -> None:
        if run is not None:
            run()

    app.push_screen(Palette(offered, clock), chosen)
