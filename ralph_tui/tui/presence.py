"""Tells the run of the first screen that somebody is there: a key or the mouse was used."""

from collections.abc import Callable

from textual import events

from ralph_tui.tui.base_screen import BaseScreen

EVERY_S = 20.0
"""It is told at most this often."""


class Presence:
    """Hears all that comes to the app."""

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
