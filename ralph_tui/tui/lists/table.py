"""A list with a selected row, and its columns for each width.

Rules: only visible rows are drawn, without reading any files, however long the list is. Column
titles and widths depend only on the screen's width, so nothing moves. A table uses the richest
column set that leaves enough room for its flexible column.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Generic, Protocol, TypeVar

from textual import events
from textual.message import Message

from ralph_tui.text.format import percent
from ralph_tui.text.terms import ROLLED_BACK, Term
from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.draw.spans import Line, cells, clip, clip_line, flat, wrap
from ralph_tui.tui.draw.words import spark

R = TypeVar("R")
"""Content of a row."""

Cell = Callable[[R, datetime, int], Line]
"""Draws a cell of a row at a given width."""

CLOSE = 96
"""Minimum width at which two blanks separate columns; in narrower tables, one does."""
MARK = 2
"""Width of the selection mark in cells."""

# columns ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Column(Generic[R]):
    """One column, with a dim title above it."""

    title: str
    width: int
    """Width in cells; 0 means the remaining space."""
    cell: Cell[R]
    right: bool = False
    """True to align right, as for numbers."""


@dataclass(frozen=True)
class ColumnSets(Generic[R]):
    """Sets of columns, from the richest to the poorest."""

    sets: Sequence[Sequence[Column[R]]]
    room: Sequence[int]
    """For each set, the minimum width of its flexible column in cells."""

    def at(self, width: int) -> list[tuple[Column[R], int]]:
        """Return the columns, each with its width in cells."""
        for chosen, room in zip(self.sets, self.room, strict=True):
            rest = width - sum(each.width for each in chosen) - _gap(width) * (len(chosen) - 1)
            if rest >= room:
                break
        return [(each, each.width or max(0, rest)) for each in chosen]

    def titles(self, width: int) -> Line:
        """Return the row of titles."""
        named = [(each, room, [(clip(each.title, room), "title")]) for each, room in self.at(width)]
        return _join_cells(named, _gap(width))

    def line_of(self, row: R, now: datetime, width: int) -> Line:
        """Draw a row in its columns."""
        columns = [(each, room, each.cell(row, now, room)) for each, room in self.at(width)]
        return _join_cells(columns, _gap(width))


def _gap(width: int) -> int:
    return 1 if width < CLOSE else 2


def _join_cells(parts: Sequence[tuple[Column[R], int, Line]], gap: int) -> Line:
    line: Line = []
    for index, (column, room, cell) in enumerate(parts):
        spans = clip_line(cell, room)
        space = " " * (room - cells(spans))
        line += [(" " * gap, "")] if index else []
        line += [(space, ""), *spans] if column.right else [*spans, (space, "")]
    return [span for span in line if span[0]]


def text_cell(describe: Callable[[R], str], style: str = "text") -> Cell[R]:
    """Return a cell function that shows text."""
    return lambda row, now, width: [(clip(flat(describe(row)), width), style)]


def used_of(done: int, most: int | None) -> str:
    """Return ``4/10``, or ``4`` if there is no maximum."""
    return str(done) + (f"/{most}" if most else "")


DONE = 6
"""Width of a completion, with the sign of a restore."""


class RunColumns(Generic[R]):
    """Columns shared by all lists of runs, at the widths that their sets need."""

    def __init__(
        self,
        state: Callable[[R], tuple[Term, str]],
        objective: Cell[R],
        iterations: Callable[[R], str],
        completions: Callable[[R], Sequence[float]],
        cost: Callable[[R], str],
        left: Callable[[R, datetime], str] = lambda row, now: "",
        stale: Callable[[R], bool] = lambda row: False,
    ) -> None:
        """Create the columns from functions of a row.

        `state` returns glyph and word with their style; `left` returns the remaining time, if
        known. `completions` returns fractions from 0 to 1; empty if nothing has been measured.
        `stale` returns True if files were restored since the last measurement.
        """

        def draw_state(row: R, now: datetime, width: int) -> Line:
            (term, style), lasts = state(row), left(row, now)
            labels = [f"{label} {lasts}" for label in (term.label, term.short_label) if lasts]
            labels += [term.label, term.short_label, term.glyph]
            fitting = (label for label in labels if cells([(label, "")]) <= width)
            return [(next(fitting, term.glyph), style)]

        def last(row: R) -> str:
            measured = completions(row)
            if not measured:
                return "—"
            text = percent(100 * measured[-1])
            forms = (f"{text} ", text, text.replace(" ", "")) if stale(row) else ()
            return next((f"{form}{ROLLED_BACK.glyph}" for form in forms if len(form) < DONE), text)

        def course(row: R, now: datetime, width: int) -> Line:
            room = width - DONE
            drawn = spark([100 * each for each in completions(row)], room)
            return [(f"{drawn:<{room}}", "output"), (f"{last(row):>{DONE}}", "text")]

        self._draw_state, self._course = draw_state, course
        self.sign = Column("", 1, draw_state)
        self.objective = Column("objective", 0, objective)
        self.iterations = Column("iterations", 10, text_cell(iterations), right=True)
        self.narrow_iterations = Column("iter", 5, text_cell(iterations), right=True)
        self.completion = Column("done", DONE, text_cell(last), right=True)
        self.cost = Column("cost", 7, text_cell(cost), right=True)

    def state(self, width: int) -> Column[R]:
        """Return a column with the run's state."""
        return Column("state", width, self._draw_state)

    def course(self, width: int) -> Column[R]:
        """Return a column with a chart of the completion and its latest value."""
        return Column("completion", width, self._course, right=True)


