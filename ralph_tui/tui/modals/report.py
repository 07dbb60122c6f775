"""The report of a run, to read; Markdown as it stands, with its headings set apart."""

import re
from collections.abc import Callable, Sequence
from time import monotonic

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from ralph_tui.tui.draw.spans import Line, wrap
from ralph_tui.tui.modals.modal import Pair
from ralph_tui.tui.modals.reading import Reading
from ralph_tui.tui.modals.scroll_text import ScrollText

WIDEST = 110
"""Cells: longer rows are hard to read."""
FRAME, BESIDE = 4, 3
"""Cells of the frame with its margin; rows of the frame and the keys."""
LONGEST = 200
"""Rows of one line."""
_ESCAPED = re.compile(r"\\([^\w\s])")


class Report(Reading[None]):
    """`e` writes it into a file; `y` copies where that is."""

    HELPS = (("q", "leave"),)

    def __init__(
        self, page: str, write: Callable[[], None], clock: Callable[[], float] = monotonic
    ) -> None:
        """`write` writes it, and says where."""
        super().__init__("report-text", clock)
        self._lines = [_ESCAPED.sub(r"\1", line) for line in page.splitlines()]
        self._write = write
        self._said: list[tuple[str, str]] = []
        self._path = ""

    def answer(self, words: str, style: str, path: str = "") -> None:
        """What came of writing it; `path`: where it is."""
        self._said, self._path = [(words, style), (path, "accent")], path
        self.text.top = 0
        if self.is_mounted:
            self.lay()

    def parts(self) -> ComposeResult:
        """One text in a frame."""
        with Vertical(id="report", classes="dialog"):
            yield self.text

    def pairs(self) -> Sequence[Pair]:
        """See `Modal`."""
        copy = [("y", "copy its path")] if self._path else []
        scroll = (("↑", ""), ("↓", "scroll"))
        return (*scroll, ("e", "write it into a file"), *copy, ("esc", "close"))

    def take_key(self, event: events.Key) -> bool:
        """See `Modal`."""
        if event.key == "e":
            self._write()
        elif event.key == "y" and self._path:
            self.app.copy_to_clipboard(self._path)
            self.tell("copied")
        else:
            return False
        return True

    def lay(self) -> None:
        """See `Reading`."""
        columns, rows = self.app.size
        frame = self.query_one("#report")
        frame.border_title = Content(" report ")
        frame.styles.width = min(columns, WIDEST)
        width = max(8, min(columns, WIDEST) - FRAME - ScrollText.EDGE)
        said = [(row, style) for words, style in self._said for row in wrap(words, width, LONGEST)]
        told: list[Line] = [[span] for span in said if span[0]]
        told += [[], *(row for line in self._lines for row in _rows(line, width))]
        self.text.show(told, max(1, min(len(told), rows - BESIDE)))
        self.show_keys()


def _rows(line: str, width: int) -> list[Line]:
    heading = line.startswith("#")
    words = line.lstrip("# ") if heading else line
    return [[(row, "accent strong" if heading else "text")] for row in wrap(words, width, LONGEST)]
