"""The inbox of the engine's thread: observations, finished jobs, commands."""

import threading
from collections import deque

from ralph_tui.events import Event

LIMIT = 10_000
"""Maximum number of waiting observations.

Beyond it, the readers block, and then the agent blocks on its pipe.
"""


class Inbox:
    """Items for the engine's thread. Commands and finished jobs are always accepted at once."""

    def __init__(self) -> None:
        self._items: deque[object] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._reader = 0

    def put(self, item: object) -> None:
        """Add a command or a job. Returns at once."""
        with self._changed:
            self._items.append(item)
            self._changed.notify_all()

    def put_event(self, event: Event) -> None:
        """Add an observation; blocks while the inbox is full, except in the inbox's own reader."""
        with self._changed:
            if threading.get_ident() != self._reader:
                self._changed.wait_for(lambda: self._closed or len(self._items) < LIMIT)
            self._items.append(event)
            self._changed.notify_all()

    def get(self, timeout: float) -> object | None:
        """Return the oldest item, or None after `timeout` seconds without one."""
        with self._changed:
            self._reader = threading.get_ident()
            if not self._changed.wait_for(lambda: bool(self._items), timeout):
                return None
            item = self._items.popleft()
            if len(self._items) == LIMIT - 1:
                self._changed.notify_all()
            return item

    def close(self) -> None:
        """Release every waiting writer; nothing more is read."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
