"""A dialog to read and close, such as the evidence behind a log entry."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from ralph_tui.text.sanitize import clip
from ralph_tui.tui.modals.modal import NO_FURTHER, Modal, Pair


class TextDialog(Modal[None]):
    """A title, a scrolling text, and a key to close the dialog."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter", "close", show=False),
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

    def pairs(self) -> Sequence[Pair]:
        return (("↑", ""), ("↓", "scroll"), ("esc", "close"))

    def parts(self) -> ComposeResult:
        with Vertical(classes="dialog wide reading"):
            yield Static(Content(self._title), classes="question")
            with VerticalScroll(can_focus=False):
                for part in self._body:
                    yield Static(part, classes="part")

    def action_roll(self, by: int) -> None:
        view = self.query_one(VerticalScroll)
        to = max(0, min(view.max_scroll_y, round(view.scroll_target_y) + by))
        if to == round(view.scroll_target_y):
            self.report(NO_FURTHER)
        else:
            view.scroll_to(y=to, animate=False)

    def action_close(self) -> None:
        self.dismiss(None)


MAX_CHARACTERS = 20_000


class Detail(TextDialog):
    """Untrusted text, shown without markup."""

    def __init__(self, title: str, body: str, clock: Callable[[], float] = monotonic) -> None:
        text = clip(body.expandtabs(4), MAX_CHARACTERS) or "No further details."
        super().__init__(title, [Content(text)], clock)
