"""How much memory a run's processes use: the agent, the gate, and whatever they started."""

import contextlib
import os
from pathlib import Path

from ralph_tui.adapters.processes.keeper import Entry, descendants, process_table
from ralph_tui.adapters.processes.sweep import RUN_MARK


def resident_bytes(run_id: str) -> int:
    """Resident memory of all processes that bear the run's mark, and of their descendants.

    A page that several share counts for each. 0 where the system does not show it.
    """
    table = process_table()
    mark = f"{RUN_MARK}={run_id}".encode()
    marked = {entry.pid for entry in table.values() if entry.alive and _bears(entry, mark)}
    tree = marked | {entry.pid for entry in descendants(marked, table)}
    return sum(map(_resident, tree - {os.getpid()})) * os.sysconf("SC_PAGE_SIZE")


def _bears(entry: Entry, mark: bytes) -> bool:
    with contextlib.suppress(OSError):
        return mark in Path(f"/proc/{entry.pid}/environ").read_bytes().split(b"\0")
    return False


def _resident(pid: int) -> int:
    """Pages; 0 for a process that is gone."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return 0
