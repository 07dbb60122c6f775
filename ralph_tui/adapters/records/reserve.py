"""Room that a growing file holds for itself on the disk, so that a full disk leaves it some.

Linux alone can hold blocks behind a file's end without making it longer; elsewhere, and where the
file system cannot, nothing is held.
"""

import sys
from contextlib import suppress

KEEP_SIZE = 1
AHEAD = 16 * 1024
"""Bytes that are held when room is taken."""
LEAST = 8 * 1024
"""Bytes of it that are left when more is taken."""


class Reserve:
    """What is held for one open file."""

    def __init__(self) -> None:
        self._until = 0

    def hold(self, descriptor: int, end: int) -> None:
        """See that the file, which ends at byte `end`, has room to grow; never raises."""
        if end + LEAST <= self._until:
            return
        self._until = end + AHEAD  # also where it fails: it is not tried again at each event
        _allocate(descriptor, end, AHEAD)


def _allocate(descriptor: int, start: int, size: int) -> None:
    if not sys.platform.startswith("linux"):
        return
    with suppress(OSError, AttributeError, ImportError):  # a C library without the call, or none
        import ctypes  # noqa: PLC0415  who only reads a journal needs none of it

        call = ctypes.CDLL(None).fallocate
        call.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
        call(descriptor, KEEP_SIZE, start, size)
