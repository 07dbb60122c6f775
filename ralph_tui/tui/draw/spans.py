"""Styled text measured in terminal cells. Rule: text is data, never markup; pure, no widgets.

A `Line` is a list of ``(text, style name)`` spans on one row. A style name may also hold the key
that a click presses (`clickable`), so clipping or moving a line preserves it. The cost of every
function depends on the requested width, not on the length of the text.
"""

from collections.abc import Iterable

from rich.cells import cell_len, set_cell_size

Span = tuple[str, str]
Line = list[Span]

ELLIPSIS = "…"
_PER_CELL = 4
"""Characters examined per cell: room for combining marks, and a bound for endless lines."""


CLICK = "@"
"""Prefix of the style word that names a click's key; it has no colour."""


def clickable(line: Iterable[Span], key: str) -> Line:
    """Make a click on the spans press `key` (a Textual key name)."""
    return [(text, f"{style} {CLICK}{key}" if style else CLICK + key) for text, style in line]


def flat(text: str, limit: int = 400) -> str:
    """Return at most `limit` characters on one row, with newlines and tabs as spaces."""
    text = text[:limit]
    return " ".join(text.split()) if not text.isprintable() or "  " in text else text


def flat_name(name: str, limit: int = 4096) -> str:
    """Like `flat`, for a file name: all blanks stay, so that a copied name is valid."""
    name = name[:limit]
    return name if name.isprintable() else "".join(" " if c.isspace() else c for c in name)


def cells(line: Iterable[Span]) -> int:
    """Return the width of a line in terminal cells."""
    return sum(cell_len(text) for text, _ in line)


def clip(text: str, width: int) -> str:
    """Return the text in at most `width` cells, marking the cut."""
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
    """Return the line in at most `width` cells, marking the cut."""
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
    """Return the line without its last visible cell."""
    last = next((i for i in reversed(range(len(line))) if cell_len(line[i][0])), None)
    if last is None:
        return []
    text, style = line[last]
    shorter = set_cell_size(text, cell_len(text) - 1)
    return [*line[:last], *([(shorter, style)] if shorter else [])]


def spread(left: Line, right: Line, width: int, *, gap: int = 2) -> Line:
    """Place `left` and `right` at their edges; if both do not fit, cut `left`."""
    right = clip_line(right, width)
    room = width - cells(right)
    left = clip_line(left, max(0, room - gap if right else room))
    return [*left, (" " * (room - cells(left)), ""), *right]


def wrap(text: str, width: int, limit: int) -> list[str]:
    """Wrap at spaces into at most `limit` rows of `width` cells, marking a cut.

    Newlines are preserved; tabs become four spaces.
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
    """Return how many characters fill at most `width` cells; at least one."""
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
