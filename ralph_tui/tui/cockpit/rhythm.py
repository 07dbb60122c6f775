"""How often the cockpit polls: 15 times a second while something is happening.

Each poll wakes the process, and waking is most of an idle cockpit's cost. Rule: polls are counted
and no clock is read, so a screen with a stopped clock keeps the same rhythm.
"""

from collections.abc import Callable

from textual.screen import Screen
from textual.timer import Timer

HZ = 15
QUIET_HZ = 5
"""Polls per second after a quiet period; a key restores the full rate at once."""
NOTIFIED_HZ = 2
"""Quiet rate, in polls per second, if each new event triggers a poll: only clocks need updates."""
QUIET_AFTER = 2 * HZ
"""Number of polls without news before the rate drops."""
BEHIND = 5
"""Polls per redraw of the screen behind a dialog; more redraws would delay the dialog's keys."""


class Rhythm:
    """Sets the polling rate from what each poll finds."""

    _fast: Timer
    _slow: Timer

    def __init__(self, *, notified: bool = False) -> None:
        """`notified` means that each new event calls `speed_up`."""
        self.quiet_hz = NOTIFIED_HZ if notified else QUIET_HZ
        """Polls per second during a quiet period."""
        self._fingerprint: object = None
        self._polls = self._idle_polls = 0

    def begin(self, screen: Screen[None], poll: Callable[[], None]) -> None:
        """Start calling `poll`."""
        self._fast = screen.set_interval(1 / HZ, poll)
        self._slow = screen.set_interval(1 / self.quiet_hz, poll, pause=True)

    @property
    def quiet(self) -> bool:
        """True if the slow rate is in use."""
        return self._idle_polls >= QUIET_AFTER

    @property
    def draws_behind(self) -> bool:
        """True if this poll is drawn even behind a dialog."""
        return self.quiet or self._polls % BEHIND == 0

    def polled(self, fingerprint: object) -> None:
        """Count a poll; the argument must differ whenever something has happened."""
        self._polls += 1
        if fingerprint != self._fingerprint:
            self._fingerprint = fingerprint
            self.speed_up()
        else:
            self._idle_polls += 1
            if self._idle_polls == QUIET_AFTER:
                self._fast.pause()
                self._slow.resume()

    def speed_up(self) -> None:
        """Return to the full rate, because something happened or the user pressed a key."""
        if self.quiet:
            self._slow.pause()
            self._fast.resume()
        self._idle_polls = 0
