"""How much memory a run's processes hold, and how much they work: agent, commands, and below."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from threading import Event as Flag
from threading import Lock, Thread

from ralph_tui.adapters.processes.keeper import Entry, descendants, process_table
from ralph_tui.adapters.processes.sweep import COMMAND_MARK, RUN_MARK, environ

FIRST_S, LONGEST_S = 0.1, 5.0
"""Between two samples, seconds: each gap is twice the one before."""


class MemorySampler:
    """`ralph_tui.ports.Memory`, from samples that a thread takes while an agent works."""

    def __init__(self, sample: Callable[[], int]) -> None:
        """`sample` gives the bytes that are held now."""
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
    """Resident memory of all processes that bear the run's mark, and of their descendants.

    `commands`: only of what was launched as a command, which leaves the run's own git out. A page
    that several share counts for each. 0 where the system does not show it.
    """
    table = process_table()
    marks = [f"{RUN_MARK}={run_id}".encode(), *([f"{COMMAND_MARK}=".encode()] if commands else [])]
    own = table.get(os.getpid())
    if own is None or not own.started.isdigit():
        return 0
    # What bears the mark this process has started: of all that are older no environment is read.
    young = (entry for entry in table.values() if int(entry.started) >= int(own.started))
    marked = {entry.pid for entry in young if entry.alive and _bears(entry, marks)}
    tree = marked | {entry.pid for entry in descendants(marked, table)}
    return sum(map(_resident, tree - {os.getpid()})) * os.sysconf("SC_PAGE_SIZE")


def worked(pid: int) -> int | None:
    """Clock ticks that a process and its descendants have used; None: the system hides it."""
    table = process_table()
    used = [_ticks(one) for one in (pid, *(entry.pid for entry in descendants({pid}, table)))]
    known = [ticks for ticks in used if ticks is not None]
    return sum(known) if known else None


def _ticks(pid: int) -> int | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return sum(map(int, fields[11:15]))  # its own, and of children that have ended
    return None


def _bears(entry: Entry, marks: list[bytes]) -> bool:
    """Whether its environment has a variable that begins with each of these."""
    with contextlib.suppress(OSError):
        variables = b"\0" + environ(entry)
        return all(b"\0" + mark in variables for mark in marks)
    return False


def _resident(pid: int) -> int:
    """Pages; 0 for a process that is gone."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return 0
