"""What is seen behind a dialog: the screen below, its colours drawn towards the background.

Textual works every segment out anew, three times while a dialog opens and with each line that an
agent says behind it. Rule: a row is taken from below once for each change of it, a colour is mixed
once.
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
def veiled(style: Style, colour: Color) -> Style:
    """The style behind `colour`, which lets some of it through; nothing can be clicked there."""
    style = style.clear_meta_and_links()
    if colour.a == 0:
        return style
    front, back = (
        None if own is None else (Color.from_rich_color(own) + colour).rich_color
        for own in (style.color, style.bgcolor)
    )
    return style + Style.from_color(front, back)


class Veiled(Screen[T]):
    """A dialog whose background lets the screen below through."""

    def __init__(self, **names: str | None) -> None:
        """`names`: see Textual's screens."""
        super().__init__(**names)
        self._below: dict[int, Strip] = {}
        """The rows of the screen below as they are seen here, but those that have changed."""
        self._laid_out = False

    def _compositor_refresh(self) -> None:
        """Not after the first layout: what a widget shows in the room it got is known only then.

        Textual paints a screen that opens at once, without its texts, and asks for another paint.
        """
        if self._laid_out:
            super()._compositor_refresh()
        self._laid_out = True

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Skip the second styling when the screen opens: each widget was styled when mounted."""
        if not self._laid_out:
            event.refresh_styles = False

    def on_screen_suspend(self) -> None:
        """Let all drawn rows go: Textual remembers what drew them long after a dialog is closed,
        and each full collection of garbage would look through those of every dialog there was.
        """
        self._below.clear()
        for widget in self.walk_children(Widget, with_self=True):
            widget._styles_cache.clear()  # noqa: SLF001 - the rows as they were drawn last

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:
        """Something changed, here or below: in these rows, or in any."""
        self.forget(*regions)
        # Textual tells the top dialog alone, which looks through those between.
        for dialog in self.app.screen_stack:
            if isinstance(dialog, Veiled) and dialog is not self:
                dialog.forget(*regions)
                dialog._styles_cache.set_dirty(*regions)  # noqa: SLF001 - the rows it has drawn
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def forget(self, *regions: Region) -> None:
        """Take these rows of the screen below anew, or all of them."""
        if not regions:
            self._below.clear()
        for region in regions:
            for y in region.line_range:
                self._below.pop(y, None)

    def render_line(self, y: int) -> Strip:
        """See Textual's Line API."""
        if y not in self._below:
            self._take_rows()
        if y in self._below:
            return self._below[y]
        return Strip.blank(
            self.size.width, Style.from_color(None, self.styles.background.rich_color)
        )

    def _take_rows(self) -> None:
        """All that are lacking: to look for one in the screen below costs as much as for many."""
        stack, colour, rows = self.app.screen_stack, self.styles.background, self._below
        below = stack[stack.index(self) - 1]._compositor  # noqa: SLF001 - as Textual's own
        drawn = below._render_chops(below.size.region, lambda y: y not in rows)  # noqa: SLF001
        for y, pieces in enumerate(drawn[: below.size.height]):
            if y not in rows:
                strip = Strip.join(pieces.values())
                segments = [
                    Segment(text, veiled(style or Style(), colour)) for text, style, _ in strip
                ]
                rows[y] = Strip(segments, strip.cell_length)
