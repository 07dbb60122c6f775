"""The files changed by the iteration or, after the end, by the whole run."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import ClassVar, get_args

from textual.binding import Binding, BindingType

from ralph_tui.base.errors import RalphError
from ralph_tui.events.workspace import Category, FileChange
from ralph_tui.ports.source import Source
from ralph_tui.state import RunState
from ralph_tui.text.format import count, place
from ralph_tui.text.terms import NO_SNAPSHOTS, NOT_RECORDED
from ralph_tui.tui import background
from ralph_tui.tui.draw.cutting import path_on
from ralph_tui.tui.draw.spans import Line, cells, clickable, clip, flat_name
from ralph_tui.tui.draw.words import lines_changed, since
from ralph_tui.tui.panes.pane import LinesPane
from ralph_tui.tui.panes.timeline_points import net_trees

CATEGORIES: tuple[str, ...] = get_args(Category)
STATUS = {"added": ("+", "good"), "modified": ("~", "accent"), "deleted": ("−", "bad")}
STYLES = {"source": "accent", "test": "warn", "config": "owner", "aiwg": "dim"}
"""Styles of the categories that differ from plain text."""
WORDS = {"test": "tests", "aiwg": "run records"}
"""Labels of the categories that differ from their names."""
ORDER = ("test", "source", "config", "docs", "other", "aiwg")
"""Tests come first, because they measure everything else."""
CROWD = 4
"""Maximum number of tabs that leave room for a headline in the title."""
DONE = {"added": "new", "deleted": "deleted"}


class FilesPane(LinesPane):
    """One row per file with its added and removed lines, and totals by category below."""

    key: ClassVar[str] = "files"

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "whole", show=False)]

    def __init__(self, source: Source | None = None) -> None:
        super().__init__()
        self._source = source
        self._whole: bool | None = None
        """The user's choice to see the whole run; None to show it once the run has ended."""
        self._net: dict[tuple[str, str], tuple[FileChange, ...]] = {}
        """The run's net changes: the differences between its first and last trees."""
        self._asked: set[tuple[str, str]] = set()

    def stamp(self, state: RunState, now: datetime) -> object:
        files, run = state.files, state.run
        live = since(files.latest_at, now) if run.live else ""
        return (files.revision, live, run.live, state.timeline.revision)

    def changed(self) -> None:
        """Load the net change once after the run has ended."""
        trees = self._trees
        if trees is None or trees in self._asked or not self._is_over or not self.is_mounted:
            return
        self._asked.add(trees)
        background.run(self, partial(self._load_net, trees), group="net")

    @property
    def _trees(self) -> tuple[str, str] | None:
        at_hand = self._source is not None and self._source.files is not None
        return net_trees(self.state) if at_hand else None

    async def _load_net(self, trees: tuple[str, str]) -> None:
        files = self._source.files if self._source is not None else None
        if files is None:
            return
        try:
            self._net[trees] = await asyncio.to_thread(files.changes, *trees)
        except RalphError:
            return  # the iterations' own changes are shown instead
        self.redraw()

    @property
    def whole(self) -> bool:
        """True if the whole run is shown."""
        return self._is_over and self._whole is not False

    @property
    def _is_over(self) -> bool:
        run = self.state.run
        return run.finished is not None or run.crash is not None

    def action_whole(self) -> None:
        """Switch between the whole run and its last iteration."""
        if not self._is_over:
            self.post_message(self.NoEffect("the whole run's files are shown once it has ended"))
            return
        self._whole, self.top = not self.whole, 0
        self.redraw()

    # content ----------------------------------------------------------------------------------

    def _shown(self) -> tuple[Sequence[FileChange], bool]:
        """Return the changes, and whether their line counts are known."""
        if not self.whole:
            return self.state.files.changes, True
        trees = self._trees
        if trees is not None and trees in self._net:
            return self._net[trees], True
        spans = self.state.timeline.spans
        every = {c.path: c for s in spans if s.files is not None for c in s.files.changes}
        return list(every.values()), False

    def _counts(self, changes: Iterable[FileChange]) -> dict[str, int]:
        """Count files by category, including an iteration's unnamed files."""
        if self.whole:
            return Counter(change.category for change in changes)
        return {total.category: total.files for total in self.state.files.totals}

    def build(self, width: int, height: int) -> list[Line]:
        changes, known = self._shown()
        if not changes:
            return [[(self._empty_text(), "dim")]]
        rank = {category: n for n, category in enumerate(ORDER)}
        placed = sorted(changes, key=lambda change: rank.get(change.category, len(ORDER)))
        sizes = [lines_changed(c.added, c.removed) if known else [] for c in placed]
        most = max(map(cells, sizes))
        paths = [flat_name(change.path) for change in placed]
        words = [DONE.get(change.status, "") for change in placed]
        word_width = max(map(len, words))
        word_width = word_width if max(map(_width, paths)) + most + word_width + 4 <= width else 0
        room = max(4, width - (most + 2 if most else 0) - (word_width + 2 if word_width else 0))
        names = [path_on(path, room) for path in paths]
        column = max(map(_width, names)) + 2
        rows: list[Line] = []
        for change, name, size, word in zip(placed, names, sizes, words, strict=True):
            row = _name(change, name)
            if size:
                row += [(" " * (column - _width(name)), ""), *size]
            if word_width and word:
                row.append((" " * (column + most + (2 if most else 0) - cells(row)) + word, "dim"))
            rows.append(row)
        unnamed = sum(self._counts(changes).values()) - len(changes)
        return rows + ([[(f"and {unnamed} more, not listed", "dim")]] if unnamed > 0 else [])

    def _empty_text(self) -> str:
        if self.state.files.unknown and not self.whole:
            return "changes unknown"
        if self.state.foreign.tool and self.state.run.last_change_at is None:
            return NOT_RECORDED
        started = self.state.run.started
        if started is not None and started.watched:
            return NO_SNAPSHOTS
        whole, part = "no files differ from the start", "no files changed in this iteration"
        return (whole if self.whole else part) + ("" if self._is_over else " yet")

    def headline(self, width: int) -> Line:
        """Show which changes are listed."""
        words = self._scope_label()
        return [(words, "dim")] if words and len(words) <= width else []

    def _scope_label(self) -> str:
        if self.whole:
            return "whole run, net" if self._shown()[1] else "whole run"
        return place(self.state.files.iteration) if self.state.files.iteration else ""

    def subtitle(self, width: int) -> Line:
        """Show totals by category, and the key for the other view."""
        changes, _ = self._shown()
        counts = self._counts(changes)
        spans: Line = []
        for category in ORDER:
            if number := counts.get(category):
                spans += [(" · ", "dim")] if spans else []
                words = f"{WORDS.get(category, category)} {number}"
                spans.append((words, STYLES.get(category, "text")))
        # In that case, the title has no room for it.
        if len(self.tabs) > CROWD and (whose := self._scope_label()):
            spans = [(f"{whose}: " if spans else whose, "dim"), *spans]
        if cells(spans) > width:
            spans = [(count(sum(counts.values()), "file"), "dim")]
        if self._is_over and self.lit:
            other = place(self.state.files.iteration) if self.whole else "whole run"
            key: Line = clickable([("enter", "key"), (f" {other}", "dim")], "enter")
            if cells(spans) + 3 + cells(key) <= width:
                return [*spans, (" · " if spans else "", "dim"), *key]
        return spans


def _width(text: str) -> int:
    return cells([(text, "")])


def _name(change: FileChange, name: str) -> Line:
    """Draw a path with its folder dim."""
    folder, slash, own = name.rpartition("/")
    style = STYLES.get(change.category, "text")
    return [(folder + slash, "dim"), (own, style)] if slash else [(own, style)]


def tail(path: str, width: int) -> str:
    """Shorten a path to at most `width` cells, keeping its end."""
    if len(path) <= width and path.isascii():
        return path
    parts = path.split("/")
    while len(parts) > 1 and len("/".join(parts)) + 2 > width:
        parts.pop(0)
    short = "/".join(parts)
    return clip(short if short == path else f"…/{short}", width)
