"""The Textual app: themes, calls to the owner, and keys that work everywhere.

Rule: it knows no screen of its own, no run and no exit code. Each mode has a stack of screens:
the one at the bottom answers to the keys that work everywhere, the others are dialogs.
"""

import gc
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic as real_monotonic
from typing import TYPE_CHECKING, ClassVar, cast

from rich.console import RenderableType
from textual import events, on
from textual.binding import Binding, BindingType
from textual.keys import key_to_character
from textual.message_pump import MessagePump
from textual.timer import Timer

from ralph_tui.text.keys import DEFAULTS, Keys
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.tui.draw.line_widget import StyledScreen
from ralph_tui.tui.driver import TerminalApp
from ralph_tui.tui.modals.modal import Modal
from ralph_tui.tui.themes import TERMINAL, THEMES, named, styles_for

if TYPE_CHECKING:
    from ralph_tui.ports.source import Source

ANSWERED_S = 0.3
"""What a key brings is painted by then."""
MOST = 100_000
"""Things made since the last collection; with so many it is put off no longer: keys may go on."""


class Collection:
    """Python's collection of garbage, put off while a key is being answered.

    A dialog that opens makes so many things that a collection fell into almost every opening; the
    key waited for it 4 to 80 ms. Rule: it is only put off, and `go_on` gives it back. Where it is
    off for another reason, as while a command loads, it stays off.
    """

    def __init__(self, owner: MessagePump) -> None:
        """`owner`: whose timer ends it."""
        self._owner = owner
        self._putting_off: Timer | None = None

    def put_off(self) -> None:
        """A key came."""
        if self._putting_off is not None:
            if gc.get_count()[0] < MOST:
                self._putting_off.reset()
        elif gc.isenabled():
            gc.disable()
            self._putting_off = self._owner.set_timer(ANSWERED_S, self.go_on)

    def go_on(self) -> None:
        """The key is answered, or the screen is gone."""
        if self._putting_off is not None:
            self._putting_off = None
            gc.enable()


NEEDED = "\x1b[22;2t\x1b]2;ralph-tui needs you\x07"
"""Puts the terminal's title away and sets another."""
NEEDED_NO_MORE = "\x1b]2;ralph-tui\x07\x1b[23;2t"
"""Brings the title back; where the terminal cannot, it is at least no longer a call."""
CALL_CELLS = 160
"""Of the text of a desktop notification."""


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


DEAF_S = 1.0
"""For so long after a dialog has closed by itself what is typed was meant for it."""
URGENT = frozenset({"ctrl+c", "ctrl+q"})
"""Keys that are never held back."""


class BaseScreen(StyledScreen):
    """The screen at the bottom of a stack; it answers also while a dialog stands above it."""

    typed: Sequence[events.Key] = ()
    """Keys that are meant for the screen that is going to stand in its place."""

    _deaf_until = float("-inf")
    when_here: Callable[[], None] = staticmethod(lambda: None)
    """Called once in a while, as long as a key or the mouse is used on whichever screen."""

    @on(events.ScreenResume)
    def _opens_styled(self, event: events.ScreenResume) -> None:
        """Skip the second styling when the screen opens: each widget was styled when mounted."""
        if not self.stack_updates:
            event.refresh_styles = False

    @property
    def ralph(self) -> "RalphApp":
        """The app, which knows the other screens."""
        return cast("RalphApp", self.app)

    def key_came(self) -> None:
        """A key is pressed, here or in a dialog above, and about to be handled."""

    def say(self, text: str) -> None:
        """Say what came of a key."""

    def look_away(self) -> None:
        """A dialog above has closed by itself: keys that follow at once were meant for it."""
        self._deaf_until = self.ralph.monotonic() + DEAF_S

    def blind(self, key: str) -> bool:
        """Whether this key was meant for a dialog that has closed by itself; then it says so."""
        if key in URGENT or self.ralph.monotonic() >= self._deaf_until:
            return False
        self.say(f"{key} was not taken: the dialog had just closed")
        return True

    def open_help(self) -> None:
        """``?`` was pressed."""
        raise NotImplementedError

    def leave(self) -> None:
        """``q`` was pressed."""
        self.app.exit()

    def interrupt(self) -> None:
        """Ctrl+c was pressed."""
        self.leave()

    def ask_to_leave(self) -> None:
        """Ctrl+q was pressed."""
        self.leave()

    def hang_up(self, by: str) -> None:
        """End what this screen alone keeps going, and leave; `by` is the signal that wants it."""
        self.app.exit()

    def typed_ahead(self, event: events.Key) -> bool:
        """A key that was pressed while this screen was on its way; whether it is meant for it."""
        return False

    def called(self, text: str) -> None:
        """The owner is called from another screen: `text` says what for; empty: no more."""


