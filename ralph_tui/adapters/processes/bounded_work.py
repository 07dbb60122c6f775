"""Limit the time spent on searching the output of other programs.

All output is searched for secrets, but a program that prints without end must not use up the run's
time. A stream gets `RESERVE_S` seconds of processor time at once, plus `SHARE` of the time that
passes. Waiting for a busy processor does not count as work: otherwise, a lot of output would be
lost on a busy machine. The reader of the stream decides what to do with the excess.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

RESERVE_S = 5.0
"""Seconds of work that a stream may use at once."""
SHARE = 0.2
"""Seconds of work that a stream earns per second."""
AGAIN_S = 2.0
"""Seconds of work that must be available before searching resumes."""
TOO_MUCH = "too much output to check in time"
"""Why output was left out."""


class BoundedWork:
    """The work on one stream, done within `working`; check `spent` first."""

    def __init__(self) -> None:
        self._free_s = RESERVE_S
        self._looked = time.monotonic()
        self._spent = False

    @property
    def spent(self) -> bool:
        """True if no time is left."""
        self._count(0.0)
        return self._spent

    @contextmanager
    def working(self) -> Iterator[None]:
        """Count the block as work."""
        before = time.thread_time()
        try:
            yield
        finally:
            self._count(time.thread_time() - before)

    def _count(self, worked_s: float) -> None:
        now = time.monotonic()
        earned = SHARE * (now - self._looked)
        self._free_s = min(RESERVE_S, self._free_s + earned) - worked_s
        self._looked = now
        self._spent = self._free_s <= (AGAIN_S if self._spent else 0.0)
