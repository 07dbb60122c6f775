"""A viewer for a run's report: its Markdown without the markup.

Rule: `analysis/report` writes the report; this file handles only the markup used there.
"""

import re
from collections.abc import Callable, Sequence
from itertools import zip_longest
from time import monotonic

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from ralph_tui.tui.draw.spans import Line, clip, wrap
from ralph_tui.tui.modals.modal import Pair
from ralph_tui.tui.modals.scroll_text import ReadDialog, ScrollText

WIDEST = 110
"""Maximum width in cells; longer rows are hard to read."""
FRAME, BESIDE = 6, 2
"""Cells that the frame and its padding take, and rows that the frame takes."""
LONGEST = 200
"""Maximum number of rows for one line."""
ROOM = 8
"""Minimum number of cells for text after an indent."""
_MARKS = re.compile(r"\\([^\w\s]|_)|(`+)( ?)(.+?)\3\2|(&#124;)|\*\*|\\$")
"""Markup to remove; escaped characters and the content of code spans stay."""
_CELLS = re.compile(r"(?<!\\)\|")
_INDENT = re.compile(r"\s*(?:[-*>]|\d+\.)\s+")
"""The marker of a list item or a quote."""


class Report(ReadDialog[None]):
    """The report; `E` writes it to a file, `y` copies the file's path."""

    COMMON_KEYS = (("q", "leave"),)

    def __init__(
        self, page: str, write: Callable[[], None], clock: Callable[[], float] = monotonic
    ) -> None:
        """`write` writes the report, and reports to `answer`."""
        super().__init__("report-text", clock)
        self._page = page.splitlines()
        self._write = write
        self._said: list[tuple[str, str]] = []
        self._path = ""

    def answer(self, words: str, style: str, path: str = "") -> None:
        """Show the result of writing; `path` is the file."""
        self._said, self._path = [(words, style), (path, "accent")], path
        self.text.top = 0
        if self.is_mounted:
            self.lay()

    def parts(self) -> ComposeResult:
        with Vertical(id="report", classes="dialog reading"):
            yield self.text

    def pairs(self) -> Sequence[Pair]:
        copy = [("y", "copy its path")] if self._path else []
        scroll = (("↑", ""), ("↓", "scroll"))
        return (*scroll, ("E", "export"), *copy, ("esc", "close"))

    def accept_key(self, event: events.Key) -> bool:
        if event.key == "E":
            self._write()
        elif event.key == "y" and self._path:
            self.app.copy_to_clipboard(self._path)
            self.report("copied")
        else:
            return False
        return True

    def lay(self) -> None:
        columns, rows = self.room
        frame = self.query_one("#report")
        frame.border_title = Content(" report ")
        frame.styles.width = min(columns, WIDEST)
        width = max(8, min(columns, WIDEST) - FRAME - ScrollText.EDGE)
        said = [(row, style) for words, style in self._said for row in wrap(words, width, LONGEST)]
        lines: list[Line] = [[span] for span in said if span[0]]
        lines += [[], *without_marks(self._page, width)]
        self.text.show(lines, max(1, min(len(lines), rows - BESIDE)))
        self.show_keys()


def without_marks(page: Sequence[str], width: int) -> list[Line]:
    """Return the lines of a report as rows of at most `width` cells."""
    lines: list[Line] = []
    table: list[list[str]] = []
    fenced = False
    for line in page:
        if table and not line.startswith("|"):
            lines += _columns(table, width)
            table = []
        if line.startswith("```"):
            fenced = not fenced
        elif fenced:
            lines.append([(clip(line, width), "text")])
        elif line.startswith("|"):
            table.append([_plain(cell.strip()) for cell in _CELLS.split(line)[1:-1]])
        elif line or (lines and lines[-1]):
            lines += _rows(line, width)
    return lines + _columns(table, width)


def _rows(line: str, width: int) -> list[Line]:
    if line.startswith("#"):
        return [[(row, "accent strong")] for row in wrap(_plain(line.lstrip("# ")), width, LONGEST)]
    marked = _INDENT.match(line)
    indent = marked.end() if marked and marked.end() + ROOM <= width else 0
    if not line.strip():
        return [[]]
    first, rest = line[:indent], wrap(_plain(line[indent:]), width - indent, LONGEST)
    return [[(f"{' ' * indent if at else first}{row}", "text")] for at, row in enumerate(rest)]


def _columns(table: Sequence[Sequence[str]], width: int) -> list[Line]:
    """Return the rows of a table, aligned by its delimiter row; empty if there is no table."""
    if len(table) < 2:
        return []
    head, sides, *rest = table
    body = [head, *rest]
    rooms = [max(map(cell_len, column)) for column in zip_longest(*body, fillvalue="")]
    rows = []
    for cells in body:
        padded = [
            blank + cell if side.endswith(":") else cell + blank
            for cell, room, side in zip_longest(cells, rooms, sides, fillvalue="")
            for blank in [" " * (int(room or 0) - cell_len(cell))]
        ]
        rows.append(clip("  ".join(padded).rstrip(), width))
    return [[(row, "dim" if at == 0 else "text")] for at, row in enumerate(rows)]


def _plain(text: str) -> str:
    return _MARKS.sub(lambda found: found[1] or found[4] or ("|" if found[5] else ""), text)
