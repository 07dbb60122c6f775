"""How often the cockpit polls: 15 times a second while something happens.

Each poll wakes the process, and waking was most of an idle cockpit's cost. Rule: polls are counted
and no clock is read, so a screen with a stopped clock keeps the same rhythm.
"""

from collections.abc import Callable

from textual.screen import Screen
from textual.timer import Timer

HZ = 15
QUIET_HZ = 5
"""The rate after a quiet period; a key restores the full rate at once."""
CALLED_HZ = 2
"""The quiet rate if each new event triggers a poll: only clocks are left to refresh."""
QUIET_AFTER = 2 * HZ
"""Polls without news before the rate drops."""
BEHIND = 5
"""Behind a dialog, draw one poll in this many, so that the dialog's keys are not delayed."""


class Rhythm:
    """Sets the polling rate from what each poll finds."""

    _often: Timer
    _seldom: Timer

    def __init__(self, *, called: bool = False) -> None:
        """`called`: each new event calls `happened`."""
        self.quiet_hz = CALLED_HZ if called else QUIET_HZ
        """Polls per second in a quiet period."""
        self._told: object = None
        self._looks = self._in_vain = 0

    def begin(self, screen: Screen[None], look: Callable[[], None]) -> None:
        """Start calling `look`."""
        self._often = screen.set_interval(1 / HZ, look)
        self._seldom = screen.set_interval(1 / self.quiet_hz, look, pause=True)

    @property
    def quiet(self) -> bool:
        """True if the slow rate is in use."""
        return self._in_vain >= QUIET_AFTER

    @property
    def behind(self) -> bool:
        """True if this poll is drawn even behind a dialog."""
        return self.quiet or self._looks % BEHIND == 0

    def looked(self, told: object) -> None:
        """Count a poll; the argument must differ whenever something has happened."""
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
        """Return to the full rate: something happened, or the user pressed a key."""
        if self.quiet:
            self._seldom.pause()
            self._often.resume()
        self._in_vain = 0
