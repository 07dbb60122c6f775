"""The evidence behind one entry of the log."""

from collections.abc import Callable
from time import monotonic

from textual.content import Content

from ralph_tui.text.sanitize import clip
from ralph_tui.tui.modals.text_dialog import TextDialog

MOST_CHARACTERS = 20_000


class Detail(TextDialog):
    """Foreign text, shown as it is."""

    def __init__(self, title: str, body: str, clock: Callable[[], float] = monotonic) -> None:
        text = clip(body.expandtabs(4), MOST_CHARACTERS) or "There is nothing more to tell."
        super().__init__(title, [Content(text)], clock)