# the widget ---------------------------------------------------------------------------------------


class Selectable(Protocol):
    """A list with a selection."""

    selected: int

    @property
    def count(self) -> int:
        """Number of entries."""


class ListTable(LineWidget):
    """A scrollable list with a selection; titles may fill the first row."""

    ROWS: ClassVar[int] = 1
    """Rows per entry."""
    TITLES: ClassVar[int] = 1
    WHEEL: ClassVar[int] = 3
    """Number of entries by which one step of the wheel moves the selection."""
    SENTENCE: ClassVar[str] = "text"
    """Style of the sentence shown in place of the rows."""

    @dataclass
    class Chosen(Message):
        """The user clicked a row twice."""

    class Moved(Message):
        """The selection or the visible part has changed."""

    def __init__(self, name: str, listed: Selectable) -> None:
        super().__init__(id=name)
        self.listed = listed
        self.top = 0
        self.sentence = ""
        """Shown in place of the rows; empty if the rows are shown."""

    def titles(self, width: int) -> Line:
        """Return the row above the entries."""
        return []

    def entry(self, index: int, width: int) -> Sequence[Line]:
        """Return the rows of an entry."""
        raise NotImplementedError

    @property
    def page(self) -> int:
        """Number of visible entries."""
        return max(1, (self.size.height - self.TITLES) // self.ROWS)

    def follow(self, sentence: str = "") -> None:
        """Show the current entries, or a sentence in place of them."""
        self.sentence = sentence
        self._keep_in_view()
        self.repaint()

    def move(self, by: int) -> bool:
        """Move the selection; return False if it cannot move that way."""
        before = self.listed.selected
        self.listed.selected = max(0, min(before + by, self.listed.count - 1))
        self._keep_in_view()
        self.post_message(self.Moved())  # the receiver calls `follow`
        return self.listed.selected != before

    def _keep_in_view(self) -> None:
        selected = self.listed.selected
        self.top = max(min(self.top, selected), selected - self.page + 1)
        self.top = max(0, min(self.top, self.listed.count - self.page))

    def line(self, y: int, width: int) -> Line:
        y -= self.TITLES
        if self.sentence:
            rows = wrap(self.sentence, max(1, width - 2 * MARK), max(1, self.size.height))
            return [("  ", ""), (rows[y], self.SENTENCE)] if 0 <= y < len(rows) else []
        room = width - MARK - 1
        if y < 0:
            return [(" " * MARK, ""), *self.titles(room)]
        index, part = self.top + y // self.ROWS, y % self.ROWS
        if index >= self.listed.count:
            return []
        here = index == self.listed.selected
        mark = ("  ", "") if part else ("▸ " if here else "  ", "accent")
        spans = [mark, *clip_line(self.entry(index, room)[part], room)]
        if here:
            spans = [(text, f"{style} cursor".strip()) for text, style in spans]
            spans.append((" " * max(0, width - cells(spans)), "cursor"))
        return spans

    def on_resize(self, event: events.Resize) -> None:
        self._keep_in_view()
        self.post_message(self.Moved())

    def on_click(self, event: events.Click) -> None:
        """Select the clicked entry; a second click opens it."""
        index = self.top + (event.y - self.TITLES) // self.ROWS
        if event.y >= self.TITLES and index < self.listed.count and not self.sentence:
            self.move(index - self.listed.selected)
            if event.chain > 1:
                self.post_message(self.Chosen())

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel moves the selection."""
        event.stop()
        self.move(self.WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel moves the selection."""
        event.stop()
        self.move(-self.WHEEL)
