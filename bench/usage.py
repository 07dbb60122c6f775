"""Resource usage of a process, from /proc if it exists, else from ps."""

import os
import subprocess
from pathlib import Path


def cpu_seconds(pid: int) -> float:
    """Return the user and system time of a process so far."""
    stat = Path(f"/proc/{pid}/stat")
    if stat.exists():
        fields = stat.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    total = 0.0
    for part in _ps(pid, "time").replace("-", ":").split(":"):
        total = total * 60 + float(part)
    return total


def waited_seconds(pid: int) -> float:
    """Return how long the main thread of a process waited for a core; 0 if unknown."""
    told = Path(f"/proc/{pid}/task/{pid}/schedstat")
    return int(told.read_text().split()[1]) / 1e9 if told.exists() else 0.0


def resident_bytes(pid: int | None = None) -> int:
    """Return the resident memory of a process, by default this one."""
    pid = os.getpid() if pid is None else pid
    statm = Path(f"/proc/{pid}/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return int(_ps(pid, "rss")) * 1024


def _ps(pid: int, column: str) -> str:
    command = ["ps", "-o", f"{column}=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
