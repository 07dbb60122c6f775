"""A screen as it is seen, as text and as a picture in SVG. Pure: from rows that were drawn."""

from collections.abc import Sequence
from io import StringIO

from rich.console import Console
from rich.segment import Segment, Segments
from textual.strip import Strip


def as_text(rows: Sequence[Strip]) -> str:
    """What stands there, a line per row."""
    return "".join(f"{row.text.rstrip()}\n" for row in rows)


def as_svg(rows: Sequence[Strip], title: str) -> str:
    """The same with its colours; to draw one takes long, so it is for a thread."""
    width = max((row.cell_length for row in rows), default=1)
    console = Console(
        width=width,
        height=len(rows),
        file=StringIO(),
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
        record=True,
    )
    drawn = [
        Segment(text, style.clear_meta_and_links() if style else None)
        for row in rows
        for text, style, _ in [*row, Segment("\n")]
    ]
    console.print(Segments(drawn), end="")
    return console.export_svg(title=title)
