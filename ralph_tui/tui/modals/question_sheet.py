"""The frame of the question dialog: what stays in view, and what scrolls between it.

Rule: reason, readings, answers and countdown stay in view; where there is no room for that, all of
it scrolls.
"""

from collections.abc import Callable
from typing import cast

from textual.app import ComposeResult
from textual.containers import Vertical

from ralph_tui.tui.draw.spans import Line
from ralph_tui.tui.modals.editor import Editor
from ralph_tui.tui.modals.modal import Modal
from ralph_tui.tui.modals.question_evidence import MOST_ROWS
from ralph_tui.tui.modals.scroll_text import ScrollText

WIDEST = 100
"""Cells: longer rows are hard to read."""
FRAMED_ROWS, FRAME_CELLS = 12, 4
"""In fewer rows there is no frame; it takes these cells with its margin."""
READ_ROWS = 5
"""What must be left to read, if each answer is to say all that it does."""
REASON_ROWS, TALL_ROWS = 4, 16
"""At most so many rows tell the reason, where there are so many in all; else two."""
SCROLLING = (
    *(("up", "roll(-1)"), ("down", "roll(1)"), ("pageup", "page(-1)"), ("pagedown", "page(1)")),
    *(("home", "roll(-1000000)"), ("end", "roll(1000000)")),
)
"""Keys by which the body is read, and what they do."""


class Sheet(Vertical):
    """Three texts and an editor, one below the other."""

    def __init__(self) -> None:
        super().__init__(id="question-dialog", classes="dialog")
        self.why, self.told = ScrollText("why"), ScrollText("told")
        self.editor, self.foot = Editor(), ScrollText("foot")
        self.room = (0, 0)
        """Cells and rows for all texts."""
        self.scrolls = self.flows = False
        """There is more to read than is in view; there is no room for anything to stay there."""

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield self.why
        yield self.told
        yield self.editor
        yield self.foot

    def measure(self) -> tuple[int, int]:
        """Fit into the terminal; the room that is left for texts."""
        columns, rows = cast("Modal[object]", self.screen).room
        framed = rows >= FRAMED_ROWS
        self.set_class(not framed, "-bare")
        width = min(columns, WIDEST)
        self.styles.width = width
        width = max(8, width - (FRAME_CELLS if framed else 0) - ScrollText.EDGE)
        self.room = (width, max(1, rows - (2 if framed else 0)))
        return self.room

    def place(
        self,
        content: Callable[[int], tuple[list[Line], list[Line]]],
        foot: Callable[[bool], list[Line]],
        *,
        edits: bool,
    ) -> None:
        """Show `content`, whose reason takes at most so many rows, and the answers.

        `foot` gives the answers, each with all that it does, or in short.
        """
        height = self.room[1]
        why, body = content(REASON_ROWS if height >= TALL_ROWS else 2)
        answers = foot(True)
        left = height - len(why)
        if left - len(answers) < min(len(body), READ_ROWS):
            answers = foot(False)
        left -= len(answers)
        self.flows = left < 1 and not edits
        if self.flows:
            # Where nothing stays in view, nothing is said twice: the reason is not cut.
            why, body = content(MOST_ROWS)
            why, body, answers, left = [], [*why, *body, *foot(True)], [], height
        editor = self.editor.place(left, len(body))
        spare = left - editor - len(body)
        if spare > 0 and answers and not edits:
            answers = [[], *answers]
        if spare > 1 and why and body:
            why = [*why, []]
        shown = max(0, min(len(body), height - len(why) - len(answers) - editor))
        self.why.show(why, len(why))
        self.told.show(body, shown)
        self.foot.show(answers, len(answers))
        self.scrolls = shown < len(body)

    def show_last(self, row: Line) -> None:
        """Draw the last row of the answers anew."""
        self.foot.show([*self.foot.rows[:-1], row], len(self.foot.rows))
