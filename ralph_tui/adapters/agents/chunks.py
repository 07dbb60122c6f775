"""What a process prints, as it comes; but of a steady trickle a sip at a time.

To be woken for each line of two hundred a second costs several times what the line itself does, in
every thread that it passes through. Rule: who prints now and then is read at once, who prints much
is read as fast as it can be; only many small pieces in a row wait for one another, and never for
as long as a frame of the screen takes.
"""

import os
import selectors
import time
from collections.abc import Callable, Iterator

CHUNK = 256 * 1024
REST_S = 0.03
"""How long the pieces of a trickle wait for one another."""
IN_A_ROW = 8
"""Pieces that came one close behind the other before any waits: no greeting is slowed."""
PLENTY = 16 * 1024
"""Bytes; behind a piece of this size nothing waits, so no pipe is full for long."""


def chunks(
    descriptor: int,
    idle_after_s: Callable[[], float | None],
    *,
    monotonic: Callable[[], float] = time.monotonic,
    rest: Callable[[float], None] = time.sleep,
) -> Iterator[bytes | None]:
    """Bytes until the other end is closed; None each time that none came for `idle_after_s`."""
    in_a_row, came = 0, float("-inf")
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while True:
            if not selector.select(idle_after_s()):
                yield None
                continue
            chunk = os.read(descriptor, CHUNK)
            if not chunk:
                return
            now = monotonic()
            in_a_row = in_a_row + 1 if now - came < 2 * REST_S else 0
            came = now
            yield chunk
            if in_a_row >= IN_A_ROW and len(chunk) < PLENTY:
                rest(REST_S)
