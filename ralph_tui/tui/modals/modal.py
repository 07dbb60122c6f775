"""Base of all dialogs: space below the header, keys in the last row, a guard against early keys.

Rule: a key pressed in a dialog either has an effect or gets a reason why not. Where a key is shown,
a click presses it.
"""

import re
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, ClassVar, Protocol, TypeVar, cast

from rich.style import Style
from textual import events
from textual.app import App, ComposeResult
from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen
from textual.timer import Timer

from ralph_tui.tui.draw.dimmed import DimmedScreen
from ralph_tui.tui.draw.feedback_rows import LOW, bottom_line
from ralph_tui.tui.draw.fitting import fitted
from ralph_tui.tui.draw.line_widget import LineWidget, StyledScreen
from ralph_tui.tui.draw.spans import Line, clickable, flat
from ralph_tui.tui.stylesheets import add_styles

T = TypeVar("T")

ARROWS = {"left": "←", "right": "→", "up": "↑", "down": "↓"}

EARLY_S = 0.4
"""Seconds after opening during which keys are ignored: they were meant for the screen below."""
STILL_S, LONGEST_S = 1.0, 1.5
"""Seconds for which a dialog with letter keys ignores further keys after it has ignored one.

Otherwise, the rest of a word typed too early would count as an answer. From `LONGEST_S` seconds
after opening, no key is ignored.
"""
NOTICE_S = 3.0
"""How long a notice is shown."""
HEADER, BELOW = 3, 2
"""Rows above and below a dialog, left free for the screen's header and the dialog's keys."""
NO_FURTHER = "nothing more in that direction"

Pair = tuple[str, str]
"""A key as shown, and its effect; if that is empty, the next pair's effect applies to both."""


NAMES = {
    "esc": "escape",
    "?": "question_mark",
    "+": "plus",
    "*": "asterisk",
    "<": "less_than_sign",
    ">": "greater_than_sign",
    **{arrow: name for name, arrow in ARROWS.items()},
}


def press_on_click(line: Line, written: str) -> Line:
    """Make a click on the line press this key, unless the key has unsafe characters."""
    name = NAMES.get(written, written)
    return clickable(line, name) if re.fullmatch(r"[A-Za-z0-9_+]+", name, re.ASCII) else line


def key_name(event: events.Key) -> str:
    """Return the usual name of a key: ``x``, ``space``, ``shift+←``, ``f5``."""
    if event.is_printable and event.character and not event.character.isspace():
        return event.character
    *held, key = event.key.split("+")
    return "+".join([*held, ARROWS.get(key, key)])


class BottomScreen(Protocol):
    """What dialogs need from the bottom screen of the stack."""

    def open_help(self) -> None:
        """Open the help: keys and signs."""

    def leave(self) -> None:
        """Leave, or ask how to leave."""

    def ignore_keys(self) -> None:
        """Ignore the next keys: a dialog has closed on its own, and they may be meant for it."""


class KeysRow(LineWidget):
    """The last rows: a brief notice, and the available keys."""

    def __init__(self) -> None:
        super().__init__(id="dialog-keys")
        self.pairs: Sequence[Pair] = ()
        self.notice = ""

    def line(self, y: int, width: int) -> Line:
        return bottom_line(y, self.size.height, self.notice, self._keys, width)

    def _keys(self, width: int) -> Line:
        """Return the keys that fit; esc is dropped last."""
        all_groups: list[list[Pair]] = [[]]
        for pair in self.pairs:  # keys with the same effect stay together
            all_groups[-1].append(pair)
            if pair[1]:
                all_groups.append([])
        groups = [group for group in all_groups if group]
        return fitted(groups, self._spans, width, lambda group: group[-1][0] == "esc")

    @staticmethod
    def _spans(groups: Sequence[Sequence[Pair]], bare: int) -> Line:
        spans: Line = [(" ", "")]
        for index, group in enumerate(groups):
            for key, verb in group:
                here: Line = [(key, "key")]
                if verb and index < len(groups) - bare:
                    here.append((f" {verb}", "text"))
                spans += [*press_on_click(here, key), ("  " if verb else " ", "")]
        return spans[:-1]


