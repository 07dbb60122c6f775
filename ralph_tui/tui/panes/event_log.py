"""The event log: one entry per episode, and anything else that a user should notice.

Entries open their evidence. Rule: only the verdict makes judgements, never the log.
"""

from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar

from ralph_tui.state import LogEntry, LogRow, RunState
from ralph_tui.text.format import clock, points
from ralph_tui.text.terms import BEST, LEVEL_TONES
from ralph_tui.tui.draw.spans import Line, clip, flat, wrap
from ralph_tui.tui.panes.rows import RowsPane

HEAD_ROWS = 3
"""Maximum number of rows of an entry's head; the evidence shows it in full."""
NESTED_ROWS = 2
FIRST, LAST = 2, 5
"""Number of nested rows shown at the start and at the end of a very long entry."""
TIME = 6
"""Width of the time column in cells."""
INDENT = TIME + 2
LEAST = 30
"""Minimum width for text beside the entry's word, in cells; otherwise, the word has its own row."""
LONGEST_WORD = 16
LOUD = ("critical", "warn")


def entry_rows(entry: LogEntry, width: int, *, past: bool) -> list[Line]:
    """Draw an entry; a `past` entry is dim, except for its mark and word.

    Nested rows show no time, because it would break the order of the entries' times.
    """
    rows = _row_lines(entry.head, width, HEAD_ROWS, past=past, nested=False)
    if entry.times > 1:
        rows.append([(" " * TIME, ""), (f"└ {times_words(entry)}", "dim")])
    hidden = len(entry.follow) - FIRST - LAST
    shown: list[LogRow | int] = [*entry.follow]
    if hidden > 1:
        shown = [*entry.follow[:FIRST], hidden, *entry.follow[-LAST:]]
    for row in shown:
        if isinstance(row, int):
            rows.append([(" " * TIME, ""), (f"└ … {row} more; enter shows them", "dim")])
            continue
        rows += _row_lines(row, width, NESTED_ROWS, past=past, nested=True)
    return [clip_row(row, width) for row in rows]


def times_words(entry: LogEntry) -> str:
    """Return ``3 times, last in iteration 4``."""
    last = f"in iteration {entry.last}" if entry.last else "before iteration 1"
    return f"{entry.times} times, last {last}"


def clip_row(row: Line, width: int) -> Line:
    """Clip a row span by span, so that the mark survives in very narrow panes."""
    used, kept = 0, []
    for text, style in row:
        piece = clip(text, width - used)
        kept.append((piece, style))
        used += len(piece)
    return [span for span in kept if span[0]]


def _row_lines(row: LogRow, width: int, most: int, *, past: bool, nested: bool) -> list[Line]:
    style = LEVEL_TONES[row.level]
    when = " " * TIME if nested else f"{clock(row.at)} "
    mark = ("└ ", "dim") if nested else (f"{row.glyph} ", style)
    word = clip(flat(row.word, 40), LONGEST_WORD)
    text = flat(row.text, 600)
    body = style if nested and not word else "dim" if past or row.level == "log" else "text"
    strong = f"{style} strong" if row.level in LOUD and not past else style
    first: Line = [(when, "dim"), mark, *([(word, strong)] if word else [])]
    if not text:
        return [first]
    if width < LEAST and word:
        return [first, [("  ", ""), (clip(text, max(1, width - 2)), body)]]
    used = len(word) + 1 if word else 0
    pieces = wrap(" " * used + text, max(1, width - INDENT), most)
    rows: list[Line] = [[*first, (" " * min(used, 1), ""), (pieces[0].lstrip(), body)]]
    return rows + [[(" " * INDENT, ""), (piece, body)] for piece in pieces[1:]]


MAX_DENIED = 50
"""Maximum number of kinds of denial listed in the evidence."""
MAX_READINGS = 8
"""Maximum number of measurements listed in the evidence of an episode."""


