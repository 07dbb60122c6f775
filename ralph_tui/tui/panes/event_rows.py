"""How an entry of the log is drawn: its time, what happened, and what came of it nested below.

Entries stand in the order of their times; a nested row has none, which would break that order.
"""

from ralph_tui.state import LogEntry, LogRow
from ralph_tui.text.format import clock
from ralph_tui.text.terms import LEVEL_TONES
from ralph_tui.tui.draw.spans import Line, clip, flat, wrap

HEAD_ROWS = 3
"""Rows the head of an entry takes at most; the whole is in its evidence."""
NESTED_ROWS = 2
FIRST, LAST = 2, 5
"""Nested rows that are shown of an entry with very many, at its beginning and at its end."""
TIME = 6
"""Cells of the column of times."""
INDENT = TIME + 2
LEAST = 30
"""Cells; in fewer, words have rows of their own."""
LONGEST_WORD = 16
LOUD = ("critical", "warn")


def entry_rows(entry: LogEntry, width: int, *, past: bool) -> list[Line]:
    """An entry's rows; what is `past` is dim, but for its mark and its word."""
    rows = _told(entry.head, width, HEAD_ROWS, past=past, nested=False)
    if entry.times > 1:
        rows.append([(" " * TIME, ""), (f"└ {times_words(entry)}", "dim")])
    hidden = len(entry.follow) - FIRST - LAST
    shown: list[LogRow | int] = [*entry.follow]
    if hidden > 1:
        shown = [*entry.follow[:FIRST], hidden, *entry.follow[-LAST:]]
    for row in shown:
        if isinstance(row, int):
            rows.append([(" " * TIME, ""), (f"└ … {row} more, enter shows them", "dim")])
            continue
        rows += _told(row, width, NESTED_ROWS, past=past, nested=True)
    return [clip_row(row, width) for row in rows]


def times_words(entry: LogEntry) -> str:
    """``3 times, last in iteration 4``."""
    last = f"in iteration {entry.last}" if entry.last else "before iteration 1"
    return f"{entry.times} times, last {last}"


def clip_row(row: Line, width: int) -> Line:
    """Where there is hardly any room, the mark goes first."""
    used, kept = 0, []
    for text, style in row:
        piece = clip(text, width - used)
        kept.append((piece, style))
        used += len(piece)
    return [span for span in kept if span[0]]


def _told(row: LogRow, width: int, most: int, *, past: bool, nested: bool) -> list[Line]:
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
