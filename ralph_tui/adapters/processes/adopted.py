"""Which children of this process it has not started: orphans that it has adopted (Linux).

While a run is alive here, a process below this one that loses its parent, and has no keeper above
it any more, becomes a child of this process and not of the system's first one: however it has left
its session and emptied its environment, it can be found and ended, and is known as the run's.

Rule: a child in a session of its own that was neither there before nor told to `starting` is an
orphan. So whatever is started here in a session of its own is started within `starting`, and its
wait status is left to whoever has started it.
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

MANY = 64
"""More own children than ever live at once: then those that have ended are forgotten."""

_lock = Lock()
_own: set[tuple[int, str]] = set()
_adopting = 0


@contextmanager
def starting() -> Iterator[Callable[[int], None]]:
    """The block starts a child, and calls what it is given with the child's pid."""
    with _lock:
        yield _remember


@contextmanager
def adopting() -> Iterator[None]:
    """Orphans of what is started while the block runs are adopted; it may be nested.

    Nothing where the system does not have it (macOS), nor as the first process of a container:
    there all its orphans arrive, those of its other users as well.
    """
    global _adopting  # noqa: PLW0603 - a property of the process, as adopting is
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
    """Whether it is a child of this process that was not started here, living or dead."""
    # Who is just being started is known before the lock is given back.
    with _lock:
        return _is_adopted(entry)


def collect() -> None:
    """Take the wait statuses of adopted processes that have ended."""
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
    if len(_own) > MANY:
        _own.intersection_update(_names(process_table().values()))
    entry = read_entry(str(pid))
    if entry is not None:
        _own.add((entry.pid, entry.started))


def _names(entries: Iterable[Entry]) -> set[tuple[int, str]]:
    return {(entry.pid, entry.started) for entry in entries}
