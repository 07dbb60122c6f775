"""The Textual app: themes, keys that work everywhere, and an orderly way out.

Rule: it knows the source and the screen; it decides nothing about the run, nor about exit codes.
"""

import os
from collections.abc import Callable
from time import monotonic as real_monotonic
from typing import ClassVar

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType

from ralph_tui.text import one_line
from ralph_tui.tui.cockpit import CockpitScreen
from ralph_tui.tui.modals.modal import Modal
from ralph_tui.tui.source import Source
from ralph_tui.tui.themes import TERMINAL, THEMES, ink_for, named

AFTER_PAINT_S = 0.1
"""Loading the rest any earlier would hold the first frame up."""
NEEDED = "\x1b[22;2t\x1b]2;ralph-tui needs you\x07"
"""Puts the terminal's title away and sets another."""
NEEDED_NO_MORE = "\x1b]2;ralph-tui\x07\x1b[23;2t"
"""Brings the title back; where the terminal cannot, it is at least no longer a call."""


class CockpitApp(App[int], inherit_bindings=False):
    """Shows one run, live or recorded; the caller decides the exit code."""

    CSS_PATH = "ralph.tcss"
    ENABLE_COMMAND_PALETTE = False
    AUTO_FOCUS = None

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", show=False, priority=True),
        Binding("ctrl+q", "leave", show=False, priority=True),
    ]

    def __init__(
        self,
        source: Source,
        title: str = "ralph-tui",
        *,
        theme: str | None = None,
        monotonic: Callable[[], float] = real_monotonic,
        ready: Callable[[], None] | None = None,
    ) -> None:
        """`ready` is called once, when the first screen stands."""
        colourless = "NO_COLOR" in os.environ
        super().__init__(ansi_color=True if colourless else None)
        self.animation_level = "none"
        self.source = source
        self.monotonic = monotonic
        self._when_painted = ready
        self.title = one_line(title)
        for known in THEMES:
            self.register_theme(known)
        self.theme = TERMINAL.name if colourless else named(theme, self.available_themes)
        self._screen: CockpitScreen | None = None

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """What panes draw with, also in themes that know nothing of it."""
        return ink_for(self.current_theme)

    def get_default_screen(self) -> CockpitScreen:
        """The cockpit itself: a screen below it would only delay the first paint."""
        self._screen = CockpitScreen(self.source)
        return self._screen

    def on_mount(self) -> None:
        """Let the caller begin once the first screen stands."""
        if self._when_painted is not None:
            self.set_timer(AFTER_PAINT_S, self._when_painted)

    async def on_event(self, event: events.Event) -> None:
        """Hold back keys that were typed before an opening dialog could be seen."""
        if isinstance(event, events.Key) and self.screen_stack:
            screen = self.screen
            if isinstance(screen, Modal) and screen.blind(event.key):
                return
        await super().on_event(event)

    def next_theme(self) -> str:
        """Switch to the next theme; says which, or why not."""
        if self.no_color:
            return "theme: colours are off, because NO_COLOR is set"
        names = [theme.name for theme in THEMES]
        here = names.index(self.theme) if self.theme in names else -1
        self.theme = names[(here + 1) % len(names)]
        return f"theme: {self.theme}"

    def call_owner(self, *, needed: bool) -> None:
        """Ring once and say so in the terminal's title; or give the title back."""
        if needed:
            self.bell()
        if self._driver is not None and not self.is_headless:
            self._driver.write(NEEDED if needed else NEEDED_NO_MORE)

    def action_interrupt(self) -> None:
        """ctrl+c."""
        if self._screen is not None:
            self._screen.dialogs.interrupt(self._screen.state)

    def action_leave(self) -> None:
        """ctrl+q."""
        if self._screen is not None:
            self._screen.do_leave()

    async def action_quit(self) -> None:
        """Textual's own way out leads through the same dialog."""
        self.action_leave()

    def on_hangup(self, by: str = "signal") -> None:
        """For the caller's handlers of HUP and TERM: stop the run, then leave within 8 seconds."""
        if self._screen is None or not self.source.live:
            self.exit()
        else:
            self._screen.dialogs.stop_now(by)
