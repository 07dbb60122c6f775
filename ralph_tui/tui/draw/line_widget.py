"""Base of the screens' own widgets: rows of styled spans, drawn with Textual's Line API.

Rule: a widget returns spans and style names from `line(y, width)`; only this file turns names into
colours. The stylesheet defines each name (``.style--dim`` and so on).
"""

from typing import ClassVar, cast

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from ralph_tui.tui.draw.spans import CLICK, Line, cells, clip_line

STYLES = (
    "text",
    "dim",
    "faint",
    "frame",
    "focus",
    "strong",
    "title",
    "accent",
    "good",
    "warn",
    "bad",
    "owner",
    "output",
    "error",
    "mean",
    "done",
    "badge",
    "cursor",
    "key",
)


class StyledScreen(Screen[None]):
    """The single place that resolves style names; one set per widget would cost more."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"style--{name}" for name in STYLES}

    def named_style(self, name: str) -> Style:
        """Return the style of a name; several names, joined by spaces, are combined."""
        if " " in name:
            return Style.combine([self.named_style(part) for part in name.split()])
        if name.startswith(CLICK):
            return Style.from_meta({"@click": ("app.press", (name[len(CLICK) :],))})
        return self.get_component_rich_style(f"style--{name}", partial=True)


class LineWidget(Widget):
    """A widget drawn row by row from spans, without children or Textual's scrolling.

    Call `repaint` after changing its content; only rows that differ are redrawn.
    """

    auto_links = False
    """Hovering does not change how clickable text looks."""

    _rows: tuple[Line, ...] = ()
    _rows_size: Size | None = None
    _ground: Style | None = None
    """Cached background style; Textual would recompute it for each row."""

    def line(self, y: int, width: int) -> Line:
        """Return the spans of row `y`; rows are padded or cut to `width` cells."""
        raise NotImplementedError

    def notify_style_update(self) -> None:
        """Drop the cached background, because a theme or class has changed here or in a parent."""
        super().notify_style_update()
        self._ground = None

    def repaint(self) -> None:
        """Redraw the rows that `line` now returns differently."""
        before, size = self._rows, self._rows_size
        if size is None or size != self.size:
            self._rows_size = None
            self.refresh()
            return
        self._lay_out()
        width = size.width
        changed = [
            Region(0, y, width, 1)
            for y, (old, new) in enumerate(zip(before, self._rows, strict=True))
            if old != new
        ]
        if changed:
            self.refresh(*changed)

    def _lay_out(self) -> None:
        size = self._rows_size = self.size
        self._rows = tuple(self.line(y, size.width) for y in range(size.height))

    def render_line(self, y: int) -> Strip:
        if self._rows_size != self.size:
            self._lay_out()
        width = self.size.width
        base = self._ground = self._ground or self.rich_style
        spans = self._rows[y] if y < len(self._rows) else []
        if cells(spans) > width:
            spans = clip_line(spans, width)
        named_style = cast("StyledScreen", self.screen).named_style
        segments = [
            Segment(text, base + named_style(name) if name else base) for text, name in spans
        ]
        return Strip(segments).adjust_cell_length(width, base)
