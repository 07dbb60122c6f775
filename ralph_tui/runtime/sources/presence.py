"""Whether the process that works on a record is still there, by its lock; looked at sparingly."""

from pathlib import Path

from ralph_tui.adapters.records.lock import owner_of

LOOK_S = 1.0
"""Seconds between two looks."""
MISSED = 2
"""Looks in vain until it is called gone: a ``git clean`` takes the lock's name for a second."""


class Presence:
    """The process of one record, as it is seen from another."""

    def __init__(self, lock: Path) -> None:
        self.lost = False
        """It is gone, although the record has no end."""
        self._lock = lock
        self._due = float("-inf")
        self._missed = 0

    def look(self, expected: str | None, now: float) -> bool:
        """Whether it was time to look; `now` is monotonic.

        `expected`: the id that the lock's owner has to have; None: nobody needs to be there.
        """
        if now < self._due:
            return False
        self._due = now + LOOK_S
        here = expected is None or owner_of(self._lock, expected) is not None
        self._missed = 0 if here else self._missed + 1
        self.lost = self._missed >= MISSED
        return True