class Modal(ModalScreen[T], DimmedScreen[T]):
    """A dialog; the app calls `ignores` before it passes on a key.

    Help and leaving work in every dialog. A key without a meaning is reported.
    """

    STYLES: ClassVar[Sequence[str]] = ("dialogs.tcss",)
    """Stylesheets beside `ralph.tcss` that this dialog needs."""
    URGENT = frozenset({"ctrl+c"})
    """Keys that are never ignored."""
    DECIDES = False
    """True if typing a letter gives an answer."""
    COMMON_KEYS: ClassVar[Sequence[Pair]] = (("?", "help"), ("q", "leave"))
    """Keys that work in every dialog."""

    def __init__(self, clock: Callable[[], float] = monotonic, *, guarded: bool = True) -> None:
        """`guarded` dialogs ignore keys typed right after opening."""
        super().__init__()
        self.clock = clock
        self.keys_row = KeysRow()
        self._guarded = guarded
        self._opened = self._accepts_from = float("inf") if guarded else 0.0
        self._notice_timer: Timer | None = None
        """Timer that clears the notice."""
        self._dismissed = False

    def _post_register(self, app: App[Any]) -> None:
        super()._post_register(app)
        add_styles(app, self.STYLES)

    def compose(self) -> ComposeResult:
        yield from self.parts()
        yield self.keys_row

    def parts(self) -> ComposeResult:
        """Yield the content of the dialog."""
        raise NotImplementedError

    def pairs(self) -> Sequence[Pair]:
        """Return the keys available now; the dialog adds those of `COMMON_KEYS`."""
        return (("esc", "close"),)

    @property
    def room(self) -> tuple[int, int]:
        """Columns and rows available for the dialog and its frame."""
        columns, rows = self.app.size
        return columns, max(1, rows - (1 if rows < LOW else HEADER + BELOW))

    def on_resize(self, event: events.Resize) -> None:
        """Set the layout of a low screen: no header, and one row for the keys."""
        self.set_class(self.app.size.height < LOW, "-low")

    def dismiss(self, result: T | None = None) -> AwaitComplete:
        """Close the dialog once: more keys may arrive before it is gone."""
        if self._dismissed:
            return AwaitComplete()
        self._dismissed = True
        return super().dismiss(result)

    def on_mount(self) -> None:
        """Start ignoring early keys."""
        self.clear_notice()
        if self._guarded:
            self.ignore_keys()

    def ignore_keys(self) -> None:
        """Ignore early keys again: they were typed before the current content was shown."""
        self._opened = self.clock()
        self._accepts_from = self._opened + EARLY_S

    def close_obsolete(self) -> None:
        """Close an obsolete dialog, and ignore keys that were meant for it, here and below."""
        cast("BottomScreen", self.app.screen_stack[0]).ignore_keys()
        self.dismiss(None)

    def ignores(self, key: str) -> bool:
        """Return True, with a notice, if this key came too early."""
        if key in self.URGENT or self.clock() >= self._accepts_from:
            if self.keys_row.notice:
                self.clear_notice()  # an older notice must not outlast a newer key
            return False
        if self.DECIDES:
            self._accepts_from = min(self.clock() + STILL_S, self._opened + LONGEST_S)
        self.report(f"{key} ignored: pressed too early")
        return True

    def accept_key(self, event: events.Key) -> bool:
        """Handle a key that has no binding; return True if it means something here."""
        return False

    def on_key(self, event: events.Key) -> None:
        """Handle a key that no editor has handled."""
        if self.accept_key(event):
            event.stop()
        elif event.key not in self.active_bindings:
            event.stop()
            below = cast("BottomScreen", self.app.screen_stack[0])
            match event.key:
                case "question_mark" | "f1":
                    self.clear_notice()
                    below.open_help()
                case "q":
                    self.clear_notice()
                    below.leave()
                case _:
                    instead = "answer first, or press esc" if self.DECIDES else "esc closes"
                    self.report(f"{key_name(event)} does nothing here; {instead}")

    def report(self, words: str) -> None:
        """Briefly show a notice above the keys."""
        if self._notice_timer is not None:
            self._notice_timer.stop()  # it would clear this notice too early
        self.keys_row.notice = flat(words)
        self.keys_row.repaint()
        self._notice_timer = self.set_timer(NOTICE_S, self.clear_notice)

    def report_end(self, moved: bool) -> None:  # noqa: FBT001
        """Report if there is nothing further to see."""
        if not moved:
            self.report(NO_FURTHER)

    def clear_notice(self) -> None:
        self.keys_row.notice = ""
        self.show_keys()

    def show_keys(self) -> None:
        """Redraw the keys; a notice stays until its time is up."""
        typing = self.focused is not None  # in an editor, letters are text
        self.keys_row.pairs = (*self.pairs(), *(() if typing else self.COMMON_KEYS))
        self.keys_row.repaint()

    def named_style(self, name: str) -> Style:
        """Return a style of the screen below, so that dialogs have the same colours."""
        return cast("StyledScreen", self.app.screen_stack[0]).named_style(name)
