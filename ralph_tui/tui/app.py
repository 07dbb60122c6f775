"""The Textual app: themes, alerts, and keys that work everywhere.

Rule: it knows no concrete screen, run or exit code. Each mode has a stack of screens: the bottom
screen handles the keys that work everywhere, and the others are dialogs.
"""

import gc
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import monotonic as real_monotonic
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

from rich.console import RenderableType
from textual import events, on
from textual.app import App
from textual.binding import Binding, BindingType
from textual.keys import key_to_character
from textual.message_pump import MessagePump
from textual.timer import Timer

from ralph_tui.text.keys import DEFAULTS, Keys
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.tui.draw.line_widget import StyledScreen
from ralph_tui.tui.driver import TerminalApp
from ralph_tui.tui.modals.modal import Modal
from ralph_tui.tui.stylesheets import add_styles
from ralph_tui.tui.themes import TERMINAL, THEMES, named, styles_for

if TYPE_CHECKING:
    from ralph_tui.ports.source import Source

PAINTED_S = 0.3
"""Seconds after which a key's effect is assumed to be on the screen."""
MOST = 100_000
"""Maximum number of new objects; beyond it, further keys no longer postpone the collection."""


class CollectionPause:
    """Postpones Python's garbage collection while a key is handled.

    Opening a dialog allocates enough to trigger a collection almost every time, which would delay
    the key by 4 to 80 ms. Rule: `resume` always re-enables collection. If it was disabled for
    another reason, such as while a command loads, it stays disabled.
    """

    def __init__(self, owner: MessagePump) -> None:
        self._owner = owner
        self._timer: Timer | None = None

    def postpone(self) -> None:
        """Postpone collection because a key was pressed."""
        if self._timer is not None:
            if gc.get_count()[0] < MOST:
                self._timer.reset()
        elif gc.isenabled():
            gc.disable()
            self._timer = self._owner.set_timer(PAINTED_S, self.resume)

    def resume(self) -> None:
        """Re-enable collection: the key has been handled, or the screen has closed."""
        if self._timer is not None:
            self._timer = None
            gc.enable()


ALERT_TITLE = "\x1b[22;2t\x1b]2;ralph-tui needs you\x07"
"""Saves the terminal's title and sets another one."""
RESTORE_TITLE = "\x1b]2;ralph-tui\x07\x1b[23;2t"
"""Restores the title; a terminal that cannot do this at least shows a neutral one."""
ALERT_CELLS = 160
"""Maximum width of a desktop notification's text, in cells."""


def desktop_notification(text: str, environ: Mapping[str, str]) -> str:
    """Return the escape sequence for a desktop notification in this terminal.

    Terminals without notifications ignore it. Only one dialect is sent, as a terminal that knows
    both would notify twice. tmux passes it on if ``allow-passthrough`` is on.
    """
    text = clip(one_line(text), ALERT_CELLS)
    term = environ.get("TERM", "")
    if "VTE_VERSION" in environ or term.startswith(("foot", "rxvt")):
        sequence = f"\x1b]777;notify;ralph-tui needs you;{text}\x07"
    else:
        sequence = f"\x1b]9;ralph-tui needs you: {text}\x07"
    if environ.get("TMUX"):
        sequence = "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    return sequence


OPENING_RESUMES = 2
"""Maximum number of times that Textual resumes a screen while it opens."""
IGNORE_S = 1.0
"""Seconds for which keys are ignored after a dialog closes on its own: they were meant for it."""
URGENT = frozenset({"ctrl+c", "ctrl+q"})
"""Keys that are never ignored."""


