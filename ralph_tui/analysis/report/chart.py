"""Completion as block characters: a column per iteration, and marks for events below."""

from collections.abc import Mapping
from math import ceil, isfinite

ROWS = 8
MAX_COLUMNS = 60
"""With more iterations, a column covers several and shows the last of them."""
WIDE_COLUMNS = 20
"""Up to this many columns, each is two blocks and a space wide."""

_BLOCKS = " ▁▂▃▄▅▆▇█"
_EIGHTHS = 8 * ROWS


def completion_chart(readings: Mapping[int, float], marks: Mapping[str, Mapping[int, str]]) -> str:
    """Return lines for a monospace block; empty without measurements.

    `readings`: points 0-100 by iteration, the baseline under 0. `marks`: glyphs by the row's name
    and the iteration.
    """
    if not readings:
        return ""
    first, last = min(readings), max(readings)
    per = ceil((last - first + 1) / MAX_COLUMNS)
    starts = range(first, last + 1, per)
    wide = len(starts) <= WIDE_COLUMNS
    drawn = {(i - first) // per: points for i, points in sorted(readings.items())}
    levels = [_level(drawn.get(column)) for column in range(len(starts))]
    lines = []
    for row in range(ROWS, 0, -1):
        label = f"{100 * row // ROWS:>3} ┤" if row % 2 == 0 else "    │"
        cells = (_BLOCKS[min(8, max(0, level - 8 * (row - 1)))] for level in levels)
        lines.append(label + "".join(f" {cell}{cell}" if wide else cell for cell in cells))
    lines.append("  0 └" + "─" * (3 * len(starts) if wide else len(starts)))
    lines.append("     " + _numbers(starts, wide=wide))
    for name, glyphs in marks.items():
        inside = ((i, glyph) for i, glyph in sorted(glyphs.items()) if first <= i <= last)
        found = {(i - first) // per: glyph for i, glyph in inside}
        if found:
            line = [found.get(column, " ") for column in range(len(starts))]
            lines.append("     " + "".join(f"  {g}" if wide else g for g in line) + f"  {name}")
    if per > 1:
        lines.append(f"     each column: {per} iterations, with the last measurement")
    return "\n".join(line.rstrip() for line in lines)


def _level(points: float | None) -> int:
    """Return a height in eighths: 0 without a value, else at least 1; only 100 fills the row."""
    if points is None or not isfinite(points):
        return 0
    if points >= 100:
        return _EIGHTHS
    return min(_EIGHTHS - 1, max(1, round(points / 100 * _EIGHTHS)))


def _numbers(starts: range, *, wide: bool) -> str:
    if wide:
        return "".join(f"{start:>3}" for start in starts)
    line = ""
    for column, start in enumerate(starts):
        if column % 10 == 0:
            line = f"{line:<{column}}{start}"
    return line
