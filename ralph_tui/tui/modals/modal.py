"""What all dialogs share: they are small, and blind to keys typed before they could be seen."""

from collections.abc import Callable
from time import monotonic
from typing import TypeVar, cast

from rich.style import Style
from textual.screen import ModalScreen

from ralph_tui.tui.ink import InkScreen

T = TypeVar("T")

BLIND_S = 0.4
"""Keys typed this soon after opening were meant for what was there before."""


class Modal(ModalScreen[T]):
    """A dialog; the app asks `blind` before it hands a key over."""

    URGENT = frozenset({"ctrl+c"})
    """Keys that are never held back."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        super().__init__()
        self.clock = clock
        self._opened: float | None = None

    def on_mount(self) -> None:
        """Begin to be blind."""
        self._opened = self.clock()

    def blind(self, key: str) -> bool:
        """Whether this key came too early."""
        if key in self.URGENT:
            return False
        return self._opened is None or self.clock() - self._opened < BLIND_S

    def ink(self, name: str) -> Style:
        """The style of a name, as the cockpit below has it: a dialog draws in the same colours."""
        return cast("InkScreen", self.app.screen_stack[0]).ink(name)
