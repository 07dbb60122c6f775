"""Files and sockets in use, where the system shows them."""

from contextlib import suppress
from pathlib import Path

PROCESSES = Path("/proc")


def open_files() -> set[tuple[int, int]]:
    """Return device and inode of each file that our processes have open; empty if hidden."""
    found: set[tuple[int, int]] = set()
    with suppress(OSError):
        for process in PROCESSES.iterdir():
            if process.name.isdecimal():
                _add_those_of(process, found)
    return found


def holders_of_socket(number: int) -> list[int]:
    """Return the processes with this socket open, where the system shows them."""
    name = f"socket:[{number}]"
    found = []
    with suppress(OSError):
        for process in PROCESSES.iterdir():
            if process.name.isdecimal() and name in _names_of(process):
                found.append(int(process.name))
    return found


def _names_of(process: Path) -> set[str]:
    names = set()
    with suppress(OSError):
        for descriptor in (process / "fd").iterdir():
            with suppress(OSError):
                names.add(str(descriptor.readlink()))
    return names


def _add_those_of(process: Path, found: set[tuple[int, int]]) -> None:
    with suppress(OSError):  # it is another user's, or has ended
        for descriptor in (process / "fd").iterdir():
            with suppress(OSError):
                there = descriptor.stat()
                found.add((there.st_dev, there.st_ino))
