"""The ancestry of a process, and the terminal where its user can be reached.

Standard library only, because commands sent from other terminals need it for their signature.
"""

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ralph_tui.adapters.processes.keeper import ADOPTS, Entry, process_table, read_entry
from ralph_tui.adapters.processes.sweep import has_mark

MAX_ATTEMPTS = 20
"""Maximum number of attempts to read an ancestry, because ancestors may end meanwhile."""
_LOADED = datetime.now(UTC)


@dataclass(frozen=True)
class Terminal:
    """The controlling terminal of a process."""

    name: str
    """Name as given by ``ttyname``, without ``/dev/``."""
    is_foreground: bool
    """True if the process is in the foreground there, and so receives what the user types."""


def lineage(pid: int) -> tuple[Entry, ...]:
    """Return the process and its ancestors, itself first; empty if they cannot be determined.

    A process that loses its parent gets another one. Therefore, the result counts only if a second
    reading, begun after the first has ended, confirms it; a process that ended in between cannot be
    missed.
    """
    before: tuple[Entry, ...] = ()
    for _ in range(MAX_ATTEMPTS):
        line = _line(pid)
        if line and _names(line) == _names(before):
            return line
        before = line
    return ()


def belongs_to_run(line: tuple[Entry, ...]) -> bool:
    """True if a run or fleet of this user started the first process; this process does not count.

    A run is recognised by a mark in an environment, or by an ancestor that adopts orphans, and so
    is a keeper or hosts runs. A process that has left its parents and its environment is still
    below such an ancestor, as long as one is alive. An ancestor that has ended meanwhile shows
    nothing, so the caller must check the ancestry again afterwards.
    """
    me = os.getpid()
    marked = any(has_mark(entry) for entry in line if entry.pid != me)
    return marked or any(map(_adopts, line[1:]))


def started_by_run(starter: int = 0) -> bool:
    """True if a run or fleet started this process, or its ancestor `starter`.

    The host of a fleet starts and resumes the runs of its loops; no run has started the host.
    """
    line = lineage(os.getpid())
    first = next((place for place, entry in enumerate(line) if entry.pid == starter), 0)
    return bool(line) and (has_mark(line[first]) or belongs_to_run(line[first:]))


def is_intact(line: tuple[Entry, ...]) -> bool:
    """True if all of them are alive and still descend from one another."""
    return bool(line) and _names(lineage(line[0].pid)) == _names(line)


def _adopts(entry: Entry) -> bool:
    with suppress(OSError):
        for descriptor in Path(f"/proc/{entry.pid}/fd").iterdir():
            with suppress(OSError):
                if descriptor.readlink().name.startswith(f"memfd:{ADOPTS}"):
                    return True
    return False


def terminal_of(pid: int) -> Terminal | None:
    """Return the controlling terminal; None without one, or if the process is gone."""
    with suppress(OSError, ValueError, IndexError):
        if not Path("/proc/self/stat").exists():
            return _terminal_by_ps(pid)
        text = Path(f"/proc/{pid}/stat").read_bytes()
        _, _, group, _, device, front, *_ = text.rpartition(b")")[2].split()
        if int(device):
            return Terminal(_name_of(int(device)), is_foreground=group == front)
    return None


def name_of(pid: int) -> str:
    """Return the name with which a process signs: the terminal where its user is, or a script."""
    terminal = terminal_of(pid)
    return f"a script (process {pid})" if terminal is None else f"the terminal {terminal.name}"


def process_start() -> datetime:
    """Return when this process started; if the system hides that, when this module was loaded."""
    with suppress(OSError, ValueError, IndexError, AttributeError):
        ticks = int(Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
        return datetime.now(UTC) - timedelta(seconds=age)
    return _LOADED


def _line(pid: int) -> tuple[Entry, ...]:
    """Read the ancestry once; empty if an ancestor ended meanwhile."""
    table = None if Path("/proc/self/stat").exists() else process_table()
    line: list[Entry] = []
    while pid:
        entry = read_entry(str(pid)) if table is None else table.get(pid)
        if entry is None and line and _is_foreign(pid):
            break  # hidden because it is another user's, and so not started by a run
        if entry is None or not entry.alive or entry.parent == pid:
            return ()
        line.append(entry)
        pid = entry.parent
    return tuple(line)


def _names(line: tuple[Entry, ...]) -> list[tuple[int, str]]:
    return [(entry.pid, entry.started) for entry in line]


def _is_foreign(pid: int) -> bool:
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
    """Use ps where there is no /proc (macOS)."""
    import subprocess  # noqa: PLC0415 - slow to load, and not needed on Linux

    command = ["/bin/ps", "-o", "tty=,pgid=,tpgid=", "-p", str(pid)]
    columns = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
    if len(columns) != 3 or columns[0].startswith("?"):
        return None
    return Terminal(columns[0], is_foreground=columns[1] == columns[2])
