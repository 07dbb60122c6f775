"""Changed files of the iteration, by category."""

from datetime import datetime
from typing import ClassVar, get_args

from ralph_tui.events.workspace import Category
from ralph_tui.state import RunState
from ralph_tui.text.format import count
from ralph_tui.tui.draw.spans import Line, cells, clip, flat
from ralph_tui.tui.draw.words import since
from ralph_tui.tui.panes.pane import LinesPane, padded

CATEGORIES: tuple[str, ...] = get_args(Category)
STATUS = {"added": ("+", "good"), "modified": ("~", "accent"), "deleted": ("−", "bad")}


class FilesPane(LinesPane):
    """A bar per category, lines added and removed, and the path that changed last."""

    key: ClassVar[str] = "files"

    def stamp(self, state: RunState, now: datetime) -> object:
        """See `Pane`."""
        return (state.files.revision, since(state.files.latest_at, now), state.run.live)

    def build(self, width: int, height: int) -> list[Line]:
        """See `LinesPane`; categories without changes are left out where room is short."""
        files = self.state.files
        totals = {total.category: total for total in files.totals}
        listed = [c for c in CATEGORIES if height >= len(CATEGORIES) + 1 or c in totals]
        most = max((total.files for total in files.totals), default=0)
        room = max(3, min(16, width - 28))
        rows: list[Line] = []
        for category in listed:
            total = totals.get(category)  # type: ignore[call-overload]
            if total is None:
                rows.append([(f"{category:<7}", "faint"), (f"{'·':>4}", "faint")])
                continue
            length = max(1, round(total.files / most * room))
            rows.append(
                [
                    (f"{category:<7}", "text"),
                    (f"{total.files:>4} ", "strong"),
                    (padded("▇" * length, room + 1), "accent"),
                    *_lines(total.added, total.removed),
                ]
            )
        if not totals:
            rows = [[("no file changed in this iteration", "dim")]]
        rows += self._latest(width)
        if self.zoomed or height > len(rows) + 4:
            rows += self._changes(width)
        return rows

    def _latest(self, width: int) -> list[Line]:
        files = self.state.files
        if files.latest is None:
            return []
        ago = f"  {since(files.latest_at, self.now)} ago"
        path = tail(flat(files.latest), max(4, width - 2 - len(ago)))
        return [[("◦ ", "accent"), (path, "text"), (ago, "dim")]]

    def _changes(self, width: int) -> list[Line]:
        rows: list[Line] = [[]] if self.state.files.changes else []
        for change in self.state.files.changes:
            glyph, style = STATUS[change.status]
            lines = _lines(change.added, change.removed)
            path = tail(flat(change.path), max(4, width - 4 - cells(lines)))
            rows.append([(f"{glyph} ", style), (path, "text"), ("  ", ""), *lines])
        return rows

    def subtitle(self, width: int) -> Line:
        """See `Pane`."""
        files = self.state.files
        number = sum(total.files for total in files.totals)
        state = "live" if files.live and self.state.run.live else "settled"
        return [
            (f"{count(number, 'file')} · ", "dim"),
            (state, "good" if state == "live" else "dim"),
        ]


def _lines(added: int, removed: int) -> Line:
    spans: Line = [(f"+{added}", "good")] if added else []
    if removed:
        spans.append((f"{' ' if added else ''}−{removed}", "bad"))
    return spans


def tail(path: str, width: int) -> str:
    """A path on at most `width` cells; its end says more than its beginning."""
    if len(path) <= width and path.isascii():
        return path
    parts = path.split("/")
    while len(parts) > 1 and len("/".join(parts)) + 2 > width:
        parts.pop(0)
    short = "/".join(parts)
    return clip(short if short == path else f"…/{short}", width)
