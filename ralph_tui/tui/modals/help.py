"""The full-screen help: keys and signs by task, each on its own line."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from time import monotonic
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content

from ralph_tui.text.terms import Term
from ralph_tui.tui.draw.spans import Line, cells, clip_line, wrap
from ralph_tui.tui.modals.modal import Pair
from ralph_tui.tui.modals.scroll_text import ReadDialog, ScrollText

LEFT, RIGHT, GAP = 8, 27, 2
"""Width in cells of a key, of its explanation, and of the gap between columns."""
LEAST = LEFT + 1 + RIGHT
"""Column width, in cells, below which text that does not fit beside its key goes below it."""
FRAME = 4
"""Number of cells in each row that the frame and its margin take."""

AT_WORK = ("starting", "agent", "thinking", "verifying", "limited", "paused")
"""Phases of an unfinished run."""
Block = tuple[str, Sequence[tuple[str, str]]]
"""A heading, and the rows below it."""


def by_sign(terms: Iterable[Term]) -> Iterator[tuple[str, str]]:
    """Return a row for each sign, with all of its meanings."""
    words: dict[str, list[str]] = {}
    for term in terms:
        words.setdefault(term.glyph, []).append(term.word)
    return ((glyph, " or ".join(dict.fromkeys(named))) for glyph, named in words.items())


def _rows(block: Block, size: int) -> list[Line]:
    title, pairs = block
    lines: list[Line] = [[(title, "accent strong")]]
    for key, words in pairs:
        if size >= LEAST or LEFT + 1 + len(words) <= size:
            lines.append([(f"{key:<{LEFT}} ", "key"), (words, "text")])
        else:
            lines += [[(key, "key")], *([("  " + row, "text")] for row in wrap(words, size - 2, 9))]
    return lines


def _stack(drawn: Sequence[list[Line]], most: int) -> list[list[Line]]:
    """Stack the blocks in columns of at most `most` rows; a longer block has its own column."""
    sides: list[list[Line]] = []
    for rows in drawn:
        if sides and len(sides[-1]) + 1 + len(rows) <= most:
            sides[-1] += [[], *rows]
        else:
            sides.append(list(rows))
    return sides


def columns(blocks: Sequence[Block], width: int) -> list[Line]:
    """Return the blocks in up to three columns of about equal length."""
    number = max(1, min(3, (width + GAP) // (LEFT + RIGHT + GAP + 1)))
    size = (width + GAP) // number - GAP
    drawn = [_rows(block, size) for block in blocks]
    sides = next(sides for most in count(1) if len(sides := _stack(drawn, most)) <= number)
    beside: list[Line] = []
    for row in range(max(map(len, sides))):
        line: Line = []
        for index, side in enumerate(sides):
            spans = clip_line(side[row], size) if row < len(side) else []
            gap = GAP if index < len(sides) - 1 else 0
            line += [*spans, (" " * (size - cells(spans) + gap), "")]
        beside.append(line)
    return beside


class Help(ReadDialog[None]):
    """Fills the screen, and scrolls if that is not enough."""

    COMMON_KEYS = (("q", "leave"),)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("question_mark,f1", "close", show=False)]

    def __init__(self, blocks: Sequence[Block], clock: Callable[[], float] = monotonic) -> None:
        super().__init__("help-text", clock)
        self._blocks = blocks

    def parts(self) -> ComposeResult:
        with Vertical(id="help", classes="dialog"):
            yield self.text

    def pairs(self) -> Sequence[Pair]:
        return (("↑", ""), ("↓", "scroll"), ("esc", "close"))

    def lay(self) -> None:
        self.query_one("#help").border_title = Content(" help ")
        wide, high = self.room
        self.text.show(
            columns(self._blocks, max(8, wide - FRAME - ScrollText.EDGE)), max(1, high - 2)
        )
