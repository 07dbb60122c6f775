"""How much of the time may go into looking through what somebody else prints.

Secrets are looked for in all of it, and who prints without end must not take the run's time: there
are `RESERVE_S` seconds of a processor at once, and `SHARE` of the time that passes. Waiting for a
busy processor is no work: else much output would be lost on a loaded machine. What to do with what
comes beyond, the reader of the stream decides.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

RESERVE_S = 5.0
"""Seconds of work that a stream may take at once."""
SHARE = 0.2
"""Seconds of work that it earns in a second."""
AGAIN_S = 2.0
"""Seconds of work that must be free again before more is looked through."""
TOO_MUCH = "more came than there is time to look through"
"""Why something was left out."""


class BoundedWork:
    """Work on one stream within `working`; before it, ask whether the time is `spent`."""

    def __init__(self) -> None:
        self._free_s = RESERVE_S
        self._looked = time.monotonic()
        self._spent = False

    @property
    def spent(self) -> bool:
        """Whether no time is left."""
        self._count(0.0)
        return self._spent

    @contextmanager
    def working(self) -> Iterator[None]:
        """The work."""
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