class EventLog(RowsPane):
    """One entry per episode, notice and command, with the results below it."""

    key: ClassVar[str] = "log"

    def __init__(self) -> None:
        super().__init__()
        self._clock = 0
        """The log's clock at the last update."""

    def stamp(self, state: RunState, now: datetime) -> object:
        return (state.log.revision, state.run.iteration)

    def has_content(self, state: RunState) -> bool:
        return bool(state.log.entries)

    def changed(self) -> None:
        """Update the heights of changed entries, because results are added below them."""
        same = self._seen_state is self.state
        self._clock, first = self.state.log.changed_since(self._clock if same else 0)
        if not same or first >= len(self._ends):
            super().changed()
            return
        known, unseen, top = len(self._ends), self.unseen, self._at_top()
        del self._ends[first:]
        super().changed()
        self.unseen = 0 if self.following else unseen + len(self._ends) - known
        if not self.following:
            self.top = self._row_of(*top)

    def _at_top(self) -> tuple[int, int]:
        """Return the entry in the first row, and how many of its rows are above the view."""
        at = bisect_right(self._ends, self.top)
        return at, self.top - self._row_of(at, 0)

    def _row_of(self, at: int, inside: int) -> int:
        return (self._ends[at - 1] if at else 0) + inside

    def entries(self) -> Sequence[LogEntry]:
        return self.state.log.entries

    def rows_of(self, entry: Any, number: int, width: int) -> list[Line]:
        past = not entry.open and entry.rows[-1].iteration < self.state.run.iteration
        return entry_rows(entry, width, past=past)

    def row_count(self, width: int, height: int) -> int:
        """Reserve a row for the message shown in an empty log."""
        return super().row_count(width, height) or 1

    def row(self, index: int, width: int, height: int) -> Line:
        if not self.entries():
            return [("nothing has happened yet", "dim")]
        return super().row(index, width, height)

    def subtitle(self, width: int) -> Line:
        new = not self.following and self.unseen
        return [(f"{self.unseen} new", "accent")] if new else []

    def open(self, entry: Any, number: int) -> None:
        head = entry.head
        where = f"iteration {head.iteration}" if head.iteration else "before iteration 1"
        denied = self._denied() if entry.kind == "denied" else ""
        said: set[str] = set()
        first = _facts(head, said)
        rows = [f"{clock(row.at, seconds=True)}  {_row_text(row, said)}" for row in entry.follow]
        parts = (first, self._readings(entry), *rows, self._instructions(entry), denied)
        title = f"{head.glyph} {head.word} · {clock(head.at, seconds=True)} · {where}"
        self.post_message(self.Opened(flat(title), "\n\n".join(part for part in parts if part)))

    def _readings(self, entry: LogEntry) -> str:
        """Return the measurements of an episode so far."""
        if entry.kind != "episode":
            return ""
        last = max(row.iteration for row in entry.rows)
        run = self.state.run
        readings = [run.baseline or 0.0, *run.completions][: last + 1]
        best = readings.index(max(readings))
        first = max(0, len(readings) - MAX_READINGS)
        values = [
            f"{points(reading, *readings)}{BEST.glyph if number == best else ''}"
            for number, reading in enumerate(readings)
        ]
        if not values[first:]:
            return ""
        return f"completion in iterations {first} to {last}: {' '.join(values[first:])} %"

    def _instructions(self, entry: LogEntry) -> str:
        """Return the instructions sent to the agent, or those proposed."""
        made = [one for one in self.state.oversight.interventions if _contains(entry, one.seq)]
        given = [f"instructions sent:\n{one.instructions}" for one in made if one.instructions]
        question = self.state.needs.question
        if made and question is not None and made[-1] is self.state.oversight.interventions[-1]:
            given += [f"instructions proposed:\n{question.proposal}"] * bool(question.proposal)
        return "\n\n".join(given)

    def _denied(self) -> str:
        """Return everything denied so far, the most frequent first."""
        needs = self.state.needs
        often = sorted(needs.denied, key=lambda line: -needs.denied[line])[:MAX_DENIED]
        rows = [f"{needs.denied[line]:>5} × {flat(line)}" for line in often]
        head = "Denied so far, by the permissions.allow line that would permit it:"
        return "\n".join([head, *rows, "", "You can permit them in the command palette (key :)."])


def _contains(entry: LogEntry, seq: int) -> bool:
    return any(row.seq == seq for row in entry.rows)


def _facts(row: LogRow, said: set[str]) -> str:
    """Return a row's sentence and evidence, omitting lines already in `said`.

    The sentence is omitted if the evidence contains it in full.
    """
    more = [line for line in row.detail.splitlines() if line not in said]
    whole = row.text and any(line.startswith(row.text) for line in more)
    said.update(more)
    return "\n".join([*([] if whole or not row.text else [row.text]), *more])


def _row_text(row: LogRow, said: set[str]) -> str:
    facts = _facts(row, said)
    return f"{row.word}  {facts}" if row.word else facts
