"""The card of a learning: everything known about it, and the changes that the user can make."""

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
from ralph_tui.tui.modals.scroll_text import ReadDialog, ScrollText
from ralph_tui.tui.panes.learning_rows import card_rows

WIDEST = 76
AROUND = 6
"""Cells taken by the frame, padding and margin."""
ABOVE = 2
"""Rows taken by the frame."""


class LearningCard(ReadDialog[Change]):
    """Passes on requested changes; stays open and follows what the run records."""

    CHANGES: ClassVar[dict[str, str]] = {"*": "pin", "m": "mute", "e": "edit", "x": "delete"}

    def __init__(
        self,
        seen: SeenLearning,
        iteration: int | None,
        wish: Callable[[Change], None],
        read_only: str = "",
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`wish` receives a requested change; `read_only` says why nothing can be changed here."""
        super().__init__("learning-text", clock)
        self.seen, self.iteration, self.read_only = seen, iteration, read_only
        self._request = wish
        self._answer: tuple[str, str] = ("", "")
        self.foot = ScrollText("learning-foot")

    def parts(self) -> ComposeResult:
        with Vertical(classes="dialog", id="learning-card"):
            yield self.text
            yield self.foot

    def on_mount(self) -> None:
        super().on_mount()
        frame = self.query_one("#learning-card")
        frame.border_title = Content(f" learning: {self.seen.learning.type_word} ")

    def show(self, seen: SeenLearning, iteration: int | None, read_only: str) -> None:
        """Show the learning as now recorded."""
        self.seen, self.iteration, self.read_only = seen, iteration, read_only
        self.lay()

    def answer(self, words: str, style: str) -> None:
        """Show the result of a change."""
        self._answer = (words, style)
        self.lay()

    def lay(self) -> None:
        """Draw the card, keeping the scroll position."""
        columns, rows = self.room
        width = max(20, min(WIDEST, columns) - AROUND - ScrollText.EDGE)
        foot = self._result_rows(width)
        self.query_one("#learning-card").styles.width = min(WIDEST, columns)
        lines = card_rows(self.seen, self.iteration, width)
        self.foot.show(foot, len(foot))
        self.text.show(lines, max(1, min(len(lines), rows - ABOVE - len(foot))))
        self.show_keys()

    def _result_rows(self, width: int) -> list[Line]:
        words, style = self._answer
        if not words and self.read_only:
            words, style = self.read_only, "dim"
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
        return (*([] if self.read_only else changes), *scroll, ("esc", "close"))

    def accept_key(self, event: events.Key) -> bool:
        """Request a change, or show why it is not possible here."""
        named = self.CHANGES.get(key_name(event))
        if named is None:
            return False
        if self.read_only:
            self.answer(f"{key_name(event)} {named}: {self.read_only}", "warn")
            return True
        learning = self.seen.learning
        changes: dict[str, Change] = {
            "pin": "unpin" if learning.pinned else "pin",
            "mute": "unmute" if learning.muted else "mute",
            "edit": "edit",
            "delete": "delete",
        }
        self._request(changes[named])
        return True
