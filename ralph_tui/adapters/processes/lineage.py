"""Where a process comes from: everything above it, and the terminal a person can reach it by.

Standard library only: a command of another terminal signs itself with it.
"""

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ralph_tui.adapters.processes.keeper import ADOPTS, Entry, process_table, read_entry
from ralph_tui.adapters.processes.sweep import bears_mark

LOOKS = 20
"""Processes above one may end while it is looked at; so often it is looked at again."""
_LOADED = datetime.now(UTC)


@dataclass(frozen=True)
class Terminal:
    """The controlling terminal of a process."""

    name: str
    """As ``ttyname`` says it, without ``/dev/``."""
    in_front: bool
    """The process is in the foreground there: what is typed reaches it."""


def lineage(pid: int) -> tuple[Entry, ...]:
    """The process and everything above it, itself first; empty when that cannot be known.

    Who loses its parent gets another one. So a line counts only when a second look, begun after
    the first one has ended, finds it again: nobody can drop out of it by ending in between.
    """
    before: tuple[Entry, ...] = ()
    for _ in range(LOOKS):
        line = _line(pid)
        if line and _names(line) == _names(before):
            return line
        before = line
    return ()


def belongs_to_run(line: tuple[Entry, ...]) -> bool:
    """Whether any run or fleet of this user has started the first of them; this process is none.

    Known by a mark in an environment, or by a process above it that adopts orphans, and so is a
    keeper or hosts runs: a process that has left its parents and its environment is still below
    one, for as long as one of them is alive. One that has ended meanwhile shows nothing: look at
    the line again, afterwards.
    """
    me = os.getpid()
    marked = any(bears_mark(entry) for entry in line if entry.pid != me)
    return marked or any(map(_adopts, line[1:]))


def started_by_run(starter: int = 0) -> bool:
    """Whether a run or fleet has started this process, or `starter`, a process above it.

    A fleet's host starts and resumes the runs of its loops; none has started the host.
    """
    line = lineage(os.getpid())
    first = next((place for place, entry in enumerate(line) if entry.pid == starter), 0)
    return bool(line) and (bears_mark(line[first]) or belongs_to_run(line[first:]))


def is_still(line: tuple[Entry, ...]) -> bool:
    """Whether all of them are alive, and above one another."""
    return bool(line) and _names(lineage(line[0].pid)) == _names(line)


def _adopts(entry: Entry) -> bool:
    with suppress(OSError):
        for descriptor in Path(f"/proc/{entry.pid}/fd").iterdir():
            with suppress(OSError):
                if descriptor.readlink().name.startswith(f"memfd:{ADOPTS}"):
                    return True
    return False


def terminal_of(pid: int) -> Terminal | None:
    """The controlling terminal; None when it has none, or is gone."""
    with suppress(OSError, ValueError, IndexError):
        if not Path("/proc/self/stat").exists():
            return _terminal_by_ps(pid)
        text = Path(f"/proc/{pid}/stat").read_bytes()
        _, _, group, _, device, front, *_ = text.rpartition(b")")[2].split()
        if int(device):
            return Terminal(_name_of(int(device)), in_front=group == front)
    return None


def name_of(pid: int) -> str:
    """How a process signs: with its terminal, for that is where its owner is."""
    terminal = terminal_of(pid)
    return f"a script (process {pid})" if terminal is None else f"the terminal {terminal.name}"


def own_start() -> datetime:
    """When this process began; where the system does not tell, when it had been loaded."""
    with suppress(OSError, ValueError, IndexError, AttributeError):
        ticks = int(Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
        return datetime.now(UTC) - timedelta(seconds=age)
    return _LOADED


def _line(pid: int) -> tuple[Entry, ...]:
    """One look; empty when a process above has ended meanwhile."""
    table = None if Path("/proc/self/stat").exists() else process_table()
    line: list[Entry] = []
    while pid:
        entry = read_entry(str(pid)) if table is None else table.get(pid)
        if entry is None and line and _is_anothers(pid):
            break  # hidden from us: another user's, and so nothing that a run has started
        if entry is None or not entry.alive or entry.parent == pid:
            return ()
        line.append(entry)
        pid = entry.parent
    return tuple(line)


def _names(line: tuple[Entry, ...]) -> list[tuple[int, str]]:
    return [(entry.pid, entry.started) for entry in line]


def _is_anothers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except ProcessLookupError:
        return False
    return False


def _name_of(device: int) -> str:
    minor = os.minor(device)
    for path in (f"pts/{minor}", f"tty{minor}", f"ttyS{minor - 64}"):
        with suppress(OSError):
            if Path("/dev", path).stat().st_rdev == device:
                return path
    return f"{os.major(device)}:{minor}"


def _terminal_by_ps(pid: int) -> Terminal | None:
    """Where there is no /proc (macOS)."""
    import subprocess  # noqa: PLC0415 - slow to load, and not needed on Linux

    command = ["/bin/ps", "-o", "tty=,pgid=,tpgid=", "-p", str(pid)]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
    if len(told) != 3 or told[0].startswith("?"):
        return None
    return Terminal(told[0], in_front=told[1] == told[2])
