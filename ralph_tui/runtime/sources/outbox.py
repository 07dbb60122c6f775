"""Wishes that go to another process: handed over in a thread, one after the other.

Rule: whoever puts one in does not wait; what was refused is there to be told.
"""

import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

from ralph_tui.base.errors import RalphError
from ralph_tui.ports.host import Accepted, Refused
from ralph_tui.text.sanitize import one_line

T = TypeVar("T")


class Outbox(Generic[T]):
    """Begins with `start`; what was put in before waits."""

    def __init__(self, hand_over: Callable[[T], Accepted | Refused]) -> None:
        """`hand_over` blocks; what it raises as ``RalphError`` counts as refused, too."""
        self.refused: deque[tuple[T, str]] = deque()
        """Each with the reason."""
        self._hand_over = hand_over
        self._wishes: SimpleQueue[T | None] = SimpleQueue()
        self._messenger = threading.Thread(target=self._deliver, name="ralph-attach", daemon=True)

    def start(self) -> None:
        """Begin to deliver; called once."""
        self._messenger.start()

    def put(self, wish: T) -> None:
        """Hand it over, behind those that wait."""
        self._wishes.put(wish)

    def stop(self) -> None:
        """No more than what is in it."""
        self._wishes.put(None)

    def _deliver(self) -> None:
        while (wish := self._wishes.get()) is not None:
            try:
                answer = self._hand_over(wish)
            except RalphError as error:
                self.refused.append((wish, one_line(str(error))))
            else:
                if isinstance(answer, Refused):
                    self.refused.append((wish, one_line(answer.reason)))
