"""The agent's output: one row per tool call, wrapped text, and indented subagents.

Rule: it must handle hundreds of rows a second, so an entry out of view costs one stored number.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, ClassVar

from ralph_tui.state import AgentRow, RunState
from ralph_tui.text.format import clock, count, duration, lines_not_shown
from ralph_tui.text.terms import FAILED, SEVERITIES, WAITS, WARNING
from ralph_tui.tui.draw.spans import Line, cells, clip, flat, wrap
from ralph_tui.tui.draw.words import countdown, level_mark
from ralph_tui.tui.panes.rows import RowsPane

RECENT = 50
"""Number of rows at the end that are searched for an open tool call."""
MAX_ROWS = 6
"""Maximum number of rows of text shown before an entry is expanded."""
EXPANDED_ROWS = 60
WIDE_EDGE = 66
"""Minimum width at which the bottom edge says "your guidance"."""
SECONDS = 80
"""Minimum width at which times include seconds."""


class AgentPane(RowsPane):
    """The agent's messages and tool calls."""

    key: ClassVar[str] = "agent"

    def __init__(self, lost: Callable[[], bool] = lambda: False) -> None:
        """`lost` returns True if the run's process is gone, and every call with it."""
        super().__init__()
        self._lost = lost
        self.expanded: set[int] = set()

    def stamp(self, state: RunState, now: datetime) -> object:
        """Return a value that changes every second while a call's age or a countdown is shown."""
        recent = islice(reversed(state.agent.rows), RECENT)
        counts = state.needs.wait is not None or any(row.running for row in recent)
        second = int(now.timestamp()) if counts else 0
        folds = (state.agent, state.guidance, state.needs)
        return (*(fold.revision for fold in folds), second, self._lost())

    def entries(self) -> Sequence[AgentRow]:
        return self.state.agent.rows

    def dropped(self) -> int:
        return self.state.agent.first

    def changed(self) -> None:
        """Recount if an expanded call has grown because its result has arrived."""
        super().changed()
        self.expanded = {number for number in self.expanded if number >= self._first}
        if any(self._has_grown(number) for number in self.expanded):
            self._recount()

    def _has_grown(self, number: int) -> bool:
        at = number - self._first
        if at >= len(self._ends):
            return False
        held = self._ends[at] - (self._ends[at - 1] if at else self._base)
        return held != self.height_of(self.entries()[at], number, self._width)

    def height_of(self, entry: Any, number: int, width: int) -> int:
        """Return the height; a collapsed call has one row, so it is not drawn to be measured."""
        if number in self.expanded:
            return len(self.rows_of(entry, number, width))
        if entry.kind in ("tool", "session"):
            return 1
        text, room = entry.text.strip("\n"), self._room(entry, width)
        if len(text) <= room and text.isascii() and "\n" not in text and "\t" not in text:
            return 1
        return len(_text_rows(entry, room, MAX_ROWS))

    def _room(self, entry: AgentRow, width: int) -> int:
        """Return the cells left for text after time, indent and glyph."""
        return max(8, width - (9 if width >= SECONDS else 6) - (4 if entry.nested else 0) - 2)

    def rows_of(self, entry: Any, number: int, width: int) -> list[Line]:
        time = clock(entry.at, seconds=width >= SECONDS)
        head: Line = [(f"{time} ", "dim")]
        if entry.nested:
            head.append(("  └ ", "faint"))
        if entry.kind == "tool":
            return self._tool(entry, head, width, expanded=number in self.expanded)
        if entry.kind == "session":
            return [self._session(entry, head, width)]
        most = EXPANDED_ROWS if number in self.expanded else MAX_ROWS
        style = "text"
        if entry.kind == "note":
            glyph, style = level_mark(SEVERITIES[entry.level])
            head.append((f"{glyph} ", style))
        elif entry.kind == "report":
            head.append(("✎ ", "owner"))
            style = "owner"
        else:
            head.append(("  ", ""))
        rows = _text_rows(entry, self._room(entry, width), most)
        indent = " " * cells(head)
        return [
            [*(head if i == 0 else [(indent, "")]), (piece, style)] for i, piece in enumerate(rows)
        ]

    def _session(self, entry: AgentRow, head: Line, width: int) -> Line:
        style = "dim" if entry.ok else "warn"
        glyph = "" if entry.ok else f"{WARNING.glyph} "
        took = f" · {duration(entry.duration_s)}" if entry.duration_s else ""
        room = width - cells(head) - 4
        spans: Line = [*head, ("── ", "faint")]
        spans.append((clip(f"{glyph}{flat(entry.text)}{took}", room), style))
        return [*spans, (" " + "─" * max(0, width - cells(spans) - 1), "faint")]

    def _tool(self, entry: AgentRow, head: Line, width: int, *, expanded: bool) -> list[Line]:
        tool = clip(flat(entry.tool, 80), 14)
        spans: Line = [*head, ("▾ " if expanded else "▪ ", "dim")]
        spans += [(f"{tool:<5} ", "accent" if not entry.nested else "dim")]
        result = self._result(entry, max(12, width // 2))
        room = width - cells(spans) - cells(result) - 2
        if not expanded:
            return [
                [*spans, (clip(flat(entry.text, 600), max(4, room)), "text"), ("  ", ""), *result]
            ]
        rows: list[Line] = [[*spans, *result]]
        indent = cells(head) + 2
        for text, style in ((entry.text, "text"), (entry.result, "dim")):
            if text:
                pieces = wrap(text, max(8, width - indent), EXPANDED_ROWS)
                rows += [[(" " * indent, ""), (piece, style)] for piece in pieces]
        return rows

    def _result(self, entry: AgentRow, room: int) -> Line:
        if entry.running and self._lost():
            return [(f"{WARNING.glyph} cut off", "warn")]
        if entry.running and entry.asked_at is not None:
            return [("waiting for your answer", "warn")]
        if entry.running:
            age = (self.now - (entry.ran_from or entry.at)).total_seconds()
            return [("running" + (f" {duration(age)}" if age >= 1 else ""), "accent")]
        took = f" · {duration(entry.duration_s)}" if entry.duration_s >= 1 else ""
        words = clip(flat(entry.result), max(1, room - len(took)))
        if entry.ok:
            return [(f"{words}{took}", "dim")]
        return [(f"{FAILED.glyph} ", "bad"), (words or "failed", "bad"), (took, "dim")]

    def row_count(self, width: int, height: int) -> int:
        """Reserve a row for the message shown in an empty pane."""
        return super().row_count(width, height) or 1

    def row(self, index: int, width: int, height: int) -> Line:
        if not self.entries():
            return [("no session yet", "dim")]
        return super().row(index, width, height)

    def headline(self, width: int) -> Line:
        """Show the wait for a limit."""
        wait = self.state.needs.wait
        if wait is None:
            return []
        left = countdown(wait.until, self.now)
        glyph, cause, _ = WAITS[wait.cause]
        spans: Line = [(f"{glyph} waiting: {cause}", "warn"), (f" {left}", "strong")]
        return spans if cells(spans) <= width else []

    def subtitle(self, width: int) -> Line:
        fold = self.state.agent
        spans = self._guidance(brief=width < WIDE_EDGE)
        if fold.tool_calls:
            errors = f", {fold.tool_errors} failed" if fold.tool_errors else ""
            spans.append((f"{count(fold.tool_calls, 'call')}{errors} · ", "dim"))
        if self.following:
            return [*spans, ("last rows" if self._lost() else "following", "dim")]
        new = f"{self.unseen} new · " if self.unseen else ""
        return [*spans, (f"{new}end: follow", "accent")]

    def _guidance(self, *, brief: bool) -> Line:
        """Draw the status of the user's last guidance."""
        guidance = self.state.guidance
        if guidance.queued:
            whose = "" if brief else "your "
            return [(f"{whose}guidance: {len(guidance.queued)} queued · ", "owner")]
        last = next(reversed(guidance.items.values()), None)
        what = "guidance" if brief else "your guidance was"
        return [] if last is None else [(f"{what} {last.status} · ", "dim")]

    def open(self, entry: Any, number: int) -> None:
        """Expand or collapse the entry."""
        self.expanded ^= {number}
        self._recount()
        self.select(number)

    def clicked(self, row: int, cell: int) -> None:
        """Expand a row with a single click."""
        self.selected = None
        super().clicked(row, cell)
        self.action_open()


def _text_rows(entry: AgentRow, room: int, most: int) -> list[str]:
    """Wrap a text into at most `most` rows; the last one counts the lines that do not fit."""
    text = entry.text.strip("\n")
    if len(all_rows := wrap(text, room, most + 1)) <= most:
        return all_rows
    lines = text.split("\n")
    rows, shown = wrap(lines[0], room, most - 1), 1
    for line in lines[1:]:
        more = wrap(line, room, most)
        if len(rows) + len(more) >= most:
            break
        rows, shown = [*rows, *more], shown + 1
    hidden = lines[shown:]
    if not hidden:
        return wrap(text, room, most)
    if lines_not_shown(entry.left_out) in hidden:
        words = lines_not_shown(len(hidden) - 1 + entry.left_out)
    else:
        words = f"… {count(len(hidden), 'more line')}"
    return [*rows, clip(words, room)]
