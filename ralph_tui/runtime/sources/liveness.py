"""Check a record's lock, at most once a second, to see if a process is working on the record."""

from pathlib import Path

from ralph_tui.adapters.records.lock import owner_of

CHECK_S = 1.0
"""Seconds between two checks."""
MISSED = 2
"""Failed checks before a process counts as gone: ``git clean`` removes the lock for a second."""


class Liveness:
    """Tracks from outside whether a process is still working on a record."""

    def __init__(self, lock: Path) -> None:
        self.lost = False
        """True if the process is gone although the record has no end."""
        self._lock = lock
        self._due = float("-inf")
        self._missed = 0

    def check(self, expected: str | None, now: float) -> bool:
        """Check the lock if a check is due; return True if it was. `now` is monotonic.

        `expected` is the id that the lock's owner must have; None if no process is needed.
        """
        if now < self._due:
            return False
        self._due = now + CHECK_S
        here = expected is None or owner_of(self._lock, expected) is not None
        self._missed = 0 if here else self._missed + 1
        self.lost = self._missed >= MISSED
        return True