EVERY_S = 20.0
"""It is told at most this often."""


class Presence:
    """Tells the first screen that the user is there: a key or the mouse was used."""

    def __init__(
        self, screen: Callable[[], BaseScreen | None], monotonic: Callable[[], float]
    ) -> None:
        self._screen, self._monotonic = screen, monotonic
        self._told = float("-inf")

    def hear(self, event: events.Event) -> None:
        """Called before the event is handled."""
        if isinstance(event, events.Key | events.MouseEvent):
            now = self._monotonic()
            screen = self._screen()
            if screen is not None and now - self._told >= EVERY_S:
                self._told = now
                screen.when_here()


class SideScreen(BaseScreen):
    """A screen beside the first; keys that concern the run lead back to it."""

    def leave(self) -> None:
        self.ralph.back()

    def interrupt(self) -> None:
        self.ralph.home()
        self.ralph.base.interrupt()

    def ask_to_leave(self) -> None:
        self.ralph.home()
        self.ralph.base.ask_to_leave()

    def hang_up(self, by: str) -> None:
        """See `BaseScreen`; nothing is kept going here."""


@dataclass(frozen=True)
class SideScreens:
    """Makes the screens that can be opened beside the first."""

    search: Callable[[], SideScreen]
    recorded: "Callable[[Source], SideScreen]"
    """Shows a run that was found."""


COCKPIT, SEARCH, RECORDED = "cockpit", "search", "recorded"
"""Modes beside the first: what takes its place, and what stands beside that."""