class BaseScreen(StyledScreen):
    """The bottom screen of a stack; it is active even below a dialog."""

    STYLES: ClassVar[Sequence[str]] = ()
    """Stylesheets beside `ralph.tcss` that only this screen needs."""
    typed: Sequence[events.Key] = ()
    """Keys typed ahead for the screen that replaces this one."""

    _ignore_until = float("-inf")
    on_activity: Callable[[], None] = staticmethod(lambda: None)
    """Called from time to time while the user presses keys or uses the mouse on any screen."""

    def __init__(self) -> None:
        super().__init__()
        # Mounting styles it for this theme, so Textual need not parse all styles again.
        self._css_update_count = self.app._css_update_count  # noqa: SLF001

    def _post_register(self, app: App[Any]) -> None:
        super()._post_register(app)
        add_styles(app, self.STYLES)

    @on(events.ScreenResume)
    def _skip_restyle(self, event: events.ScreenResume) -> None:
        """Skip styling again when the screen opens, which Textual requests up to twice.

        Each widget was styled when mounted.
        """
        if self.stack_updates < OPENING_RESUMES:
            event.refresh_styles = False

    @property
    def ralph(self) -> "RalphApp":
        """The app, which knows the other screens."""
        return cast("RalphApp", self.app)

    def before_key(self) -> None:
        """Called for each key pressed here or in a dialog above, before it is handled."""

    def report(self, text: str) -> None:
        """Show feedback for a key."""

    def ignore_keys(self) -> None:
        """Ignore keys for a moment, because a dialog above has closed on its own."""
        self._ignore_until = self.ralph.monotonic() + IGNORE_S

    def ignores(self, key: str) -> bool:
        """True, with a message, if this key was meant for a dialog that closed on its own."""
        if key in URGENT or self.ralph.monotonic() >= self._ignore_until:
            return False
        self.report(f"{key} ignored: a dialog just closed")
        return True

    def open_help(self) -> None:
        """Handle ``?``."""
        raise NotImplementedError

    def leave(self) -> None:
        """Handle ``q``."""
        self.app.exit()

    def interrupt(self) -> None:
        """Handle ctrl+c."""
        self.leave()

    def ask_to_leave(self) -> None:
        """Handle ctrl+q."""
        self.leave()

    def hang_up(self, by: str) -> None:
        """End anything that only this screen keeps running, and leave; `by` is the signal."""
        self.app.exit()

    def take_early_key(self, event: events.Key) -> bool:
        """Handle a key pressed while this screen was opening; True if the screen takes it."""
        return False

    def show_alert(self, text: str) -> None:
        """Show why the user is needed on another screen; an empty `text` clears the alert."""


EVERY_S = 20.0
"""Minimum seconds between two reports of the user's presence."""


class Presence:
    """Tells the first screen that the user is present when a key or the mouse is used."""

    def __init__(
        self, screen: Callable[[], BaseScreen | None], monotonic: Callable[[], float]
    ) -> None:
        self._screen, self._monotonic = screen, monotonic
        self._reported_at = float("-inf")

    def record(self, event: events.Event) -> None:
        """Report presence if this is a key or mouse event; called before it is handled."""
        if isinstance(event, events.Key | events.MouseEvent):
            now = self._monotonic()
            screen = self._screen()
            if screen is not None and now - self._reported_at >= EVERY_S:
                self._reported_at = now
                screen.on_activity()


class SideScreen(BaseScreen):
    """A screen beside the first one; keys that concern the run lead back to the first."""

    def leave(self) -> None:
        self.ralph.back()

    def interrupt(self) -> None:
        self.ralph.home()
        self.ralph.base.interrupt()

    def ask_to_leave(self) -> None:
        self.ralph.home()
        self.ralph.base.ask_to_leave()

    def hang_up(self, by: str) -> None:
        """Do nothing: this screen keeps nothing running."""


class SideScreens(NamedTuple):
    """Factories for screens beside the first one."""

    search: Callable[[], SideScreen]
    recorded: "Callable[[Source], SideScreen]"
    """Makes a screen for a recorded run, such as a search hit."""


COCKPIT, SEARCH, RECORDED = "cockpit", "search", "recorded"
"""Further modes: the screen that replaces the first one, and two side screens."""


