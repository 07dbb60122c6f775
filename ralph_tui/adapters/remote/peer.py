"""The process at the other end of a connection, as the system reports it.

The peer's own claims are ignored. Checks fail closed: a process that is gone, or cannot be traced
up to the first process, is refused. A connection is therefore valid only as long as the process
that opened it is alive.
"""

import errno
import os
import select
import socket
import struct
from dataclasses import dataclass

from ralph_tui.adapters.processes.keeper import Entry
from ralph_tui.adapters.processes.lineage import (
    belongs_to_run,
    is_intact,
    lineage,
    name_of,
    terminal_of,
)
from ralph_tui.base.errors import RalphError

SO_PEERPIDFD = 77
"""In Linux 6.5 and later; Python has no name for it yet."""
SOL_LOCAL, LOCAL_PEERCRED, LOCAL_PEERPID = 0, 1, 2
"""Constants from macOS."""

ANOTHER_USER = "only the user who started a run can command it"
STARTED_BY_RUN = "processes started by a run cannot command a run; use your own terminal"
GONE = (
    "the process that opened this connection is gone or unknown; try again and wait for the answer"
)


class UnwelcomeError(RalphError):
    """Raised if a process may not command this run; the text says why."""


@dataclass(frozen=True)
class Speaker:
    """A process that may command the run."""

    name: str
    """Its terminal or script, as named in the journal."""
    at_terminal: bool
    """True if a person can be using it, because it is in the foreground of a terminal."""


class Peer:
    """The process that opened a connection, known by pid and start time, as pids are reused."""

    def __init__(self, pid: int, started: str) -> None:
        self._pid = pid
        self._started = started

    @classmethod
    def of(cls, connection: socket.socket) -> "Peer":
        """Identify the peer; ``UnwelcomeError`` if it is another user's, gone, or unknown."""
        pid, uid = _credentials(connection)
        if uid != os.geteuid():
            raise UnwelcomeError(ANOTHER_USER)
        line = lineage(pid) if pid > 0 else ()
        # The inspected process is the opener itself, unless that has ended meanwhile.
        if not line or not _opener_lives(connection):
            raise UnwelcomeError(GONE)
        return cls(pid, line[0].started)

    def identify(self) -> Speaker:
        """Return its identity; ``UnwelcomeError`` if it may not, or no longer, command the run."""
        line = lineage(self._pid)
        if not line or line[0].started != self._started:
            raise UnwelcomeError(GONE)
        if _inside(line):
            raise UnwelcomeError(STARTED_BY_RUN)
        terminal = terminal_of(self._pid)
        # The leader of the session opened the terminal.
        leader = lineage(line[0].session) if line[0].session else line
        outside = bool(leader) and not _inside(leader) and is_intact(leader)
        if not is_intact(line):
            raise UnwelcomeError(GONE)
        return Speaker(
            name_of(self._pid), terminal is not None and terminal.is_foreground and outside
        )


def find_opener(descriptor: int) -> int:
    """Return the process that made the other end of this inherited socket; 0 if unknown."""
    try:
        with socket.socket(fileno=os.dup(descriptor)) as connection:
            return max(0, _credentials(connection)[0])
    except OSError:
        return 0


def _inside(line: tuple[Entry, ...]) -> bool:
    """True if a run started it, in this process or any other."""
    me = os.getpid()
    return any(entry.pid == me for entry in line[1:]) or belongs_to_run(line)


def _credentials(connection: socket.socket) -> tuple[int, int]:
    """Return the opener's pid and uid; -1 each if unknown."""
    try:
        if hasattr(socket, "SO_PEERCRED"):
            credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            pid, uid, _ = struct.unpack("3i", credentials)
        else:
            (pid,) = struct.unpack("i", connection.getsockopt(SOL_LOCAL, LOCAL_PEERPID, 4))
            _, uid = struct.unpack("Ii", connection.getsockopt(SOL_LOCAL, LOCAL_PEERCRED, 76)[:8])
    except (OSError, struct.error):
        return -1, -1
    return pid, uid


def _opener_lives(connection: socket.socket) -> bool:
    """True if the kernel says that the opener is alive, or cannot tell."""
    try:
        descriptor = connection.getsockopt(socket.SOL_SOCKET, SO_PEERPIDFD)
    except OSError as error:
        # The option is unknown to the system; any other error means that the process has ended.
        return error.errno == errno.ENOPROTOOPT
    try:
        ended = select.poll()
        ended.register(descriptor, select.POLLIN)
        return not ended.poll(0)
    finally:
        os.close(descriptor)
