"""Words that are written: for the agent, or for what is known."""

from collections.abc import Callable
from time import monotonic
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static, TextArea

from ralph_tui.text.sanitize import strip_controls
from ralph_tui.tui.modals.modal import Modal


class TextEntry(TextArea):
    """A text area in which enter sends and ctrl+j breaks the line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", show=False, priority=True),
        Binding("ctrl+j", "newline", show=False, priority=True),
    ]

    class Sent(Message):
        """Enter was pressed."""

    def on_paste(self, event: events.Paste) -> None:
        """Control sequences would draw something else than what is sent."""
        event.text = strip_controls(event.text)

    def action_send(self) -> None:
        """The words are complete."""
        self.post_message(self.Sent())

    def action_newline(self) -> None:
        """Break the line."""
        self.insert("\n")


class Writing(Modal[tuple[bool, str]]):
    """Answers whether to send, and the text; a text that is not sent is the next draft."""

    AUTO_FOCUS = "TextEntry"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "keep", show=False, priority=True)]
    SENDS = "send"
    """What enter does."""

    def __init__(self, title: str, draft: str, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(clock)
        self._title, self._draft = title, draft

    def compose(self) -> ComposeResult:
        """What is written, the words, and the keys."""
        with Vertical(classes="dialog wide"):
            yield Static(Content(self._title), classes="question")
            area = TextEntry(self._draft, show_line_numbers=False, highlight_cursor_line=False)
            area.cursor_blink = False
            area.move_cursor(area.document.end)
            yield area
            yield Static(
                Content.assemble(
                    ("enter", "bold"), f" {self.SENDS}   ", ("ctrl+j", "bold"), " new line   "
                ).append(Content.assemble(("esc", "bold"), " close, the text is kept")),
                classes="keys",
            )

    def on_text_entry_sent(self) -> None:
        """Send, unless there is nothing to send."""
        text = self.query_one(TextEntry).text.strip()
        self.dismiss((bool(text), text))

    def action_keep(self) -> None:
        """Close; the text waits for the next time."""
        self.dismiss((False, self.query_one(TextEntry).text))


class Guide(Writing):
    """Words for the agent."""

    def __init__(
        self, draft: str, *, into_session: bool, clock: Callable[[], float] = monotonic
    ) -> None:
        where = "into the running session" if into_session else "with the next prompt"
        super().__init__(f"Guidance for the agent, {where}", draft, clock)


class Rewording(Writing):
    """Other words for what is known already."""

    SENDS = "keep them"
