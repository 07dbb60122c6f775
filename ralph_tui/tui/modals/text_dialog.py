"""Dialogs to read and close: an entry's evidence, and the help."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from ralph_tui.tui.modals.modal import Modal


class TextDialog(Modal[None]):
    """A title, a text that scrolls, and a key to close."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,question_mark,f1", "close", show=False),
        Binding("down,j", "roll(1)", show=False),
        Binding("up,k", "roll(-1)", show=False),
        Binding("pagedown,space", "roll(10)", show=False),
        Binding("pageup", "roll(-10)", show=False),
        Binding("home", "roll(-100000)", show=False),
        Binding("end", "roll(100000)", show=False),
    ]

    def __init__(
        self, title: str, body: Sequence[Content], clock: Callable[[], float] = monotonic
    ) -> None:
        super().__init__(clock)
        self._title, self._body = title, body

    def compose(self) -> ComposeResult:
        """Title, text, keys."""
        with Vertical(classes="dialog wide reading"):
            yield Static(Content(self._title), classes="question")
            with VerticalScroll(can_focus=False):
                for part in self._body:
                    yield Static(part, classes="part")
            yield Static(
                Content.assemble(("esc", "bold"), " close   ", ("↑↓", "bold"), " scroll"),
                classes="keys",
            )

    def action_roll(self, by: int) -> None:
        """Scroll; nothing is animated."""
        self.query_one(VerticalScroll).scroll_relative(y=by, animate=False)

    def action_close(self) -> None:
        """Close."""
        self.dismiss(None)
