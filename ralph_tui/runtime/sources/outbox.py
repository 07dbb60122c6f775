"""Commands to another process, sent by a thread one at a time.

The caller does not wait; refused commands are collected, so that they can be reported.
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
    """A queue of commands; it sends nothing before `start`."""

    def __init__(self, hand_over: Callable[[T], Accepted | Refused]) -> None:
        """`hand_over` blocks; a ``RalphError`` from it counts as a refusal."""
        self.refused: deque[tuple[T, str]] = deque()
        """Refused commands, each with the reason."""
        self._send = hand_over
        self._queue: SimpleQueue[T | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._deliver, name="ralph-attach", daemon=True)

    def start(self) -> None:
        """Begin to deliver; called once."""
        self._thread.start()

    def put(self, command: T) -> None:
        """Add a command to the end of the queue."""
        self._queue.put(command)

    def stop(self) -> None:
        """Deliver what is in the queue, then stop."""
        self._queue.put(None)

    def _deliver(self) -> None:
        while (command := self._queue.get()) is not None:
            try:
                answer = self._send(command)
            except RalphError as error:
                self.refused.append((command, one_line(str(error))))
            else:
                if isinstance(answer, Refused):
                    self.refused.append((command, one_line(answer.reason)))
