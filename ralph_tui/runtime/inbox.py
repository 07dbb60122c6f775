"""Where everything waits for the engine's thread: observations, finished jobs, commands."""

import threading
from collections import deque

from ralph_tui.events import Event

LIMIT = 10_000
"""Observations that may wait; beyond it their readers wait, and so, by its pipe, does the agent."""


class Inbox:
    """What waits for the engine thread. Commands and finished jobs never wait to get in."""

    def __init__(self) -> None:
        self._items: deque[object] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._reader = 0

    def put(self, item: object) -> None:
        """For commands and jobs; returns at once."""
        with self._changed:
            self._items.append(item)
            self._changed.notify_all()

    def put_event(self, event: Event) -> None:
        """For observations: waits while the inbox is full, but never its own reader."""
        with self._changed:
            if threading.get_ident() != self._reader:
                self._changed.wait_for(lambda: self._closed or len(self._items) < LIMIT)
            self._items.append(event)
            self._changed.notify_all()

    def get(self, timeout: float) -> object | None:
        """The oldest item, None when there is none within `timeout` seconds."""
        with self._changed:
            self._reader = threading.get_ident()
            if not self._changed.wait_for(lambda: bool(self._items), timeout):
                return None
            item = self._items.popleft()
            if len(self._items) == LIMIT - 1:
                self._changed.notify_all()
            return item

    def close(self) -> None:
        """Let every waiting writer go: nothing is read any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
