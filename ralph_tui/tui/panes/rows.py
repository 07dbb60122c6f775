"""A pane with a great many entries, of which only the visible ones are drawn.

Rule: entries, which may have several rows, are read from the state without copying; the pane stores
one number per entry. Entries may disappear at the start while new ones arrive at the end.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from ralph_tui.tui.draw.spans import Line, cells
from ralph_tui.tui.panes.pane import Pane, or_report


class RowsPane(Pane):
    """Follows its end until the user scrolls up; entries can be selected and opened."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "open", show=False)]

    def __init__(self) -> None:
        super().__init__()
        self.following = True
        self.selected: int | None = None
        """Absolute number of the selected entry."""
        self.unseen = 0
        self._first = 0
        """Absolute number of the first stored entry."""
        self._ends: list[int] = []
        """For each entry, the absolute number of the row after its last."""
        self._base = 0
        """Absolute number of the first row."""
        self._width = 0
        self._seen_state: object = None
        self._drawn: dict[int, list[Line]] = {}

    def entries(self) -> Sequence[Any]:
        """Return the stored entries, oldest first."""
        raise NotImplementedError

    def dropped(self) -> int:
        """Return how many entries the state has dropped at the start."""
        return 0

    def height_of(self, entry: Any, number: int, width: int) -> int:
        """Return the rows of an entry at this width; at least one."""
        return len(self.rows_of(entry, number, width))

    def rows_of(self, entry: Any, number: int, width: int) -> list[Line]:
        """Draw an entry."""
        raise NotImplementedError

    def open(self, entry: Any, number: int) -> None:
        """Show more of an entry; called when the user opens it."""

    # bookkeeping ------------------------------------------------------------------------------

    def changed(self) -> None:
        known = len(self._ends) + self._first
        if self._seen_state is not self.state or self.dropped() > known or not self._width:
            self._recount()
        else:
            self._drop(self.dropped() - self._first)
            self._extend(self._width)
        arrived = len(self._ends) + self._first - known
        self.unseen = 0 if self.following else self.unseen + max(0, arrived)
        self._drawn.clear()

    def _recount(self) -> None:
        """Measure everything again after the state or width has changed."""
        if self._seen_state is not None and self._seen_state is not self.state:
            self.selected, self.following, self.unseen = None, True, 0
        self._seen_state = self.state
        self._first, self._base, self._ends = self.dropped(), 0, []
        self._width = self.inner_width
        self._extend(self._width)
        self._drawn.clear()

    def _extend(self, width: int) -> None:
        entries = self.entries()
        end = self._ends[-1] if self._ends else self._base
        for index in range(len(self._ends), len(entries)):
            end += self.height_of(entries[index], self._first + index, width)
            self._ends.append(end)

    def _drop(self, number: int) -> None:
        """Drop entries at the start without moving the view."""
        if number <= 0:
            return
        rows = self._ends[number - 1] - self._base
        del self._ends[:number]
        self._first += number
        self._base += rows
        self.top = max(0, self.top - rows)
        if self.selected is not None and self.selected < self._first:
            self.selected = self._first

    @property
    def last(self) -> int:
        """Absolute number of the last entry; if there are none, one less than the first number."""
        return self._first + len(self._ends) - 1

    def row_count(self, width: int, height: int) -> int:
        if width != self._width:
            self._recount()
        count = self._ends[-1] - self._base if self._ends else 0
        if self.following:
            self.top = max(0, count - height)
        return count

    def row(self, index: int, width: int, height: int) -> Line:
        at = bisect_right(self._ends, index + self._base)
        number = self._first + at
        rows = self._drawn.get(number)
        if rows is None:
            rows = self._drawn[number] = self.rows_of(self.entries()[at], number, width)
        start = (self._ends[at - 1] if at else self._base) - self._base
        inside = index - start
        spans = rows[inside] if inside < len(rows) else []
        if number == self.selected and self.lit:
            spans = [(text, f"{style} cursor".strip()) for text, style in spans]
            spans.append((" " * max(0, width - cells(spans)), "cursor"))
        return spans

    # moving -----------------------------------------------------------------------------------

    def select(self, number: int) -> None:
        """Select an entry and scroll it into view; selecting the last one resumes following."""
        number = max(self._first, min(number, self.last))
        self.selected = number if self._ends else None
        self.following = number >= self.last
        if self.following:
            self.unseen = 0
        elif self._ends:
            at = number - self._first
            start = (self._ends[at - 1] if at else self._base) - self._base
            end = self._ends[at] - self._base
            self.top = min(start, max(self.top, end - self.inner_height))
        self._drawn.clear()
        self.repaint()

    def scroll_rows(self, by: int) -> None:
        count = self.row_count(self.inner_width, self.inner_height)
        bottom = max(0, count - self.inner_height)
        self.top = max(0, min(self.top + by, bottom))
        self.following = self.top >= bottom
        if self.following:
            self.unseen = 0
        self.repaint()

    @property
    def view_state(self) -> object:
        return (self.top, self.selected, self.following)

    @or_report
    def action_move(self, by: int) -> None:
        start = self.last + (1 if by < 0 and self.selected is None else 0)
        self.select((self.selected if self.selected is not None else start) + by)

    @or_report
    def action_page(self, by: int) -> None:
        self.scroll_rows(by * max(1, self.inner_height - 1))
        if self._ends:
            at = bisect_right(self._ends, self.top + self._base)
            self.selected = self.last if self.following else self._first + at
        self._drawn.clear()

    @or_report
    def action_edge(self, to: int) -> None:
        self.select(self.last if to > 0 else self._first)

    def action_open(self) -> None:
        """Open the selected entry, or the last one."""
        if not self._ends:
            self.post_message(self.NoEffect("nothing to open"))
            return
        number = self.selected if self.selected is not None else self.last
        self.selected = number
        self.open(self.entries()[number - self._first], number)

    def clicked(self, row: int, cell: int) -> None:
        """Select the clicked entry, or open it if it is already selected."""
        number = self._first + bisect_right(self._ends, row + self._base)
        if number > self.last:
            return
        if number == self.selected:
            self.action_open()
            return
        top, following = self.top, self.following
        self.select(number)
        self.top, self.following = top, following and number >= self.last
