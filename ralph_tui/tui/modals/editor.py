"""The editor inside the question dialog: words, instructions, or how much more."""

from textual.content import Content

from ralph_tui.events.waiting import Takes
from ralph_tui.text.sanitize import plain
from ralph_tui.tui.modals.guide import LONGEST_LINE, TextEntry
from ralph_tui.tui.modals.question_rows import EDITING, MORE

LEAST_ROWS, MOST_ROWS = 4, 14
"""With its frame."""


class Editor(TextEntry):
    """Not in view until it begins."""

    def __init__(self) -> None:
        super().__init__(show_line_numbers=False, highlight_cursor_line=False)
        self.cursor_blink = False
        self.display = False
        self.takes: Takes = "nothing"
        """What is being written."""

    def begin(self, takes: Takes, text: str) -> None:
        """Offer this text for editing."""
        self.takes = takes
        self.soft_wrap = max(map(len, text.split("\n"))) <= LONGEST_LINE
        self.text = text
        self.border_title = Content(f" {EDITING[takes][0]} ")
        self.move_cursor(self.document.end)
        self.display = True

    def end(self) -> None:
        """Out of view again."""
        self.takes, self.display = "nothing", False

    @property
    def written(self) -> str:
        """The text as it may leave the screen."""
        return plain(self.text).strip()

    def place(self, left: int, body: int) -> int:
        """Take some of the rows that are `left` beside a body of this many; how many it took."""
        rows = 0
        if self.takes in MORE:
            rows = 3
        elif self.takes != "nothing":
            rows = max(LEAST_ROWS, min(MOST_ROWS, left - min(body, 3)), min(left - body, left // 2))
        self.styles.height = rows or 3
        return rows
