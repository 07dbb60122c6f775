"""What all dialogs share: they are small, and blind to keys typed before they could be seen."""

from collections.abc import Callable
from time import monotonic
from typing import TypeVar, cast

from rich.style import Style
from textual.content import Content
from textual.screen import ModalScreen

from ralph_tui.tui.draw.line_widget import StyledScreen

T = TypeVar("T")

BLIND_S = 0.4
"""Keys typed this soon after opening were meant for what was there before."""
STILL_S, LONGEST_S = 1.0, 1.5
"""Where a letter decides, so were keys that follow a swallowed one this soon: half of a typed word
is no answer. But not for longer than `LONGEST_S` after opening: then a key is meant."""
TOLD_S = 3.0
"""How long a swallowed key is told of."""


class Modal(ModalScreen[T]):
    """A dialog; the app asks `blind` before it hands a key over."""

    URGENT = frozenset({"ctrl+c"})
    """Keys that are never held back."""
    DECIDES = False
    """Whether a letter is an answer."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        super().__init__()
        self.clock = clock
        self._opened = self._sees_from = float("inf")

    def on_mount(self) -> None:
        """Begin to be blind."""
        self.look_away()

    def look_away(self) -> None:
        """What is typed ahead of what stands there now counts for nothing."""
        self._opened = self.clock()
        self._sees_from = self._opened + BLIND_S

    def blind(self, key: str) -> bool:
        """Whether this key came too early; one that did is told of."""
        if key in self.URGENT or self.clock() >= self._sees_from:
            return False
        if self.DECIDES:
            self._sees_from = min(self.clock() + STILL_S, self._opened + LONGEST_S)
        self._tell(f"{key} came too early and was not taken")
        return True

    def _tell(self, words: str) -> None:
        """Say something in the frame for a moment."""
        for frame in self.query(".dialog"):
            frame.border_subtitle = Content(f" {words} ")
            self.set_timer(TOLD_S, self.tell_how)

    def tell_how(self) -> None:
        """What stands in the frame otherwise."""
        for frame in self.query(".dialog"):
            frame.border_subtitle = None

    def named_style(self, name: str) -> Style:
        """The style of a name, as the cockpit below has it: a dialog draws in the same colours."""
        return cast("StyledScreen", self.app.screen_stack[0]).named_style(name)
