"""Text entry: guidance for the agent, or new wording for a learning."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import ClassVar, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static, TextArea

from ralph_tui.text.sanitize import clip, one_line, strip_controls
from ralph_tui.tui.field_keys import take_own_key
from ralph_tui.tui.modals.choice_dialog import LOOK_S
from ralph_tui.tui.modals.modal import Modal, Pair

MAX_CHARACTERS = 100_000
"""Maximum length of a text, in characters."""
LONGEST_LINE = 10_000
"""Maximum length of a line that is wrapped: wrapping a longer one at every key would be slow."""


class PlainArea(TextArea):
    """A text area that cleans pasted text and limits its length."""

    async def on_key(self, event: events.Key) -> None:
        """Handle keys in the order in which they were typed."""
        await take_own_key(self, event)

    def on_paste(self, event: events.Paste) -> None:
        """Refuse text that is too long; drop control sequences, which would hide what is sent."""
        size = len(event.text)
        if size + len(self.text) > MAX_CHARACTERS:
            event.stop()
            event.prevent_default()
            if isinstance(self.screen, Modal):
                most = f"at most {MAX_CHARACTERS:,}"
                self.screen.report(
                    f"pasted text of {size:,} characters not inserted: {most} fit here"
                )
            return
        # A terminal sends the line ends of pasted text like its enter key.
        event.text = strip_controls(event.text.replace("\r\n", "\n").replace("\r", "\n"))
        if max(map(len, event.text.split("\n"))) > LONGEST_LINE:
            self.soft_wrap = False


class TextEntry(PlainArea):
    """A text area in which enter sends and ctrl+j breaks the line.

    The app handles these keys before the area has handled the text typed just before them. Their
    effects are therefore queued behind that text.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", show=False, priority=True),
        Binding("ctrl+j", "newline", show=False, priority=True),
    ]

    class Sent(Message):
        """The user pressed enter."""

    def action_send(self) -> None:
        self.post_message(self.Sent())

    def action_newline(self) -> None:
        self.call_later(self.insert, "\n")


class DraftResult(NamedTuple):
    """The result of the dialog; a text that is not sent is the next draft."""

    send: bool
    text: str
    always: bool = False
    """True to send the text with every prompt instead of once."""


class TextDraft(Modal[DraftResult]):
    """Returns whether to send the text, and the text."""

    AUTO_FOCUS = "TextEntry"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "keep", show=False, priority=True)]
    COMMON_KEYS = ()
    SENDS = "send"
    """The label of the enter key."""

    def __init__(self, title: str, draft: str, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(clock)
        self._title, self._draft = title, draft

    def pairs(self) -> Sequence[Pair]:
        keys = (("enter", self.SENDS), ("ctrl+j", "new line"))
        return (*keys, ("esc", "close, keep the text"))

    def parts(self) -> ComposeResult:
        with Vertical(classes="dialog wide"):
            yield Static(Content(self._title), classes="question")
            area = TextEntry(self._draft, show_line_numbers=False, highlight_cursor_line=False)
            area.cursor_blink = False
            area.move_cursor(area.document.end)
            yield area
            yield from self.more()

    def more(self) -> ComposeResult:
        """Yield further widgets below the text."""
        yield from ()

    def on_text_entry_sent(self) -> None:
        """Send the text unless it is empty."""
        text = self.query_one(TextEntry).text.strip()
        self.dismiss(DraftResult(bool(text), text))

    def action_keep(self) -> None:
        """Close, and keep the text for the next time."""
        area = self.query_one(TextEntry)

        def close() -> None:
            self.dismiss(DraftResult(False, area.text))

        area.call_later(close)


class Guide(TextDraft):
    """Guidance for the agent: once, or in every prompt; a run that has ended takes none."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+t", "always", show=False, priority=True)]

    def __init__(
        self,
        draft: str,
        *,
        into_session: Callable[[], bool],
        over: Callable[[], bool] = lambda: False,
        standing: str = "",
        before: Sequence[str] = (),
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`standing` is the instruction in every prompt; `before` has rows on earlier guidance.

        `into_session` and `over` return True while guidance goes into the session, and once the
        run has ended.
        """
        self._into_session, self._over = into_session, over
        super().__init__(self._where(), draft, clock)
        self._standing, self._before = standing, before

    def _where(self) -> str:
        if self._over():
            return "The run has ended and takes no guidance; enter keeps your text in a file"
        where = "into the running session" if self._into_session() else "with the next prompt"
        return f"Guidance for the agent, {where}"

    def on_mount(self) -> None:
        self.set_interval(LOOK_S, self._follow)

    def _follow(self) -> None:
        """Update the title and the keys while the run continues."""
        if self._title != (where := self._where()):
            self._title = where
            self.query_one(".question", Static).update(Content(where))
            self.query_one("#every", Static).display = not self._over()
            self.show_keys()

    def pairs(self) -> Sequence[Pair]:
        if not self._over():
            return super().pairs()
        return [(key, "keep" if key == "enter" else effect) for key, effect in super().pairs()]

    def more(self) -> ComposeResult:
        every = Content.assemble(("ctrl+t", "bold"), " add it to every prompt from now on")
        if self._standing:
            said = clip(one_line(self._standing), 160)
            every = every.append(Content(f" (empty removes it)\nnow in every prompt: {said}"))
        yield Static(every, classes="hint", id="every")
        for row in self._before:
            yield Static(Content(row), classes="hint")

    def action_always(self) -> None:
        """Send the text with every prompt from now on; an empty text ends that."""
        area = self.query_one(TextEntry)

        def send() -> None:
            text = area.text.strip()
            self.dismiss(DraftResult(bool(text or self._standing), text, always=True))

        area.call_later(send)


class EditLearning(TextDraft):
    """New wording for a learning."""

    SENDS = "save"