class RalphApp(TerminalApp, inherit_bindings=False):
    """Shows the screens it is given; the caller decides the exit code.

    It returns ``screen`` when its owner wanted to leave only that.
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
        """`cockpit` makes the first screen; `ready` is called once, when its first frame is
        painted; `beside`: what else can be shown; None: nothing. `keys`: as its user has set them.
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
        """The mode of the first screen."""
        self.add_mode(self._home, self._first_screen)
        self._came_from = self._home
        """The mode that the search was opened from."""
        self._presence = Presence(lambda: self._cockpit, monotonic)
        self._called_for, self._stands = "", False
        self._left_early: Callable[[], None] | None = None
        self.onward: tuple[tuple[str, ...], Path | None] | None = None
        """A command line to go on with in this terminal, and the worktree where it is typed."""
        self._put_beside(beside)
        self._collection = Collection(self)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """What panes draw with, also in themes that know nothing of it."""
        return styles_for(self.current_theme)

    @property
    def base(self) -> BaseScreen:
        """The screen below the dialogs that are open."""
        return cast("BaseScreen", self.screen_stack[0])

    def _first_screen(self) -> BaseScreen:
        # A signal has to reach it also while the app closes its screens, and from any other one.
        self._cockpit = self._make_cockpit()
        return self._cockpit

    def replace_first(
        self, cockpit: Callable[[], BaseScreen], *, ready: Callable[[], None], beside: SideScreens
    ) -> None:
        """Put another screen in the place of the first, with what was typed there meanwhile."""
        self._make_cockpit = cockpit
        self._put_beside(beside)

        async def stand_in() -> None:
            typed, opening = self.base.typed, self._home
            self._home = self._came_from = COCKPIT
            self.add_mode(COCKPIT, self._first_screen)
            await self.switch_mode(COCKPIT)
            self.remove_mode(opening)
            self.base.call_after_refresh(ready)
            for key in typed:
                self.post_message(key)

        self.call_next(stand_in)

    def _put_beside(self, beside: SideScreens | None) -> None:
        self._beside = beside
        if beside is not None:
            self.add_mode(SEARCH, beside.search)

    # screens beside the first -----------------------------------------------------------------

    def show_search(self) -> bool:
        """Open the search; False where there is nothing to search."""
        if self._beside is None:
            return False
        self._came_from = self.current_mode
        self._switch(SEARCH)
        return True

    def show_recorded(self, source: "Source") -> None:
        """Open a recorded run, in the place of the one that was opened before."""
        if self._beside is not None:
            self.show_beside(partial(self._beside.recorded, source))

    def show_beside(self, make: "Callable[[], SideScreen]") -> None:
        """Open a screen of a run, in the place of the one that was opened before."""
        if RECORDED in self._modes:
            self.remove_mode(RECORDED)
        self.add_mode(RECORDED, make)
        self._switch(RECORDED)

    def back(self) -> None:
        """From the search to where it was opened, else to the first screen."""
        if self.current_mode == SEARCH and self._came_from in self._modes:
            self._switch(self._came_from)
        else:
            self.home()

    def home(self) -> None:
        """The first screen; a recorded run that was open is closed."""
        self._switch(self._home)
        if RECORDED in self._modes:
            self.remove_mode(RECORDED)

    def _switch(self, mode: str) -> None:
        self.switch_mode(mode)
        if mode != self._home:
            self.base.called(self._called_for)

    def delay_update(self, delay: float = 0) -> None:
        """See `App`: a screen that opens is painted as soon as it can, nothing is to be masked."""

    def refresh_css(self, animate: bool = True) -> None:  # noqa: FBT001  as it is called
        """Once for the first paint: what a screen brings with it is parsed when it is mounted."""
        if not self.screen_stack:
            self.stylesheet.set_variables(self.get_css_variables())
        elif self.screen.is_mounted:
            super().refresh_css(animate)

    def on_ready(self) -> None:
        """The first frame is painted: whoever wanted to leave before does so now."""
        self._stands = True
        if self._left_early is not None:
            self._left_early()
        elif self._when_painted is not None:
            self._when_painted()

    def on_unmount(self) -> None:
        """The process may go on without a screen."""
        self._collection.go_on()

    def exit(
        self, result: str | None = None, return_code: int = 0, message: RenderableType | None = None
    ) -> None:
        """Leave, once the first screen stands: widgets that are still mounted would fail."""
        leave = partial(super().exit, result, return_code, message)
        if self._stands:
            leave()
        else:
            self._left_early = leave

    def go_on_with(self, words: Sequence[str], worktree: Path | None) -> None:
        """Leave, and let the caller do what a command line asks for."""
        self.onward = (tuple(words), worktree)
        self.exit()

    async def on_event(self, event: events.Event) -> None:
        """Hold back keys that were typed before an opening dialog could be seen."""
        self._presence.hear(event)
        if isinstance(event, events.Key) and self.screen_stack:
            if not event.is_forwarded:  # what nobody took comes by again
                self._collection.put_off()
                self.base.key_came()
            elif self.base.typed_ahead(event):
                return
            screen = self.screen
            if isinstance(screen, Modal | BaseScreen) and screen.blind(event.key):
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

    def call_owner(self, text: str, *, over: bool = False) -> None:
        """Ring once, change the terminal's title, and tell the desktop `text`: what it is for.

        `over`: the run has ended, and needs nobody any more.
        """
        self._called_for = f"your run {'is over' if over else 'needs you'}: {text}"
        self.bell()
        self._tell_terminal(NEEDED + desktop_call(text, os.environ))
        if self.current_mode != self._home:
            self.base.called(self._called_for)

    def end_call(self) -> None:
        """The owner is needed no more: the terminal's title comes back."""
        self._called_for = ""
        if self.screen_stack and self.current_mode != self._home:
            self.base.called("")
        self._tell_terminal(NEEDED_NO_MORE)

    def _tell_terminal(self, sequence: str) -> None:
        if self._driver is not None and not self.is_headless:
            self._driver.write(sequence)

    def action_interrupt(self) -> None:
        """ctrl+c."""
        if self.screen_stack:
            self.base.interrupt()

    def action_press(self, key: str) -> None:
        """A click on what stands for a key; see `draw.spans.clickable`."""
        self.post_message(events.Key(key, key_to_character(key)))

    def action_leave(self) -> None:
        """ctrl+q."""
        if self.screen_stack:
            self.base.ask_to_leave()

    async def action_quit(self) -> None:
        """Textual's own way out leads through the same dialog."""
        self.action_leave()

    def on_hangup(self, by: str = "signal") -> None:
        """For the caller's signals: leave, and stop what goes on in this process alone."""
        if self._cockpit is None:
            self.exit()
        else:
            self._cockpit.hang_up(by)
