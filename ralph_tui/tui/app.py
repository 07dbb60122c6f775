"""The Textual app: themes, keys that work everywhere, and an orderly way out.

Rule: it knows the source and the screen; it decides nothing about the run, nor about exit codes.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic as real_monotonic
from typing import ClassVar

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType

from ralph_tui.ports.source import Source
from ralph_tui.state import RunState
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.tui.cockpit.screen import CockpitScreen
from ralph_tui.tui.modals.modal import Modal
from ralph_tui.tui.themes import TERMINAL, THEMES, ink_for, named

AFTER_PAINT_S = 0.1
"""Loading the rest any earlier would hold the first frame up."""
NEEDED = "\x1b[22;2t\x1b]2;ralph-tui needs you\x07"
"""Puts the terminal's title away and sets another."""
NEEDED_NO_MORE = "\x1b]2;ralph-tui\x07\x1b[23;2t"
"""Brings the title back; where the terminal cannot, it is at least no longer a call."""
CALL_CELLS = 160
"""Of the text of a desktop notification."""


def call_text(state: RunState) -> str:
    """What the owner is called for."""
    run, question = state.run, state.needs.question
    if run.crash is not None:
        return "the run has crashed"
    if run.finished is not None:
        return f"{run.finished.outcome.replace('_', ' ')}: {run.finished.reason}"
    return question.text if question is not None else "the run needs you"


def desktop_call(text: str, environ: Mapping[str, str]) -> str:
    """The sequence that notifies the desktop, in the dialect of this terminal.

    A terminal that knows none ignores it; one that knows both would notify twice. tmux hands it on
    where ``allow-passthrough`` is on.
    """
    text = clip(one_line(text), CALL_CELLS)
    term = environ.get("TERM", "")
    if "VTE_VERSION" in environ or term.startswith(("foot", "rxvt")):
        sequence = f"\x1b]777;notify;ralph-tui needs you;{text}\x07"
    else:
        sequence = f"\x1b]9;ralph-tui needs you: {text}\x07"
    if environ.get("TMUX"):
        sequence = "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    return sequence


class CockpitApp(App[str], inherit_bindings=False):
    """Shows one run, live or recorded; the caller decides the exit code.

    It returns ``screen`` when its owner wanted to leave only that.
    """

    CSS_PATH = Path(__file__).with_name("ralph.tcss")
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
        self._was_live = False
        self._called_at_end = False

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """What panes draw with, also in themes that know nothing of it."""
        return ink_for(self.current_theme)

    def get_default_screen(self) -> CockpitScreen:
        """The cockpit itself: a screen below it would only delay the first paint."""
        self._screen = CockpitScreen(self.source)
        return self._screen

    def refresh_css(self, animate: bool = True) -> None:  # noqa: FBT001  as it is called
        """Not before there is a screen: its widgets bring styles, with which all are parsed."""
        self.stylesheet.set_variables(self.get_css_variables())
        if self.screen_stack:
            super().refresh_css(animate)

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
        """Ring once, say so in the terminal's title and on the desktop; or give the title back."""
        if needed:
            self.bell()
        if self._driver is None or self.is_headless:
            return
        if needed and self._screen is not None:
            self._driver.write(NEEDED + desktop_call(call_text(self._screen.state), os.environ))
        else:
            self._driver.write(NEEDED_NO_MORE)

    def follow_end(self, state: RunState) -> None:
        """Call the owner once, when a run ends before his eyes."""
        if self._was_live and not state.run.live and self.source.live:
            self._called_at_end = True
            self.call_owner(needed=True)
        self._was_live = state.run.live

    def end_call(self) -> None:
        """The screen is gone, and with it the reason to call."""
        if self._called_at_end:
            self.call_owner(needed=False)

    def action_interrupt(self) -> None:
        """ctrl+c."""
        if self._screen is not None:
            self._screen.dialogs.interrupt(self._screen.state)

    def action_leave(self) -> None:
        """ctrl+q."""
        if self._screen is not None:
            self._screen.dialogs.ask_to_leave(self._screen.state)

    async def action_quit(self) -> None:
        """Textual's own way out leads through the same dialog."""
        self.action_leave()

    def on_hangup(self, by: str = "signal") -> None:
        """For the caller's signals: stop a run of this process, then leave within 8 seconds."""
        if self._screen is None or not self.source.live or self.source.elsewhere:
            self.exit()
        else:
            self._screen.dialogs.stop_now(by)
