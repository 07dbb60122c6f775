"""Lines on stdout and stderr, written so that a process can exit even if no one reads them.

A write to a full pipe blocks until the reader reads, even if a signal arrives. So we wait for room
before writing a line. After a signal we wait only briefly, and drop the line if there is no room.
"""

import os
import select
import sys
import time
from typing import TextIO

from ralph_tui.cli.fronts import signals

WRITE_SECONDS = 5.0
"""How long to wait for a slow reader after a signal."""
POLL_MS = 200
"""Milliseconds between two checks for a signal."""
CHUNK = select.PIPE_BUF
"""Bytes that a pipe with room accepts without blocking."""

_blocked: set[int] = set()
"""Descriptors whose reader did not read in time; later lines do not wait for it again."""


def print_line(text: str, stream: TextIO | None = None) -> None:
    """Print `text` at once, on stdout by default. Raises ``OSError`` if its reader is gone."""
    stream = stream or sys.stdout
    if stream is None:
        return
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):
        descriptor = -1
    if descriptor < 0:  # not a real file, so writing cannot block
        print(text, file=stream, flush=True)
        return
    stream.flush()
    rest = f"{text}\n".encode(stream.encoding or "utf-8", stream.errors or "replace")
    while rest and _has_room(descriptor):
        rest = rest[os.write(descriptor, rest[:CHUNK]) :]


def _has_room(descriptor: int) -> bool:
    """Wait until the descriptor is writable; False if that takes too long after a signal."""
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    deadline: float | None = None
    while not poll.poll(POLL_MS):
        if not signals.RECEIVED:
            continue
        now = time.monotonic()
        if deadline is None:
            deadline = now + (0 if descriptor in _blocked else WRITE_SECONDS)
        if now >= deadline:
            _blocked.add(descriptor)
            return False
    return True
