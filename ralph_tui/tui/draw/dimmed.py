"""The background of a dialog: the dimmed screen below it.

Textual would recompute every segment three times while a dialog opens, and again with each line of
agent output behind it. Rule: fetch each row once per change, and compute each dimmed colour once.
"""

from functools import lru_cache
from typing import Self, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.color import Color
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

T = TypeVar("T")


@lru_cache(maxsize=4096)
def dim_style(style: Style, colour: Color) -> Style:
    """Return the style as seen through the translucent `colour`, without links or click actions."""
    style = style.clear_meta_and_links()
    if colour.a == 0:
        return style
    front, back = (
        None if own is None else (Color.from_rich_color(own) + colour).rich_color
        for own in (style.color, style.bgcolor)
    )
    return style + Style.from_color(front, back)


class DimmedScreen(Screen[T]):
    """A dialog with a translucent background that shows the screen below."""

    def __init__(self, **names: str | None) -> None:
        super().__init__(**names)
        self._below: dict[int, Strip] = {}
        """Dimmed rows of the screen below; changed rows are missing."""
        self._laid_out = False

    def _compositor_refresh(self) -> None:
        """Skip the first paint, because widgets know their content only after the first layout.

        Textual paints an opening screen at once without its texts, and then requests another paint.
        """
        if self._laid_out:
            super()._compositor_refresh()
        self._laid_out = True

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Skip the second styling when the screen opens: each widget was styled when mounted."""
        if not self._laid_out:
            event.refresh_styles = False

    def on_screen_suspend(self) -> None:
        """Release all drawn rows.

        Textual's caches outlive a closed dialog, and every full garbage collection would scan them.
        """
        self._below.clear()
        for widget in self.walk_children(Widget, with_self=True):
            widget._styles_cache.clear()  # noqa: SLF001 - rows from the last drawing

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:
        """Refresh these rows, or all of them, after a change here or below."""
        self.forget(*regions)
        # Textual notifies only the top dialog, but the dialogs below show through it.
        for dialog in self.app.screen_stack:
            if isinstance(dialog, DimmedScreen) and dialog is not self:
                dialog.forget(*regions)
                dialog._styles_cache.set_dirty(*regions)  # noqa: SLF001 - its cached rows
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def forget(self, *regions: Region) -> None:
        """Discard these cached rows of the screen below, or all of them."""
        if not regions:
            self._below.clear()
        for region in regions:
            for y in region.line_range:
                self._below.pop(y, None)

    def render_line(self, y: int) -> Strip:
        if y not in self._below:
            self._take_rows()
        if y in self._below:
            return self._below[y]
        return Strip.blank(
            self.size.width, Style.from_color(None, self.styles.background.rich_color)
        )

    def _take_rows(self) -> None:
        """Fetch all missing rows at once: a single row costs as much as many."""
        stack, colour, rows = self.app.screen_stack, self.styles.background, self._below
        below = stack[stack.index(self) - 1]._compositor  # noqa: SLF001 - as Textual does
        drawn = below._render_chops(below.size.region, lambda y: y not in rows)  # noqa: SLF001
        for y, pieces in enumerate(drawn[: below.size.height]):
            if y not in rows:
                strip = Strip.join(pieces.values())
                segments = [
                    Segment(text, dim_style(style or Style(), colour)) for text, style, _ in strip
                ]
                rows[y] = Strip(segments, strip.cell_length)
