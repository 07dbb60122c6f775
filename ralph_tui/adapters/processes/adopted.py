"""Detect children that this process did not start: orphans it has adopted (Linux).

While a run is active here, a process below this one may lose its parent, with no keeper above it.
It then becomes a child of this process, not of init. Even if it has left its session and emptied
its environment, it can be found and ended, and is known to belong to the run.

An orphan is a child in its own session that was neither there before nor reported to `starting`.
Therefore, anything started here in its own session must be started within `starting`. Its wait
status is left to the code that started it.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Lock

from ralph_tui.adapters.processes.keeper import (
    Entry,
    adopt_orphans,
    descendants,
    process_table,
    read_entry,
)

MAX_CHILDREN = 64
"""Maximum number of our children to remember, more than run at once; ended ones are dropped."""

_lock = Lock()
_own: set[tuple[int, str]] = set()
_adopting = 0


@contextmanager
def starting() -> Iterator[Callable[[int], None]]:
    """Yield a function; the block must start a child and call the function with its pid."""
    with _lock:
        yield _remember


@contextmanager
def adopting() -> Iterator[None]:
    """Adopt orphans of anything started while the block runs; may be nested.

    Does nothing on systems without adoption (macOS), nor in the first process of a container,
    because all orphans in the container arrive there, including those of other users.
    """
    global _adopting  # noqa: PLW0603 - adopting is a property of the process
    if sys.platform != "linux" or os.getpid() == 1:
        yield
        return
    with _lock:
        _own.update(_names(descendants({os.getpid()}, process_table())))
        _adopting += 1
        adopt_orphans()
    try:
        yield
    finally:
        with _lock:
            _adopting -= 1
            if not _adopting:
                adopt_orphans(adopt=False)
                _own.clear()


def is_adopted(entry: Entry) -> bool:
    """True for a child of this process, alive or dead, that was not started here."""
    # A child being started is known before the lock is released.
    with _lock:
        return _is_adopted(entry)


def collect() -> None:
    """Reap adopted processes that have ended."""
    if not _adopting:
        return
    with _lock:
        for entry in process_table().values():
            if not entry.alive and _is_adopted(entry):
                os.waitpid(entry.pid, os.WNOHANG)


def _is_adopted(entry: Entry) -> bool:
    if not _adopting or entry.parent != os.getpid() or entry.session == os.getsid(0):
        return False
    return (entry.pid, entry.started) not in _own


def _remember(pid: int) -> None:
    if not _adopting:
        return
    if len(_own) > MAX_CHILDREN:
        _own.intersection_update(_names(process_table().values()))
    entry = read_entry(str(pid))
    if entry is not None:
        _own.add((entry.pid, entry.started))


def _names(entries: Iterable[Entry]) -> set[tuple[int, str]]:
    return {(entry.pid, entry.started) for entry in entries}
