"""Changes between two points: files by category, and the diff of one file or of all.

Git runs in a thread; a diff that arrives after another file was selected is dropped.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content

from ralph_tui.base.errors import RalphError
from ralph_tui.events.workspace import FileChange
from ralph_tui.ports.source import Files
from ralph_tui.text.format import count
from ralph_tui.tui import background
from ralph_tui.tui.draw.diff import MAX_LINES, rows_of
from ralph_tui.tui.draw.spans import Line, cells, clip_line, flat, flat_name, wrap
from ralph_tui.tui.modals.modal import NO_FURTHER, Modal, Pair
from ralph_tui.tui.modals.restore_effect import UNCHECKED
from ralph_tui.tui.modals.scroll_text import ScrollText
from ralph_tui.tui.panes.files import CATEGORIES, STATUS, tail

BESIDE = 110
"""Minimum width in columns to show the list beside the diff."""
TALL = 30
"""Minimum height in rows to show more than two facts."""
LISTED = 2_000
"""Maximum number of files listed one by one."""
SETTLE_S = 0.05
"""Seconds for which a file must stay selected before it is read, to keep stepping fast."""
BAR = 10
"""Width in cells of a file's bar of changes."""
STEP = 20
"""Number of cells by which long lines scroll sideways."""


class FileList(ScrollText):
    """All changes, then each file below its category."""

    def __init__(self) -> None:
        super().__init__("listed")
        self.changes: tuple[FileChange, ...] = ()
        self.selected = 0
        """0 for all files, otherwise the file's number from 1."""
        self._at: list[int] = []
        """Row of each entry."""

    def fill(self, changes: tuple[FileChange, ...]) -> None:
        """List these changes by category."""
        self.changes = tuple(sorted(changes, key=lambda c: (CATEGORIES.index(c.category), c.path)))
        self.draw()

    @property
    def path(self) -> str | None:
        """Path of the selected file; None if all are selected."""
        return self.changes[self.selected - 1].path if self.selected else None

    def move(self, by: int) -> bool:
        """Move the selection; return True if it changed."""
        last = min(LISTED, len(self.changes))
        before, self.selected = self.selected, max(0, min(last, self.selected + by))
        self.draw()
        return self.selected != before

    def draw(self) -> None:
        """Redraw with the selected entry in view."""
        width = max(20, self.size.width - self.EDGE)
        total = _sizes(self.changes)
        head: Line = [
            (" ", ""),
            (f"all {count(len(self.changes), 'file')}", "strong"),
            ("  ", ""),
            *total,
        ]
        rows, self._at, category = [head], [0], ""
        for change in self.changes[:LISTED]:
            if change.category != category:
                category = change.category
                group = [c for c in self.changes if c.category == category]
                rows.append(
                    [(" ", ""), (category, "accent"), (f" {len(group)}  ", "dim"), *_sizes(group)]
                )
            self._at.append(len(rows))
            rows.append(_file(change, width))
        if len(self.changes) > LISTED:
            rows.append([(f"and {len(self.changes) - LISTED} more", "dim")])
        here = self._at[self.selected]
        line = rows[here]
        line[0] = (f"▸{line[0][0][1:]}", line[0][1])
        rows[here] = [(text, f"{style} cursor".strip()) for text, style in line]
        rows[here].append((" " * max(0, width - cells(line)), "cursor"))
        self.rows = rows
        height = max(1, self.size.height)
        # Keep the category's name in view together with its first file.
        top = min(self.top, here - 1 if self.selected else 0)
        self._roll_to(max(top, here - height + 1), height)

    def on_resize(self, event: events.Resize) -> None:
        self.draw()


class Page(ScrollText):
    """The diff; only the rows in view are drawn."""

    def __init__(self) -> None:
        super().__init__("diff")
        self.left = 0

    def lay(self, rows: list[Line]) -> None:
        """Show these rows from the beginning."""
        self.rows, self.left = rows, 0
        self._roll_to(0, max(1, self.size.height))

    def shift(self, by: int) -> bool:
        """Scroll long lines sideways; return True if that moved them."""
        before, self.left = self.left, max(0, self.left + by)
        self.repaint()
        return self.left != before

    def line(self, y: int, width: int) -> Line:
        if not self.left:
            return super().line(y, width)
        index = self.top + y
        if index >= len(self.rows):
            return []
        (sign, style), *rest = self.rows[index] or [("", "")]
        moved: Line = [(sign[:1], style), ("‹", "dim"), (sign[1 + self.left :], style)]
        return clip_line(self.rows[index] if rest else moved, width - self.EDGE)


