"""What all dialogs share: room below the header, keys in the last row, blindness to early keys.

Rule: a key that is pressed in a dialog does something or says why not; where a key is written, a
click presses it.
"""

import re
from collections.abc import Callable, Sequence
from time import monotonic
from typing import ClassVar, Protocol, TypeVar, cast

from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.screen import ModalScreen
from textual.timer import Timer

from ralph_tui.tui.draw.fitting import fitted
from ralph_tui.tui.draw.line_widget import LineWidget, StyledScreen
from ralph_tui.tui.draw.spans import Line, clickable, flat
from ralph_tui.tui.draw.told_rows import LOW, bottom_line
from ralph_tui.tui.draw.veil import Veiled

T = TypeVar("T")

ARROWS = {"left": "←", "right": "→", "up": "↑", "down": "↓"}

BLIND_S = 0.4
"""Keys typed this soon after opening were meant for what was there before."""
STILL_S, LONGEST_S = 1.0, 1.5
"""Where a letter decides, so were keys that follow a swallowed one this soon: half of a typed word
is no answer. But not for longer than `LONGEST_S` after opening: then a key is meant."""
TOLD_S = 3.0
"""How long a swallowed key is told of."""
HEADER, BELOW = 3, 2
"""Rows above and below a dialog, which it leaves to the screen's header and to its own keys."""
NO_FURTHER = "there is nothing further that way"

Pair = tuple[str, str]
"""A key as it is written, and what it does; empty: what the next one does."""


NAMES = {
    "esc": "escape",
    "?": "question_mark",
    "+": "plus",
    "*": "asterisk",
    "<": "less_than_sign",
    ">": "greater_than_sign",
    **{arrow: name for name, arrow in ARROWS.items()},
}


def pressing(line: Line, written: str) -> Line:
    """The spans, on which a click presses the key that is written so; a key may be foreign text."""
    name = NAMES.get(written, written)
    return clickable(line, name) if re.fullmatch(r"[A-Za-z0-9_+]+", name, re.ASCII) else line


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

    def leave(self) -> None:
        """Leave, or ask how."""

    def look_away(self) -> None:
        """A dialog has closed by itself: what is typed for it counts for nothing."""


class KeysRow(LineWidget):
    """The last rows: for a moment what came of the last key, and what the keys do here."""

    def __init__(self) -> None:
        super().__init__(id="dialog-keys")
        self.pairs: Sequence[Pair] = ()
        self.said = ""

    def line(self, y: int, width: int) -> Line:
        return bottom_line(y, self.size.height, self.said, self._keys, width)

    def _keys(self, width: int) -> Line:
        """The key that leads back is left out last."""
        told: list[list[Pair]] = [[]]
        for pair in self.pairs:  # keys that do the same stay together
            told[-1].append(pair)
            if pair[1]:
                told.append([])
        groups = [group for group in told if group]
        return fitted(groups, self._spans, width, lambda group: group[-1][0] == "esc")

    @staticmethod
    def _spans(groups: Sequence[Sequence[Pair]], bare: int) -> Line:
        spans: Line = [(" ", "")]
        for index, group in enumerate(groups):
            for key, verb in group:
                here: Line = [(key, "key")]
                if verb and index < len(groups) - bare:
                    here.append((f" {verb}", "text"))
                spans += [*pressing(here, key), ("  " if verb else " ", "")]
        return spans[:-1]


class Modal(ModalScreen[T], Veiled[T]):
    """A dialog; the app asks `blind` before it hands a key over.

    Help and leaving work here, too; a key that means nothing in it says so.
    """

    URGENT = frozenset({"ctrl+c"})
    """Keys that are never held back."""
    DECIDES = False
    """Whether a letter is an answer."""
    HELPS: ClassVar[Sequence[Pair]] = (("?", "help"), ("q", "leave"))
    """What works in every dialog."""

    def __init__(self, clock: Callable[[], float] = monotonic, *, guarded: bool = True) -> None:
        """`guarded`: keys that come at once were not meant for it."""
        super().__init__()
        self.clock = clock
        self.keys_row = KeysRow()
        self._guarded = guarded
        self._opened = self._sees_from = float("inf") if guarded else 0.0
        self._taking_back: Timer | None = None
        """Takes back what was said of the last key."""

    def compose(self) -> ComposeResult:
        """What the dialog consists of, and its keys below it."""
        yield from self.parts()
        yield self.keys_row

    def parts(self) -> ComposeResult:
        """What the dialog consists of."""
        raise NotImplementedError

    def pairs(self) -> Sequence[Pair]:
        """What the keys do now; those that work in every dialog come by themselves."""
        return (("esc", "close"),)

    @property
    def room(self) -> tuple[int, int]:
        """Cells and rows for the dialog with its frame."""
        columns, rows = self.app.size
        return columns, max(1, rows - (1 if rows < LOW else HEADER + BELOW))

    def on_resize(self, event: events.Resize) -> None:
        """A low screen has no header, and one row for the keys."""
        self.set_class(self.app.size.height < LOW, "-low")

    def on_mount(self) -> None:
        """Begin to be blind."""
        self.tell_how()
        if self._guarded:
            self.look_away()

    def look_away(self) -> None:
        """What is typed ahead of what stands there now counts for nothing."""
        self._opened = self.clock()
        self._sees_from = self._opened + BLIND_S

    def close_by_itself(self) -> None:
        """Its reason is gone; what is still typed for it is not taken, here or below."""
        cast("Below", self.app.screen_stack[0]).look_away()
        self.dismiss(None)

    def blind(self, key: str) -> bool:
        """Whether this key came too early; one that did is told of."""
        if key in self.URGENT or self.clock() >= self._sees_from:
            if self.keys_row.said:
                self.tell_how()  # an older answer never stands beside a newer key
            return False
        if self.DECIDES:
            self._sees_from = min(self.clock() + STILL_S, self._opened + LONGEST_S)
        self.tell(f"{key} came too early and was not taken")
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
                    self.tell(f"{key_name(event)} does nothing here: {instead}")

    def tell(self, words: str) -> None:
        """Say something above the keys for a moment."""
        if self._taking_back is not None:
            self._taking_back.stop()  # it was to take back an older answer, not this one
        self.keys_row.said = flat(words)
        self.keys_row.repaint()
        self._taking_back = self.set_timer(TOLD_S, self.tell_how)

    def scrolled(self, moved: bool) -> None:  # noqa: FBT001
        """Say so where there is nothing further to see."""
        if not moved:
            self.tell(NO_FURTHER)

    def tell_how(self) -> None:
        """Nothing is said any more."""
        self.keys_row.said = ""
        self.show_keys()

    def show_keys(self) -> None:
        """The keys have changed; what is being said stands as long as it would have."""
        typing = self.focused is not None  # there, letters are text
        self.keys_row.pairs = (*self.pairs(), *(() if typing else self.HELPS))
        self.keys_row.repaint()

    def named_style(self, name: str) -> Style:
        """The style of a name, as the cockpit below has it: a dialog draws in the same colours."""
        return cast("StyledScreen", self.app.screen_stack[0]).named_style(name)
