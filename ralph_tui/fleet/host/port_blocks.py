"""Ports that the loops of a machine may use without getting in each other's way.

A block is held by locks on files, which end with the process that holds them: hosts on one machine
share no other memory. Ports that somebody else listens on are passed over.
"""

import fcntl
import os
import socket
import tempfile
from contextlib import suppress
from pathlib import Path

from ralph_tui.plain_files import open_plain

FIRST, LAST = 20_000, 32_000
"""Below those that systems give to outgoing connections."""
UNIT = 10
"""Ports of one lock."""


class PortBlock:
    """Consecutive ports, `first` to `last`; `release` gives them back."""

    def __init__(self, first: int, last: int, locks: list[int]) -> None:
        """See `take_block`."""
        self.range = (first, last)
        self._locks = locks

    def release(self) -> None:
        """Others may have them."""
        while self._locks:
            os.close(self._locks.pop())


def take_block(count: int, folder: Path | None = None) -> PortBlock | None:
    """A free block of so many ports; None where there is none, or none is wanted.

    `folder` is where the locks lie: the same for all hosts of a machine.
    """
    if count < 1:
        return None
    folder = folder or Path(tempfile.gettempdir()).absolute() / f"ralph-tui-ports-{os.geteuid()}"
    with suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        units = -(-count // UNIT)
        for first in range(FIRST, LAST - units * UNIT, units * UNIT):
            locks = _locked(folder, range(first, first + units * UNIT, UNIT))
            if locks and all(map(_is_free, range(first, first + count))):
                return PortBlock(first, first + count - 1, locks)
            for lock in locks:
                os.close(lock)
    return None


def _locked(folder: Path, names: range) -> list[int]:
    """A lock for each; empty where somebody has one of them."""
    taken: list[int] = []
    for name in names:
        try:
            descriptor = open_plain(folder / str(name), os.O_RDWR | os.O_CREAT, 0o600)
            taken.append(descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            for lock in taken:
                os.close(lock)
            return []
    return taken


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
