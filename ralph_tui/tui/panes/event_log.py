"""Alarms and everything else a human should have noticed; each entry opens its evidence."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar

from ralph_tui.state import LogRow, RunState
from ralph_tui.tui.panes.rows import RowsPane
from ralph_tui.tui.spans import Line, clip, flat, wrap
from ralph_tui.words import clock, count

STYLES = {"log": "dim", "good": "good", "warn": "warn", "critical": "bad", "owner": "owner"}
MOST_ROWS = 3
"""Rows an entry takes at most; the whole is in its evidence."""

MOST_DENIED = 50
"""Kinds of denial that are listed in the evidence."""


class EventLog(RowsPane):
    """One entry per alarm, notice and wish: time, glyph, word, sentence."""

    key: ClassVar[str] = "log"
    heading: ClassVar[str] = "alarms"
    digit: ClassVar[int] = 2

    def stamp(self, state: RunState, now: datetime) -> object:
        """See `Pane`."""
        return (state.log.revision, len(state.control.alarms))

    def entries(self) -> Sequence[LogRow]:
        """See `RowsPane`."""
        return self.state.log.rows

    def rows_of(self, entry: Any, number: int, width: int) -> list[Line]:
        """See `RowsPane`."""
        style = STYLES[entry.level]
        word = clip(flat(entry.word, 40), 16)
        head: Line = [
            (f"{clock(entry.at)} ", "dim"),
            (f"{entry.glyph} ", style),
            (word, f"{style} strong" if entry.level in ("critical", "warn") else style),
        ]
        indent = 8
        used = indent + len(word) + 1
        text = flat(entry.text, 600)
        body = "text" if entry.level != "log" else "dim"
        if width < 30:
            return [[*head], [("  ", ""), (clip(text, max(1, width - 2)), body)]]
        pieces = wrap(" " * (used - indent) + text, width - indent, MOST_ROWS)
        rows: list[Line] = [[*head, (" ", ""), (pieces[0].lstrip(), body)]]
        rows += [[(" " * indent, ""), (piece, body)] for piece in pieces[1:]]
        return rows

    def row_count(self, width: int, height: int) -> int:
        """See `Pane`; an empty log says so."""
        return super().row_count(width, height) or 1

    def row(self, index: int, width: int, height: int) -> Line:
        """See `Pane`."""
        if not self.entries():
            return [("nothing has happened yet", "dim")]
        return super().row(index, width, height)

    def subtitle(self, width: int) -> Line:
        """See `Pane`."""
        up = len(self.state.control.alarms)
        spans: Line = [(count(up, "open alarm"), "warn")] if up else [("no open alarm", "dim")]
        if not self.following and self.unseen:
            spans.append((f" · {self.unseen} new", "accent"))
        return spans

    def open(self, entry: Any, number: int) -> None:
        """See `RowsPane`."""
        where = f"iteration {entry.iteration}" if entry.iteration else "before iteration 1"
        denied = self._denied() if entry.word == "DENIED" else ""
        body = "\n\n".join(part for part in (entry.text, entry.detail, denied) if part)
        title = f"{entry.glyph} {entry.word} · {clock(entry.at, seconds=True)} · {where}"
        self.post_message(self.Opened(flat(title), body))

    def _denied(self) -> str:
        """Everything that was denied so far, the most frequent first."""
        needs = self.state.needs
        often = sorted(needs.denied, key=lambda line: -needs.denied[line])[:MOST_DENIED]
        rows = [f"{needs.denied[line]:>5} × {flat(line)}" for line in often]
        head = "Denied so far, by the permissions.allow line that would permit it:"
        return "\n".join([head, *rows, "", "The commands (key :) permit them."])
