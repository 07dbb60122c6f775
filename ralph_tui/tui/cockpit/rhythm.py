"""How often the cockpit looks for what is new: 15 times a second while something happens.

Each look wakes the process, and most of an idle cockpit's time went into waking. Rule: looks are
counted, no clock is read, so a screen whose clock stands still keeps the same rhythm.
"""

from collections.abc import Callable

from textual.screen import Screen
from textual.timer import Timer

HZ = 15
QUIET_HZ = 5
"""Where nothing has happened for a while; a key ends that at once."""
CALLED_HZ = 2
"""There, where what happens calls for a look at once: what is left to look at are clocks."""
QUIET_AFTER = 2 * HZ
"""Looks that brought nothing."""
BEHIND = 5
"""Of so many looks one is shown behind a dialog: whoever reads the dialog needs no more, and its
keys do not wait for what lies behind."""


class Rhythm:
    """Says when the screen looks; each look tells it what it has found."""

    _often: Timer
    _seldom: Timer

    def __init__(self, *, called: bool = False) -> None:
        """`called`: `happened` is called also when an event has come."""
        self.quiet_hz = CALLED_HZ if called else QUIET_HZ
        """How often it looks where nothing has happened for a while."""
        self._told: object = None
        self._looks = self._in_vain = 0

    def begin(self, screen: Screen[None], look: Callable[[], None]) -> None:
        """From now on `look` is called."""
        self._often = screen.set_interval(1 / HZ, look)
        self._seldom = screen.set_interval(1 / self.quiet_hz, look, pause=True)

    @property
    def quiet(self) -> bool:
        """Whether it looks seldom."""
        return self._in_vain >= QUIET_AFTER

    @property
    def behind(self) -> bool:
        """Whether this look is to be shown also behind a dialog."""
        return self.quiet or self._looks % BEHIND == 0

    def looked(self, told: object) -> None:
        """`told`: what differs from the last time whenever something has happened."""
        self._looks += 1
        if told != self._told:
            self._told = told
            self.happened()
        else:
            self._in_vain += 1
            if self._in_vain == QUIET_AFTER:
                self._often.pause()
                self._seldom.resume()

    def happened(self) -> None:
        """Something did, or a key was pressed, of which something may come."""
        if self.quiet:
            self._seldom.pause()
            self._often.resume()
        self._in_vain = 0
