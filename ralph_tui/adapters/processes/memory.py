"""Memory and processor use of a run's processes: the agent, commands, and their descendants."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from threading import Event as Flag
from threading import Lock, Thread

from ralph_tui.adapters.processes.keeper import Entry, descendants, process_table
from ralph_tui.adapters.processes.sweep import COMMAND_MARK, RUN_MARK, environ

FIRST_S, LONGEST_S = 0.1, 5.0
"""Seconds between two samples, first and longest; each gap is twice the one before."""


class MemorySampler:
    """Implements `ralph_tui.ports.Memory` with samples that a thread takes while an agent works."""

    def __init__(self, sample: Callable[[], int]) -> None:
        """`sample` returns the bytes in use now."""
        self._sample = sample
        self._lock = Lock()
        self._peak = 0
        self._over = Flag()
        self._thread: Thread | None = None

    def begin(self) -> None:
        self.end()
        self._over = Flag()
        self._thread = Thread(
            target=self._follow, args=(self._over,), name="memory sampler", daemon=True
        )
        self._thread.start()

    def end(self) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def take_peak(self) -> int:
        with self._lock:
            peak, self._peak = self._peak, 0
        return peak

    def _follow(self, over: Flag) -> None:
        gap = FIRST_S
        while not over.wait(gap):
            held = self._sample()
            with self._lock:
                self._peak = max(self._peak, held)
            gap = min(2 * gap, LONGEST_S)


def resident_bytes(run_id: str, *, commands: bool = False) -> int:
    """Return the resident memory of all processes with the run's mark, and their descendants.

    With `commands`, count only processes launched as commands, which leaves out the run's own
    `git`. A page shared by several processes counts for each. Returns 0 if the system hides it.
    """
    table = process_table()
    marks = [f"{RUN_MARK}={run_id}".encode(), *([f"{COMMAND_MARK}=".encode()] if commands else [])]
    own = table.get(os.getpid())
    if own is None or not own.started.isdigit():
        return 0
    # Older processes cannot have the mark, because this process starts all that have it.
    young = (entry for entry in table.values() if int(entry.started) >= int(own.started))
    marked = {entry.pid for entry in young if entry.alive and _has_marks(entry, marks)}
    tree = marked | {entry.pid for entry in descendants(marked, table)}
    return sum(map(_resident, tree - {os.getpid()})) * os.sysconf("SC_PAGE_SIZE")


def ticks_used(pid: int) -> int | None:
    """Return the clock ticks used by a process and its descendants; None if the system hides it."""
    table = process_table()
    used = [_ticks(one) for one in (pid, *(entry.pid for entry in descendants({pid}, table)))]
    known = [ticks for ticks in used if ticks is not None]
    return sum(known) if known else None


def _ticks(pid: int) -> int | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return sum(map(int, fields[11:15]))  # its own ticks and those of its ended children
    return None


def _has_marks(entry: Entry, marks: list[bytes]) -> bool:
    """True if its environment has, for each mark, a variable that begins with it."""
    with contextlib.suppress(OSError):
        variables = b"\0" + environ(entry)
        return all(b"\0" + mark in variables for mark in marks)
    return False


def _resident(pid: int) -> int:
    """Return the resident pages; 0 for a process that is gone."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return 0
