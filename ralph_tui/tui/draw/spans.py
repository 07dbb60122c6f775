"""Styled text measured in terminal cells. Rule: text is data, never markup; pure, no widgets.

A `Line` is a list of ``(text, style name)`` spans on one row. A style name may say, too, which
key a click on its span presses (`clickable`): whatever clips or moves a line moves that with it.
Every function here is bounded by the width asked for, not by the text given: a line of a megabyte
costs what a screenful costs.
"""

from collections.abc import Iterable

from rich.cells import cell_len, set_cell_size

Span = tuple[str, str]
Line = list[Span]

ELLIPSIS = "…"
_PER_CELL = 4
"""Characters looked at per cell: room for combining marks, and a bound for endless lines."""


CLICK = "@"
"""Begins the word of a style name that says what a click does; it has no colour."""


def clickable(line: Iterable[Span], key: str) -> Line:
    """The spans, on which a click presses `key`, by Textual's name of it."""
    return [(text, f"{style} {CLICK}{key}" if style else CLICK + key) for text, style in line]


def flat(text: str, limit: int = 400) -> str:
    """At most `limit` characters of the text on one row: newlines and tabs become spaces."""
    text = text[:limit]
    return " ".join(text.split()) if not text.isprintable() or "  " in text else text


def flat_name(name: str, limit: int = 4096) -> str:
    """As `flat`, of a file's name: each of its blanks stays, so that what is copied names it."""
    name = name[:limit]
    return name if name.isprintable() else "".join(" " if c.isspace() else c for c in name)


def cells(line: Iterable[Span]) -> int:
    """Width of a line in terminal cells."""
    return sum(cell_len(text) for text, _ in line)


def clip(text: str, width: int) -> str:
    """The text on at most `width` cells, the cut marked."""
    if width <= 0:
        return ""
    if text.isascii():
        return text if len(text) <= width else text[: width - 1] + ELLIPSIS
    bound = width * _PER_CELL + 16
    head = text[:bound]
    if len(text) == len(head) and cell_len(head) <= width:
        return text
    return set_cell_size(head, min(width - 1, cell_len(head))).rstrip() + ELLIPSIS


def clip_line(line: Iterable[Span], width: int) -> Line:
    """The line on at most `width` cells, the cut marked."""
    kept: Line = []
    room = width
    for text, style in line:
        size = cell_len(text) if len(text) <= _PER_CELL * width + 16 else width + 1
        if size > room:
            kept.append((clip(text, room), style) if room > 0 else (ELLIPSIS, style))
            if room <= 0:
                kept = [*_make_room(kept[:-1]), (ELLIPSIS, style)]
            return kept if width > 0 else []
        if text:
            kept.append((text, style))
        room -= size
    return kept


def _make_room(line: Line) -> Line:
    """The line without its last cell; what takes none goes with it."""
    last = next((i for i in reversed(range(len(line))) if cell_len(line[i][0])), None)
    if last is None:
        return []
    text, style = line[last]
    shorter = set_cell_size(text, cell_len(text) - 1)
    return [*line[:last], *([(shorter, style)] if shorter else [])]


def spread(left: Line, right: Line, width: int, *, gap: int = 2) -> Line:
    """`left` at the left edge, `right` at the right one; `left` gives way where both do not fit."""
    right = clip_line(right, width)
    room = width - cells(right)
    left = clip_line(left, max(0, room - gap if right else room))
    return [*left, (" " * (room - cells(left)), ""), *right]


def wrap(text: str, width: int, limit: int) -> list[str]:
    """At most `limit` rows of at most `width` cells, broken at spaces; a cut is marked.

    Newlines are kept, tabs become four spaces.
    """
    width = max(1, width)
    rows: list[str] = []
    rest = text[: width * limit * _PER_CELL + 64]
    cut = len(rest) < len(text)
    for paragraph in rest.split("\n"):
        if len(rows) >= limit:
            cut = True
            break
        rows.extend(_wrap_paragraph(paragraph.expandtabs(4).rstrip(), width, limit - len(rows) + 1))
    if len(rows) > limit:
        rows, cut = rows[:limit], True
    if cut and rows:
        rows[-1] = clip(rows[-1] + " " * width, width).rstrip(ELLIPSIS).rstrip()
        rows[-1] = clip(rows[-1], width - 1).removesuffix(ELLIPSIS) + ELLIPSIS
    return rows or [""]


def _wrap_paragraph(text: str, width: int, limit: int) -> list[str]:
    rows: list[str] = []
    while len(rows) < limit:
        end = _fitting(text, width)
        if end >= len(text):
            rows.append(text)
            break
        space = text.rfind(" ", 0, end + 1)
        if space > width // 3:
            rows.append(text[:space].rstrip())
            text = text[space + 1 :]
        else:
            rows.append(text[:end])
            text = text[end:]
    return rows


def _fitting(text: str, width: int) -> int:
    """How many characters fill at most `width` cells; at least one."""
    if text.isascii():
        return width
    head = text[: width * _PER_CELL]
    if cell_len(head) <= width:
        return len(head)
    low, high = 1, len(head)
    while low < high:
        middle = (low + high + 1) // 2
        if cell_len(head[:middle]) <= width:
            low = middle
        else:
            high = middle - 1
    return low
