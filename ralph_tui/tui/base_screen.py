"""What the app asks of the screen at the bottom of a stack."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from textual import events, on

from ralph_tui.tui.draw.line_widget import StyledScreen

if TYPE_CHECKING:
    from ralph_tui.tui.app import RalphApp

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

    def key_came(self) -> None:
        """A key is pressed, here or in a dialog above, and about to be handled."""
        raise NotImplementedError

    def say(self, text: str) -> None:
        """Say what came of a key."""

    def look_away(self) -> None:
        """A dialog above has closed by itself: keys that follow at once were meant for it."""
        self._deaf_until = self._now() + DEAF_S

    def _now(self) -> float:
        return cast("RalphApp", self.app).monotonic()

    def blind(self, key: str) -> bool:
        """Whether this key was meant for a dialog that has closed by itself; then it says so."""
        if key in URGENT or self._now() >= self._deaf_until:
            return False
        self.say(f"{key} was not taken: the dialog had just closed")
        return True

    def open_help(self) -> None:
        """``?`` was pressed."""
        raise NotImplementedError

    def leave(self) -> None:
        """``q`` was pressed."""
        raise NotImplementedError

    def interrupt(self) -> None:
        """Ctrl+c was pressed."""
        raise NotImplementedError

    def ask_to_leave(self) -> None:
        """Ctrl+q was pressed."""
        raise NotImplementedError

    def hang_up(self, by: str) -> None:
        """End what this screen alone keeps going, and leave; `by` is the signal that wants it."""
        raise NotImplementedError

    def typed_ahead(self, event: events.Key) -> bool:
        """A key that was pressed while this screen was on its way; whether it is meant for it."""
        return False

    def called(self, text: str) -> None:
        """The owner is called from another screen: `text` says what for; empty: no more."""


class FirstFrame(BaseScreen):
    """What is painted while the screen that takes its place is loaded.

    Keys that are pressed here are kept for that screen, but those that leave.
    """

    LEAVE = frozenset({"q", "ctrl+c", "ctrl+q"})

    def __init__(self) -> None:
        super().__init__()
        self.typed: list[events.Key] = []

    def on_key(self, event: events.Key) -> None:
        """Leave, or keep the key."""
        if event.key in self.LEAVE:
            self.app.exit()
        else:
            self.typed.append(event)

    def key_came(self) -> None:
        """See `BaseScreen`; nothing has been said yet."""

    def open_help(self) -> None:
        """See `BaseScreen`; no dialog stands here."""

    def leave(self) -> None:
        """See `BaseScreen`."""
        self.app.exit()

    interrupt = ask_to_leave = leave

    def hang_up(self, by: str) -> None:
        """See `BaseScreen`; nothing is kept going here."""
        self.app.exit()
