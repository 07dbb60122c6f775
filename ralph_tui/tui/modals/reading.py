"""What dialogs share that are read: rows that scroll by the same keys, and close by the same.

Rule: a dialog lays its rows out in `lay`, which comes first and with each other size.
"""

from collections.abc import Callable
from time import monotonic
from typing import ClassVar, TypeVar

from textual import events
from textual.binding import Binding, BindingType

from ralph_tui.tui.modals.modal import Modal
from ralph_tui.tui.modals.scroll_text import ScrollText

T = TypeVar("T")


class Reading(Modal[T | None]):
    """Scrolls its `text`; closed, it answers nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter", "close", show=False),
        Binding("down,j", "roll(1)", show=False),
        Binding("up,k", "roll(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("home", "roll(-100000)", show=False),
        Binding("end", "roll(100000)", show=False),
    ]

    def __init__(self, name: str, clock: Callable[[], float] = monotonic) -> None:
        """`name`: the id of its text."""
        super().__init__(clock)
        self.text = ScrollText(name)

    def lay(self) -> None:
        """Put the rows in their place, for the size that the screen has."""
        raise NotImplementedError

    def on_resize(self, event: events.Resize) -> None:
        """It comes first, and with each other size."""
        self.lay()

    def action_roll(self, by: int) -> None:
        """Scroll."""
        self.scrolled(self.text.roll(by))

    def action_page(self, by: int) -> None:
        """A screenful."""
        self.scrolled(self.text.page(by))

    def action_close(self) -> None:
        """Close."""
        self.dismiss(None)
