"""The base of everything the screens draw: rows of styled spans through the Line API.

Rule: a widget answers `line(y, width)` with spans and style names; only this file turns names into
colours. What a name looks like is told by the stylesheet (``.style--dim`` and so on).
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
    """The one place where the style names are looked up: each widget of its own would cost more."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"style--{name}" for name in STYLES}

    def named_style(self, name: str) -> Style:
        """The style of a name; several names, joined by spaces, are laid over one another."""
        if " " in name:
            return Style.combine([self.named_style(part) for part in name.split()])
        if name.startswith(CLICK):
            return Style.from_meta({"@click": ("app.press", (name[len(CLICK) :],))})
        return self.get_component_rich_style(f"style--{name}", partial=True)


class LineWidget(Widget):
    """A widget drawn row by row from spans; it holds no children and scrolls by itself.

    Whoever changes what it shows calls `repaint`; only rows that differ are drawn anew.
    """

    auto_links = False
    """What can be clicked looks like what it is, also while the mouse is over it."""

    _rows: tuple[Line, ...] = ()
    _rows_size: Size | None = None
    _ground: Style | None = None
    """What every row is drawn on; Textual would work it out anew for each row."""

    def line(self, y: int, width: int) -> Line:
        """The spans of row `y`; they may be shorter than `width` cells, longer ones are cut."""
        raise NotImplementedError

    def notify_style_update(self) -> None:
        """Another theme, another class: here, or of what this lies in."""
        super().notify_style_update()
        self._ground = None

    def repaint(self) -> None:
        """Bring the screen up to date with what `line` says now."""
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
        """See Textual's Line API."""
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
