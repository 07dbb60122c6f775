"""The card of a learning: all that is known of it, and what its owner may do about it."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from ralph_tui.events.memory import Change
from ralph_tui.state import SeenLearning
from ralph_tui.tui.draw.spans import Line, wrap
from ralph_tui.tui.modals.modal import Pair, key_name
from ralph_tui.tui.modals.scroll_text import Reading, ScrollText
from ralph_tui.tui.panes.learning_rows import card_rows

WIDEST = 76
AROUND = 6
"""Cells of frame, padding and margin beside the rows."""
ABOVE = 2
"""Rows of the frame."""


class LearningCard(Reading[Change]):
    """Answers what is wished; it stays until it is closed, and follows what the run records."""

    CHANGES: ClassVar[dict[str, str]] = {"*": "pin", "m": "mute", "e": "edit", "x": "delete"}

    def __init__(
        self,
        seen: SeenLearning,
        iteration: int | None,
        wish: Callable[[Change], None],
        reading: str = "",
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`wish` takes a change that is asked for; `reading`: why nothing can be changed here."""
        super().__init__("learning-text", clock)
        self.seen, self.iteration, self.reading = seen, iteration, reading
        self._wish = wish
        self._answer: tuple[str, str] = ("", "")
        self.foot = ScrollText("learning-foot")

    def parts(self) -> ComposeResult:
        """What is known, and the answer to the last wish."""
        with Vertical(classes="dialog", id="learning-card"):
            yield self.text
            yield self.foot

    def on_mount(self) -> None:
        """Begin."""
        super().on_mount()
        frame = self.query_one("#learning-card")
        frame.border_title = Content(f" learning: {self.seen.learning.type_word} ")

    def show(self, seen: SeenLearning, iteration: int | None, reading: str) -> None:
        """What is recorded by now."""
        self.seen, self.iteration, self.reading = seen, iteration, reading
        self.lay()

    def answer(self, words: str, style: str) -> None:
        """What came of a wish."""
        self._answer = (words, style)
        self.lay()

    def lay(self) -> None:
        """See `Reading`; the view stays where it is."""
        columns, rows = self.room
        width = max(20, min(WIDEST, columns) - AROUND - ScrollText.EDGE)
        foot = self._told(width)
        self.query_one("#learning-card").styles.width = min(WIDEST, columns)
        told = card_rows(self.seen, self.iteration, width)
        self.foot.show(foot, len(foot))
        self.text.show(told, max(1, min(len(told), rows - ABOVE - len(foot))))
        self.show_keys()

    def _told(self, width: int) -> list[Line]:
        words, style = self._answer
        if not words and self.reading:
            words, style = self.reading, "dim"
        return [[], *([[(piece, style)] for piece in wrap(words, width, 3)] if words else [])]

    def pairs(self) -> Sequence[Pair]:
        learning = self.seen.learning
        changes = [
            ("*", "unpin" if learning.pinned else "pin"),
            ("m", "unmute" if learning.muted else "mute"),
            ("e", "edit"),
            ("x", "delete"),
        ]
        scroll = [("↑", ""), ("↓", "scroll")] if self.text.hidden else []
        return (*([] if self.reading else changes), *scroll, ("esc", "close"))

    def take_key(self, event: events.Key) -> bool:
        """See `Modal`: a wish, or why it cannot be one here."""
        named = self.CHANGES.get(key_name(event))
        if named is None:
            return False
        if self.reading:
            self.answer(f"{key_name(event)} {named}: {self.reading}", "warn")
            return True
        learning = self.seen.learning
        changes: dict[str, Change] = {
            "pin": "unpin" if learning.pinned else "pin",
            "mute": "unmute" if learning.muted else "mute",
            "edit": "edit",
            "delete": "delete",
        }
        self._wish(changes[named])
        return True
