"""Widgets of the form: a choice, a button, and a field with its hint or error."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from ralph_tui.text.sanitize import strip_controls
from ralph_tui.text.terms import CRITICAL
from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.draw.spans import Line
from ralph_tui.tui.field_keys import take_own_key
from ralph_tui.tui.modals.modal import Modal

CHOSEN, OTHER = "●", "○"
MARKED, BETWEEN = f"{OTHER} ", "   "
"""The mark before an option, and the gap between two options."""
LONGEST_VALUE = 10_000


class OneLine(Input):
    """A one-row text field."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "app.focus_next", show=False, priority=True)
    ]

    def __init__(self, placeholder: str = "") -> None:
        super().__init__(placeholder=placeholder, compact=True, max_length=LONGEST_VALUE)
        self.cursor_blink = False
        self.select_on_focus = False

    async def on_key(self, event: events.Key) -> None:
        """Handle keys in the order in which they were typed."""
        await take_own_key(self, event)

    def on_paste(self, event: events.Paste) -> None:
        """Keep the first line, and drop control sequences, which would not be drawn as text."""
        text = event.text.replace("\r\n", "\n").replace("\r", "\n").replace("\\\n", " ").strip()
        if "\n" in text:
            self._report("only one line fits here; the other pasted lines were dropped")
        text, room = strip_controls(text), LONGEST_VALUE - len(self.value)
        if len(text.partition("\n")[0]) > room:  # longer text would be rejected entirely
            self._report(
                f"at most {LONGEST_VALUE:,} characters; the rest of the pasted text was cut"
            )
        event.text = text[:room]

    def _report(self, sentence: str) -> None:
        if isinstance(self.screen, Modal):
            self.screen.report(sentence)


class Choice(LineWidget, can_focus=True):
    """A choice of a few options, all visible, on as many rows as they need."""

    KEYS: ClassVar[Mapping[str, int]] = {"right": 1, "space": 1, "left": -1}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "app.focus_next", show=False, priority=True)
    ]

    class Changed(Message):
        """The user chose another option."""

        def __init__(self, choice: "Choice") -> None:
            super().__init__()
            self.choice = choice

    def __init__(self, options: Sequence[tuple[str, str]], value: str = "") -> None:
        """`options` are values with their labels; `value` need not be one of them."""
        super().__init__()
        self.options = tuple(options)
        self.value = value

    def offer(self, options: Sequence[tuple[str, str]], value: str) -> None:
        """Replace the options."""
        self.options, self.value = tuple(options), value
        self.repaint()
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._rows_of(width))

    def _rows_of(self, width: int) -> list[list[tuple[str, str]]]:
        rows: list[list[tuple[str, str]]] = [[]]
        left = 0
        for value, word in self.options:
            wide = len(MARKED) + cell_len(word)
            if left and left + wide > width:
                rows.append([])
                left = 0
            rows[-1].append((value, word))
            left += wide + len(BETWEEN)
        return rows

    def line(self, y: int, width: int) -> Line:
        spans: Line = []
        rows = self._rows_of(width)
        for value, word in rows[y] if y < len(rows) else ():
            here = value == self.value
            style = ("accent strong" if self.has_focus else "strong") if here else "dim"
            spans += [(f"{CHOSEN if here else OTHER} {word}", style), (BETWEEN, "")]
        return spans[:-1]

    def on_key(self, event: events.Key) -> None:
        """Handle keys here, because the focus may have moved by the time a binding is looked up."""
        if event.key in self.KEYS:
            event.stop()
            self.move(self.KEYS[event.key])

    def move(self, by: int) -> None:
        """Choose the next option, or the previous one if `by` is negative; wraps around."""
        values = [value for value, _ in self.options]
        if values:
            here = values.index(self.value) + by if self.value in values else 0
            self._choose(values[here % len(values)])

    def on_click(self, event: events.Click) -> None:
        left = 0
        for value, word in self._rows_of(self.size.width)[event.y]:
            left += len(MARKED) + cell_len(word) + len(BETWEEN)
            if event.x < left:
                self._choose(value)
                return

    def _choose(self, value: str) -> None:
        if value != self.value:
            self.value = value
            self.repaint()
            self.post_message(self.Changed(self))

    def on_focus(self) -> None:
        self.repaint()

    def on_blur(self) -> None:
        self.repaint()


class Button(LineWidget, can_focus=True):
    """A button that runs an action of its screen."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "press", show=False)]

    def __init__(self, name: str, word: str, action: str) -> None:
        super().__init__(id=name, classes="button")
        self.word, self._action = word, action
        self.styles.width = cell_len(word) + 4

    def line(self, y: int, width: int) -> Line:
        return [(f"[ {self.word} ]", "accent strong badge" if self.has_focus else "accent strong")]

    def rename(self, word: str) -> None:
        """Change the label; the new one must have the same width."""
        self.word = word
        self.repaint()

    async def action_press(self) -> None:
        await self.screen.run_action(self._action)

    async def on_click(self) -> None:
        await self.screen.run_action(self._action)

    def on_focus(self) -> None:
        self.repaint()

    def on_blur(self) -> None:
        self.repaint()


class Field(Vertical):
    """A label, its controls, and a hint or an error beside or below them."""

    def __init__(
        self, name: str, label: str, *controls: Widget, hint: str = "", beside: bool = False
    ) -> None:
        """`beside` shows the hint on the same row."""
        super().__init__(classes="field beside" if beside else "field")
        self.key = name
        self._label, self._controls, self._beside = label, controls, beside
        self._hint = Content(hint)
        self.said = Static(self._hint, classes="said")
        self.wrong = ""
        """The error shown, if any."""

    @property
    def control(self) -> Widget:
        """The widget that takes the input."""
        return self._controls[0]

    def compose(self) -> ComposeResult:
        with Horizontal(classes="row"):
            yield Static(Content(self._label), classes="label")
            yield from self._controls
            if self._beside:
                yield self.said
        if not self._beside:
            yield self.said

    def on_mount(self) -> None:
        self._show()

    def hint(self, hint: Content | str) -> None:
        """Set the hint, shown while there is no error."""
        self._hint = Content(hint) if isinstance(hint, str) else hint
        self._show()

    def refuse(self, sentence: str) -> None:
        """Show an error in place of the hint; an empty sentence clears it."""
        if sentence != self.wrong:
            self.wrong = sentence
            self._show()

    def _show(self) -> None:
        text = Content(f"{CRITICAL.glyph} {self.wrong}") if self.wrong else self._hint
        self.said.update(text)
        self.said.set_class(bool(self.wrong), "-wrong")
        self.said.display = bool(text.plain)