class RalphApp(TerminalApp, inherit_bindings=False):
    """Shows the given screens; the caller decides the exit code.

    It returns ``screen`` if the user left only the screen.
    """

    CSS_PATH = Path(__file__).with_name("ralph.tcss")
    DEFAULT_MODE = "first"
    ENABLE_COMMAND_PALETTE = False
    AUTO_FOCUS = None

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", show=False, priority=True),
        Binding("ctrl+q", "leave", show=False, priority=True),
    ]

    def __init__(
        self,
        cockpit: Callable[[], BaseScreen],
        title: str = "ralph-tui",
        *,
        theme: str | None = None,
        monotonic: Callable[[], float] = real_monotonic,
        ready: Callable[[], None] | None = None,
        beside: SideScreens | None = None,
        keys: Keys = DEFAULTS,
    ) -> None:
        """Create the app; `cockpit` makes the first screen.

        `ready` is called once, after the first frame is painted. `beside` makes further screens, if
        any. `keys` are the user's key settings.
        """
        self.keys, self.monotonic = keys, monotonic
        colourless = "NO_COLOR" in os.environ
        super().__init__(ansi_color=True if colourless else None)
        self.animation_level = "none"
        self._make_cockpit, self._when_painted = cockpit, ready
        self.title = one_line(title)
        for known in THEMES:
            self.register_theme(known)
        self.theme = TERMINAL.name if colourless else named(theme, self.available_themes)
        self._cockpit: BaseScreen | None = None
        self._home = self.DEFAULT_MODE
        """Mode of the first screen."""
        self.add_mode(self._home, self._first_screen)
        self._search_origin = self._home
        """Mode from which the search was opened."""
        self._presence = Presence(lambda: self._cockpit, monotonic)
        self._alert_text, self._is_ready = "", False
        self._pending_exit: Callable[[], None] | None = None
        self.next_command: tuple[tuple[str, ...], Path | None] | None = None
        """A command line to continue with in this terminal, and the worktree to run it in."""
        self._add_side_screens(beside)
        self._gc_pause = CollectionPause(self)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Provide the panes' style variables for themes that do not define them."""
        return styles_for(self.current_theme)

    @property
    def base(self) -> BaseScreen:
        """The screen below all open dialogs."""
        return cast("BaseScreen", self.screen_stack[0])

    def _first_screen(self) -> BaseScreen:
        # A signal must reach this screen from any other one, even while the app closes its screens.
        self._cockpit = self._make_cockpit()
        return self._cockpit

    def replace_first(
        self, cockpit: Callable[[], BaseScreen], *, ready: Callable[[], None], beside: SideScreens
    ) -> None:
        """Replace the first screen, passing on keys typed meanwhile."""
        self._make_cockpit = cockpit
        self._add_side_screens(beside)

        async def swap_screen() -> None:
            typed, opening = self.base.typed, self._home
            self._home = self._search_origin = COCKPIT
            self.add_mode(COCKPIT, self._first_screen)
            await self.switch_mode(COCKPIT)
            self.remove_mode(opening)
            self.base.call_after_refresh(ready)
            for key in typed:
                self.post_message(key)

        self.call_next(swap_screen)

    def _add_side_screens(self, beside: SideScreens | None) -> None:
        self._beside = beside
        if beside is not None:
            self.add_mode(SEARCH, beside.search)

    # screens beside the first -----------------------------------------------------------------

    def show_search(self) -> bool:
        """Open the search; return False if there is nothing to search."""
        if self._beside is None:
            return False
        self._search_origin = self.current_mode
        self._switch(SEARCH)
        return True

    def show_recorded(self, source: "Source") -> None:
        """Open a recorded run, replacing the one opened before."""
        if self._beside is not None:
            self.show_run(partial(self._beside.recorded, source))

    def show_run(self, make: "Callable[[], SideScreen]") -> None:
        """Open a screen for a run, replacing the one opened before."""
        if RECORDED in self._modes:
            self.remove_mode(RECORDED)
        self.add_mode(RECORDED, make)
        self._switch(RECORDED)

    def back(self) -> None:
        """Return from the search to the screen it was opened from, else to the first screen."""
        if self.current_mode == SEARCH and self._search_origin in self._modes:
            self._switch(self._search_origin)
        else:
            self.home()

    def home(self) -> None:
        """Return to the first screen, closing an open recorded run."""
        self._switch(self._home)
        if RECORDED in self._modes:
            self.remove_mode(RECORDED)

    def _switch(self, mode: str) -> None:
        self.switch_mode(mode)
        if mode != self._home:
            self.base.show_alert(self._alert_text)

    def delay_update(self, delay: float = 0) -> None:
        """Ignore the delay, which hides transitions: an opening screen is painted at once."""

    def refresh_css(self, animate: bool = True) -> None:  # noqa: FBT001 - as Textual calls it
        """Parse the styles once for the first paint; each screen's own are parsed at mount."""
        if not self.screen_stack:
            self.stylesheet.set_variables(self.get_css_variables())
        elif self.screen.is_mounted:
            super().refresh_css(animate)

    def on_ready(self) -> None:
        """Leave if that was requested before the first paint; otherwise report readiness."""
        self._is_ready = True
        if self._pending_exit is not None:
            self._pending_exit()
        elif self._when_painted is not None:
            self._when_painted()

    def on_unmount(self) -> None:
        """Re-enable garbage collection, because the process may continue without a screen."""
        self._gc_pause.resume()

    def exit(
        self, result: str | None = None, return_code: int = 0, message: RenderableType | None = None
    ) -> None:
        """Leave once the first screen is ready: widgets still being mounted would fail."""
        leave = partial(super().exit, result, return_code, message)
        if self._is_ready:
            leave()
        else:
            self._pending_exit = leave

    def continue_with(self, words: Sequence[str], worktree: Path | None) -> None:
        """Leave, and let the caller run a command line."""
        self.next_command = (tuple(words), worktree)
        self.exit()

    async def on_event(self, event: events.Event) -> None:
        """Hold back keys that were typed before an opening dialog was visible."""
        self._presence.record(event)
        if isinstance(event, events.Key) and self.screen_stack:
            if not event.is_forwarded:  # Textual forwards unhandled keys a second time
                self._gc_pause.postpone()
                self.base.before_key()
            elif self.base.take_early_key(event):
                return
            screen = self.screen
            if isinstance(screen, Modal | BaseScreen) and screen.ignores(event.key):
                return
        await super().on_event(event)

    def next_theme(self) -> str:
        """Switch to the next theme; return its name, or why it cannot change."""
        if self.no_color:
            return "theme: colours are off, because NO_COLOR is set"
        names = [theme.name for theme in THEMES]
        here = names.index(self.theme) if self.theme in names else -1
        self.theme = names[(here + 1) % len(names)]
        return f"theme: {self.theme}"

    def alert_user(self, text: str, *, over: bool = False) -> None:
        """Ring the bell once, change the terminal's title, and send a desktop notification.

        `over` if the run has ended, so that it no longer needs the user.
        """
        self._alert_text = f"your run {'has ended' if over else 'needs you'}: {text}"
        self.bell()
        self._write_terminal(ALERT_TITLE + desktop_notification(text, os.environ))
        if self.current_mode != self._home:
            self.base.show_alert(self._alert_text)

    def clear_alert(self) -> None:
        """Clear the alert and restore the terminal's title."""
        self._alert_text = ""
        if self.screen_stack and self.current_mode != self._home:
            self.base.show_alert("")
        self._write_terminal(RESTORE_TITLE)

    def _write_terminal(self, sequence: str) -> None:
        if self._driver is not None and not self.is_headless:
            self._driver.write(sequence)

    def action_interrupt(self) -> None:
        if self.screen_stack:
            self.base.interrupt()

    def action_press(self, key: str) -> None:
        """Press a key on behalf of a click; see `draw.spans.clickable`."""
        self.post_message(events.Key(key, key_to_character(key)))

    def action_leave(self) -> None:
        if self.screen_stack:
            self.base.ask_to_leave()

    async def action_quit(self) -> None:
        """Redirect Textual's own quit action to the same dialog."""
        self.action_leave()

    def on_hangup(self, by: str = "signal") -> None:
        """Leave, and stop anything that only this process keeps running; called on signals."""
        if self._cockpit is None:
            self.exit()
        else:
            self._cockpit.hang_up(by)
