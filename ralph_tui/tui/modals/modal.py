"""What all dialogs share: they are small, and blind to keys typed before they could be seen."""

from collections.abc import Callable
from time import monotonic
from typing import Protocol, TypeVar, cast

from rich.style import Style
from textual import events
from textual.content import Content
from textual.screen import ModalScreen
from textual.timer import Timer

from ralph_tui.tui.draw.line_widget import StyledScreen

T = TypeVar("T")

ARROWS = {"left": "←", "right": "→", "up": "↑", "down": "↓"}

BLIND_S = 0.4
"""Keys typed this soon after opening were meant for what was there before."""
STILL_S, LONGEST_S = 1.0, 1.5
"""Where a letter decides, so were keys that follow a swallowed one this soon: half of a typed word
is no answer. But not for longer than `LONGEST_S` after opening: then a key is meant."""
TOLD_S = 3.0
"""How long a swallowed key is told of."""


def key_name(event: events.Key) -> str:
    """A key as people call it: ``x``, ``space``, ``shift+←``, ``f5``."""
    if event.is_printable and event.character and not event.character.isspace():
        return event.character
    *held, key = event.key.split("+")
    return "+".join([*held, ARROWS.get(key, key)])


class Below(Protocol):
    """The screen at the bottom of the stack, as a dialog needs it."""

    def open_help(self) -> None:
        """Explain keys and signs."""
        ...

    def leave(self) -> None:
        """Leave, or ask how."""
        ...


class Modal(ModalScreen[T]):
    """A dialog; the app asks `blind` before it hands a key over.

    Help and leaving work here, too; a key that means nothing in it says so.
    """

    URGENT = frozenset({"ctrl+c"})
    """Keys that are never held back."""
    DECIDES = False
    """Whether a letter is an answer."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        super().__init__()
        self.clock = clock
        self._opened = self._sees_from = float("inf")
        self._taking_back: Timer | None = None
        """Takes back what was said of the last key."""

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

    def take_key(self, event: events.Key) -> bool:
        """Do what this key means here beside the bindings; whether it means anything."""
        return False

    def on_key(self, event: events.Key) -> None:
        """A key that no editor has taken."""
        if self.take_key(event):
            event.stop()
        elif event.key not in self.active_bindings:
            event.stop()
            below = cast("Below", self.app.screen_stack[0])
            match event.key:
                case "question_mark" | "f1":
                    self.tell_how()
                    below.open_help()
                case "q":
                    self.tell_how()
                    below.leave()
                case _:
                    instead = "answer first, or esc" if self.DECIDES else "esc closes"
                    self._tell(f"{key_name(event)} does nothing here: {instead}")

    def _tell(self, words: str) -> None:
        """Say something in the frame for a moment."""
        if self._taking_back is not None:
            self._taking_back.stop()  # it was to take back an older answer, not this one
        for frame in self.query(".dialog"):
            frame.border_subtitle = Content(f" {words} ")
        self._taking_back = self.set_timer(TOLD_S, self.tell_how)

    def tell_how(self) -> None:
        """What stands in the frame otherwise."""
        for frame in self.query(".dialog"):
            frame.border_subtitle = None

    def named_style(self, name: str) -> Style:
        """The style of a name, as the cockpit below has it: a dialog draws in the same colours."""
        return cast("StyledScreen", self.app.screen_stack[0]).named_style(name)
