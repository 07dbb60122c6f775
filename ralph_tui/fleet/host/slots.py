"""How many loops work on a host at once, whichever fleets they are of."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

LOOK_S = 0.2
"""Between two looks whether who waits is to end."""
FULL = (
    "it waits: loops of the fleet that was here before work in all places of this host until "
    "their lease ends"
)


class Waiting(Protocol):
    """What waits for a place."""

    def note(self, warning: str) -> None:
        """Tell a warning."""
        ...

    def check(self) -> None:
        """Raises ``RalphError`` where it waits no more."""
        ...


class Slots:
    """Places for loops, by number.

    A fleet places no more loops than there are slots: who finds them taken waits for loops of
    another fleet, which go on until their lease ends.
    """

    def __init__(self, number: int) -> None:
        self._free = set(range(number))
        self._changed = threading.Condition()

    @contextmanager
    def taken(self, waiting: Waiting) -> Iterator[int]:
        """The number of a place, until the block is left."""
        slot = self._take(waiting)
        try:
            yield slot
        finally:
            with self._changed:
                self._free.add(slot)
                self._changed.notify()

    def _take(self, waiting: Waiting) -> int:
        told = False
        with self._changed:
            while not self._free:
                waiting.check()
                if not self._changed.wait(LOOK_S) and not told:
                    waiting.note(FULL)
                    told = True
            slot = min(self._free)
            self._free.remove(slot)
            return slot