class Changes(Modal[None]):
    """A read-only dialog with the changes between two points."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter", "close", show=False),
        Binding("right,tab", "file(1)", show=False),
        Binding("left,shift+tab", "file(-1)", show=False),
        Binding("down,j", "roll(1)", show=False),
        Binding("up,k", "roll(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("home", "roll(-10000000)", show=False),
        Binding("end", "roll(10000000)", show=False),
        Binding("greater_than_sign,shift+right", f"shift({STEP})", show=False),
        Binding("less_than_sign,shift+left", f"shift({-STEP})", show=False),
    ]

    def __init__(
        self,
        title: str,
        facts_for: Callable[[int], list[Line]],
        files: Files | None,
        trees: tuple[str, str] | str,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`facts_for` returns facts for a width; `trees` holds two trees, or why there are none."""
        super().__init__(clock)
        self._title, self._facts_for, self._trees = title, facts_for, trees
        self.files = files
        self._diff: Callable[[str | None], str] = lambda path: ""
        self.facts, self.listed, self.page = ScrollText("facts"), FileList(), Page()
        self.listed.display = False

    def parts(self) -> ComposeResult:
        with Container(id="changes"):
            yield self.facts
            with Container(id="both"):
                yield self.listed
                yield self.page

    def on_mount(self) -> None:
        frame = self.query_one("#changes")
        frame.border_title = Content(f" {flat(self._title)} ")
        if self.files is None:
            self._show_text(UNCHECKED)
        elif isinstance(self._trees, str):
            self._show_text(self._trees)
        else:
            self._show_text("reading…")
            background.run(self, partial(self._list, self.files, *self._trees), group="list")

    def on_resize(self, event: events.Resize) -> None:
        """Give the facts and files the space they need, and the diff the rest."""
        width, height = event.size
        self.set_class(width >= BESIDE, "-beside")
        rows = self._facts_for(width - 6)
        self.facts.show(rows, min(len(rows), 2 if height < TALL else height // 4))
        self._measure(height)

    def pairs(self) -> Sequence[Pair]:
        return (
            *(("←", ""), ("→", "file"), ("↑", ""), ("↓", "scroll")),
            *(("<", ""), (">", "long lines"), ("esc", "close")),
        )

    def _measure(self, height: int) -> None:
        rows = len(self.listed.rows)
        beside = self.has_class("-beside")
        self.listed.styles.height = (
            "1fr" if beside else min(rows, max(4, height // 4 if height < TALL else height // 3))
        )

    def _show_text(self, text: str) -> None:
        self.page.lay([[(row, "dim")] for row in wrap(text, max(20, self.size.width - 8), 4)])

    async def _list(self, files: Files, since: str, until: str) -> None:
        try:
            changes = await asyncio.to_thread(files.changes, since, until)
        except RalphError as error:
            self._show_text(str(error))
            return
        if not changes:
            self._show_text("no files differ")
            return
        self.listed.fill(changes)
        self.listed.display = True
        self._measure(self.size.height)
        self._diff = partial(files.diff, since, until)
        self._read()

    def _read(self) -> None:
        background.run(self, partial(self._show, self.listed.path), group="diff", exclusive=True)

    async def _show(self, path: str | None) -> None:
        total = sum(change.added + change.removed for change in self.listed.changes)
        if path is None and total > MAX_LINES:
            self._show_text(
                f"{total:,} lines are too many for one page; press → to view files one by one"
            )
            return
        await asyncio.sleep(SETTLE_S)
        try:
            rows = await asyncio.to_thread(lambda: rows_of(self._diff(path)))
        except RalphError as error:
            self._show_text(str(error))
        else:
            self.page.lay(rows or [[("Git has no text diff for this file", "dim")]])

    def action_file(self, by: int) -> None:
        if self.listed.changes and self.listed.move(by):
            self._read()
        else:
            self.report(NO_FURTHER)

    def action_roll(self, by: int) -> None:
        self.report_end(self.page.roll(by))

    def action_page(self, by: int) -> None:
        self.report_end(self.page.page(by))

    def action_shift(self, by: int) -> None:
        self.report_end(self.page.shift(by))

    def action_close(self) -> None:
        self.dismiss(None)


def _sizes(changes: Sequence[FileChange]) -> Line:
    added, removed = sum(c.added for c in changes), sum(c.removed for c in changes)
    spans: Line = [(f"+{added}", "good")] if added else []
    if removed:
        spans.append((f"{' ' if added else ''}−{removed}", "bad"))
    return spans


def _file(change: FileChange, width: int) -> Line:
    """Return a file's row: sign, path, sizes, and a bar as in ``git diff --stat``."""
    glyph, style = STATUS[change.status]
    sizes = _sizes((change,))
    total = change.added + change.removed
    plus = min(BAR, change.added if total <= BAR else round(change.added / total * BAR))
    minus = min(BAR, total) - plus
    room = width - 4 - cells(sizes) - BAR - 3
    path = tail(flat_name(change.path), max(8, room))
    gap = " " * max(1, room - cells([(path, "")]) + 1)
    line: Line = [(f"  {glyph} ", style), (path, "text"), (gap, ""), *sizes]
    line += [(" ", ""), ("+" * plus, "good"), ("−" * minus, "bad")]
    return line
