"""The runs, a row each; one is selected. However many there are, only those in view are drawn.

Rule: it shows what it is given and reads nothing; a run whose row is not known yet stands there by
its name, and is among what is `wanted`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from textual import events
from textual.message import Message

from ralph_tui.analysis.run_row import RunRow
from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.draw.spans import Line, cells, clip_line, wrap
from ralph_tui.tui.home.columns import line_of, titles

MARK = 2
"""Cells of the sign of the selected row."""
WHEEL = 3
"""Rows that a turn of the wheel moves."""
_EARLIEST = datetime.fromtimestamp(0, UTC)


@dataclass
class Listing:
    """What home knows; it outlives its screen, so that one comes back to where one was."""

    names: Sequence[str] = ()
    """The newest first."""
    rows: dict[str, RunRow] = field(default_factory=dict)
    selected: int = 0
    loaded: bool = False
    """Whether all places where runs are recorded were looked at."""

    @property
    def name(self) -> str | None:
        """Of the selected run."""
        return self.names[self.selected] if self.names else None

    @property
    def row(self) -> RunRow | None:
        """Of the selected run; None while it is not known."""
        return self.rows.get(self.name or "")

    def order(self, found: Sequence[str], eager: int) -> None:
        """The first ones by what their records say, once all these are read; the live ones first.

        `found`: by when they were written to.
        """
        first = found[:eager]
        if all(name in self.rows for name in first):
            first = sorted(first, key=lambda name: _recent(self.rows[name]), reverse=True)
        self.put([*first, *found[eager:]])

    def put(self, names: Sequence[str]) -> None:
        """Other runs, or another order: the same one stays selected; if it is gone, the place."""
        name = self.name
        self.names = names
        if name in names:
            self.selected = names.index(name)
        self.selected = max(0, min(self.selected, len(names) - 1))


def _recent(row: RunRow) -> tuple[bool, datetime]:
    return row.live, row.updated or _EARLIEST


class RunTable(LineWidget):
    """See above."""

    @dataclass
    class Chosen(Message):
        """A run was clicked twice."""

    class Moved(Message):
        """Another run is selected, or others are in view."""

    def __init__(self, listing: Listing) -> None:
        super().__init__(id="runs")
        self.listing = listing
        self.top = 0
        self.now: datetime | None = None
        self._sentence = ""

    @property
    def page(self) -> int:
        """How many runs are in view."""
        return max(1, self.size.height - 1)

    @property
    def in_view(self) -> Sequence[str]:
        """The names of these."""
        return self.listing.names[self.top : self.top + self.page]

    def follow(self, now: datetime, sentence: str = "") -> None:
        """Show what the listing holds now, or a sentence in place of it."""
        self.now, self._sentence = now, sentence
        self._keep_in_view()
        self.repaint()

    def move(self, by: int) -> bool:
        """Select another run; whether there is one that way."""
        before = self.listing.selected
        last = len(self.listing.names) - 1
        self.listing.selected = max(0, min(before + by, last))
        self._keep_in_view()
        self.post_message(self.Moved())  # who hears it follows
        return self.listing.selected != before

    def _keep_in_view(self) -> None:
        selected, room = self.listing.selected, self.page
        self.top = max(min(self.top, selected), selected - room + 1)
        self.top = max(0, min(self.top, len(self.listing.names) - room))

    def line(self, y: int, width: int) -> Line:
        """See `LineWidget`."""
        if self._sentence or self.now is None:
            rows = wrap(self._sentence, max(1, width - 2 * MARK), max(1, self.size.height))
            return [("  ", ""), (rows[y - 1], "text")] if 0 < y <= len(rows) else []
        room = width - MARK - 1
        if y == 0:
            return [(" " * MARK, ""), *titles(room)]
        index = self.top + y - 1
        if index >= len(self.listing.names):
            return []
        name, here = self.listing.names[index], index == self.listing.selected
        row = self.listing.rows.get(name)
        spans: Line = [(name, "dim")] if row is None else line_of(row, self.now, room)
        spans = [("▸ " if here else "  ", "accent"), *clip_line(spans, room)]
        if here:
            spans = [(text, f"{style} cursor".strip()) for text, style in spans]
            spans.append((" " * max(0, width - cells(spans)), "cursor"))
        return spans

    def on_resize(self, event: events.Resize) -> None:
        """Others come into view."""
        self._keep_in_view()
        self.post_message(self.Moved())

    def on_click(self, event: events.Click) -> None:
        """Select what was clicked; a second click opens it."""
        index = self.top + event.y - 1
        if event.y and index < len(self.listing.names) and not self._sentence:
            self.move(index - self.listing.selected)
            if event.chain > 1:
                self.post_message(self.Chosen())

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel selects."""
        event.stop()
        self.move(WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel selects."""
        event.stop()
        self.move(-WHEEL)
