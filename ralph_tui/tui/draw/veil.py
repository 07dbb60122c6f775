"""What is seen behind a dialog: the screen below, its colours drawn towards the background.

Textual works every segment out anew, three times while a dialog opens and with each line that an
agent says behind it. Rule: rows are taken from below once for each change there, a colour is mixed
once.
"""

from functools import lru_cache
from typing import Self, TypeVar

from rich.segment import Segment
from rich.style import Style
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

    _below: list[Strip] | None = None
    """The rows of the screen below, as they were when something changed last."""

    def on_screen_suspend(self) -> None:
        """Let all drawn rows go: Textual remembers what drew them long after a dialog is closed,
        and each full collection of garbage would look through those of every dialog there was.
        """
        self._below = None
        for widget in self.walk_children(Widget, with_self=True):
            widget._styles_cache.clear()  # noqa: SLF001 - the rows as they were drawn last

    def refresh(
        self,
        *regions: Region,
        repaint: bool = True,
        layout: bool = False,
        recompose: bool = False,
    ) -> Self:
        """Something changed, here or below."""
        self._below = None
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def render_line(self, y: int) -> Strip:
        """See Textual's Line API."""
        if self._below is None:
            stack = self.app.screen_stack
            below = stack[stack.index(self) - 1]
            self._below = below._compositor.render_strips()  # noqa: SLF001 - as Textual's own
        colour = self.styles.background
        if y >= len(self._below):
            return Strip.blank(self.size.width, Style.from_color(None, colour.rich_color))
        strip = self._below[y]
        return Strip(
            [Segment(text, veiled(style or Style(), colour)) for text, style, _ in strip],
            strip.cell_length,
        )
