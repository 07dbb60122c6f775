"""The frame of the question dialog: fixed parts, with a scrolling part between them.

Rule: reason, measurements, answers and countdown stay in view. If there is no room for them,
everything scrolls.
"""

from collections.abc import Callable
from typing import cast

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from ralph_tui.events.waiting import Takes
from ralph_tui.text.sanitize import plain
from ralph_tui.tui.draw.spans import Line
from ralph_tui.tui.modals.guide import LONGEST_LINE, TextEntry
from ralph_tui.tui.modals.modal import Modal
from ralph_tui.tui.modals.question_evidence import MAX_ROWS
from ralph_tui.tui.modals.question_rows import EDITING, MORE
from ralph_tui.tui.modals.scroll_text import ScrollText

MIN_EDITED, MAX_EDITED = 4, 14
"""Minimum and maximum height of the editor in rows, including its frame."""


class Editor(TextEntry):
    """Takes words, instructions or amounts; hidden until `begin`."""

    def __init__(self) -> None:
        super().__init__(show_line_numbers=False, highlight_cursor_line=False)
        self.cursor_blink = False
        self.display = False
        self.takes: Takes = "nothing"
        """The kind of input being written."""

    def begin(self, takes: Takes, text: str) -> None:
        """Show this text for editing."""
        self.takes = takes
        self.soft_wrap = max(map(len, text.split("\n"))) <= LONGEST_LINE
        self.text = text
        self.border_title = Content(f" {EDITING[takes][0]} ")
        self.move_cursor(self.document.end)
        self.display = True

    def end(self) -> None:
        self.takes, self.display = "nothing", False

    @property
    def written(self) -> str:
        """The text without control characters, ready to leave the screen."""
        return plain(self.text).strip()

    def place(self, left: int, body: int) -> int:
        """Set the editor's height, and return the rows that it takes.

        `left` is the number of rows available; `body` is the number of rows that the body needs.
        """
        rows = 0
        if self.takes in MORE:
            rows = 3
        elif self.takes != "nothing":
            rows = max(
                MIN_EDITED, min(MAX_EDITED, left - min(body, 3)), min(left - body, left // 2)
            )
        self.styles.height = rows or 3
        return rows


WIDEST = 100
"""Maximum width in cells; longer rows are hard to read."""
FRAMED_ROWS, FRAME_CELLS = 12, 4
"""Minimum number of rows for a frame, and the cells that a frame and its margin take."""
READ_ROWS = 5
"""Minimum number of rows left for reading; with fewer, the answers are shortened."""
REASON_ROWS, TALL_ROWS = 4, 16
"""Maximum height of the reason, if the dialog has at least `TALL_ROWS` rows; otherwise two rows."""
SCROLLING = (
    *(("up", "roll(-1)"), ("down", "roll(1)"), ("pageup", "page(-1)"), ("pagedown", "page(1)")),
    *(("home", "roll(-1000000)"), ("end", "roll(1000000)")),
)
"""Keys that scroll the body, and their actions."""


class Sheet(Vertical):
    """Three texts and an editor, one below the other."""

    def __init__(self) -> None:
        super().__init__(id="question-dialog", classes="dialog")
        self.why, self.body = ScrollText("why"), ScrollText("body")
        self.editor, self.foot = Editor(), ScrollText("foot")
        self.room = (0, 0)
        """Columns and rows available for all texts."""
        self.scrolls = self.flows = False
        """`scrolls`: the body does not fit; `flows`: nor does the rest, so everything scrolls."""

    def compose(self) -> ComposeResult:
        yield self.why
        yield self.body
        yield self.editor
        yield self.foot

    def measure(self) -> tuple[int, int]:
        """Fit into the terminal; return the columns and rows left for texts."""
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
        """Show the reason, the body and the answers.

        `content` receives the maximum number of rows for the reason, and returns reason and body.
        `foot` returns the answers, in full if its argument is true.
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
            # Everything scrolls, so show the reason once and uncut.
            why, body = content(MAX_ROWS)
            why, body, answers, left = [], [*why, *body, *foot(True)], [], height
        editor = self.editor.place(left, len(body))
        spare = left - editor - len(body)
        if spare > 0 and answers and not edits:
            answers = [[], *answers]
        if spare > 1 and why and body:
            why = [*why, []]
        shown = max(0, min(len(body), height - len(why) - len(answers) - editor))
        self.why.show(why, len(why))
        self.body.show(body, shown)
        self.foot.show(answers, len(answers))
        self.scrolls = shown < len(body)

    def show_last(self, row: Line) -> None:
        """Redraw the last row of the answers."""
        self.foot.show([*self.foot.rows[:-1], row], len(self.foot.rows))
