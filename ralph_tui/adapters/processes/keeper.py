"""The keeper: the parent of one command, so that nothing the command starts can outlive a run.

Run as ``python -I -S keeper.py OPTIONS -- COMMAND...``, in its own session, ignoring HUP, INT and
TERM. It ends when the last descendant of its command has ended. It uses only parts of the standard
library that load within a few milliseconds.

    --control N   read end of a pipe; orders, one per line: ``interrupt``, ``stop``, ``hurry`` (stop
                  in half a second), ``answer``. The end of the pipe means that ralph-tui is gone,
                  and counts as an order to stop.
    --status N    write end of a pipe; one JSON object per line: ``{"pid"}``, then ``{"exit",
                  "signal", "stopped", "leftovers", "survivors"}``; or ``{"errno"}`` alone. Between
                  the two, ``{}`` is the reply to ``answer``.
    --lock N      a descriptor kept open until the keeper ends, and never passed to the command.
    --silence S   stop after S seconds without an order, including time the machine has slept;
                  without this option, silence is unlimited.
    --set NAME=V  a variable for the command's environment; may be repeated.

The stop ladder begins with INT to the command's process group. After 2.5 s, it sends TERM to every
descendant, and after another 1.5 s KILL, repeated until none is left. A rung ends as soon as it has
succeeded. ``hurry``, for commands with nothing to finish, shortens the rungs to 0.3 s and 0.2 s.
"""

import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    # The signal module without its enumerations, which take longer to load than everything else.
    import _signal as signal

INTERRUPT_S = 2.5
TERMINATE_S = 1.5
HURRIED_S = (0.3, 0.2)
"""`INTERRUPT_S` and `TERMINATE_S` for a hurried stop."""
LEFTOVER_GRACE_S = 0.05
"""Seconds in which leftovers may still end on their own, as the end of a pipeline does."""
LEFTOVER_TERMINATE_S = 1.0
GIVE_UP_S = 8.0
"""Seconds after which survivors count as unkillable; the keeper then stays and keeps the lock."""
POLL_S = 0.02
KILL_POLL_S = 0.002

CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Clock for silence, which also runs while the machine sleeps."""
IGNORED_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT)
RESTORED = (*IGNORED_SIGNALS, signal.SIGPIPE, signal.SIGXFSZ)
PR_SET_CHILD_SUBREAPER = 36
ADOPTS = "ralph-tui-adopts"
"""Name of a memory file that a process has open while it adopts orphans; children lack it."""
_signs: list[int] = []
"""The descriptor of the `ADOPTS` file, if it is open."""


class Entry:
    """A row of the process table; `pid` and `started` identify a process permanently."""

    __slots__ = ("alive", "group", "leaderless", "parent", "pid", "session", "started")

    def __init__(
        self,
        pid: int,
        parent: int,
        group: int,
        session: int,
        started: str,
        *,
        alive: bool,
        leaderless: bool = False,
    ) -> None:
        self.pid = pid
        self.parent = parent
        self.group = group
        self.session = session
        self.started = started
        self.alive = alive
        """True if at least one of its threads is running."""
        self.leaderless = leaderless
        """True if only its first thread has ended; the other threads show its environment."""


def process_table() -> dict[int, Entry]:
    """Return every process that the system shows, by pid."""
    try:
        names = os.listdir("/proc")  # noqa: PTH208 - this module loads no pathlib
    except FileNotFoundError:
        return _table_of_ps()
    rows = (read_entry(name) for name in names if name.isdigit())
    return {row.pid: row for row in rows if row is not None}


def read_entry(pid: str) -> Entry | None:
    """Return one row of the table in ``/proc``; None if there is no such process."""
    try:
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        text = os.read(descriptor, 4096)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    # The name in brackets may itself contain brackets and spaces.
    state, parent, group, session, *rest = text.rpartition(b")")[2].split()
    started = rest[15].decode()
    # The state is the first thread's; a dead process has no other thread left.
    ended = state in (b"Z", b"X")
    leaderless = ended and int(rest[13]) > 1
    return Entry(
        int(pid),
        int(parent),
        int(group),
        int(session),
        started,
        alive=not ended or leaderless,
        leaderless=leaderless,
    )


def _table_of_ps() -> dict[int, Entry]:
    """Return the process table on a system without /proc (macOS); its entries have no session."""
    import subprocess  # noqa: PLC0415 - slow to load, and not needed on Linux

    command = ["/bin/ps", "-A", "-o", "pid=,ppid=,pgid=,state=,lstart="]
    listing = subprocess.run(command, capture_output=True, text=True, check=False)
    table = {}
    for line in listing.stdout.splitlines():
        pid, parent, group, state, started = line.split(maxsplit=4)
        alive = not state.startswith("Z")
        table[int(pid)] = Entry(int(pid), int(parent), int(group), 0, started, alive=alive)
    return table


def descendants(roots: set[int], table: dict[int, Entry]) -> list[Entry]:
    """Return every live descendant of `roots`, without the roots."""
    children: dict[int, list[Entry]] = {}
    for entry in table.values():
        children.setdefault(entry.parent, []).append(entry)
    found: dict[int, Entry] = {}
    front = list(roots)
    while front:
        for entry in children.get(front.pop(), ()):
            if entry.pid not in found and entry.pid not in roots:
                found[entry.pid] = entry
                front.append(entry.pid)
    return [entry for entry in found.values() if entry.alive]


def send(pid: int, number: int) -> None:
    """Signal a process (if negative, a group), which may be gone or not ours to signal."""
    try:  # noqa: SIM105 - contextlib takes longer to load than this whole module
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


class Keeper:
    """One command and everything below it, until the last process has ended."""

    def __init__(
        self, command: int, control: int, status: int, silence: float | None = None
    ) -> None:
        self.command = command
        self.control = control
        self.status = status
        self.silence = silence
        self.heard = time.clock_gettime(CLOCK)
        self.result: int | None = None
        """The wait status of the command, once it has ended."""
        self.stopped = False
        self.rungs = (INTERRUPT_S, TERMINATE_S)
        self.leftovers = 0
        self.wakeup = _wake_on_child()
        self.poll = select.poll()
        self.poll.register(self.wakeup, select.POLLIN)
        self.poll.register(control, select.POLLIN)
        self.pending = b""

    def keep(self) -> None:
        """Wait for the command, carry out orders, and stop all remaining processes."""
        self._reap()
        while self.result is None and not self.stopped:
            self._wait(self._silence_left())
        began = time.monotonic()
        if self.stopped:
            # To its process group, as from a terminal: a shell does not pass INT to its commands.
            send(-self.command, signal.SIGINT)
            while self.result is None and self._wait_until(began + self.rungs[0]):
                pass
        else:
            while not self._is_alone() and self._wait_until(began + LEFTOVER_GRACE_S):
                pass
        if not self._is_alone():
            self.leftovers = sum(entry.pid != self.command for entry in self._below())
            self._terminate(self.rungs[1] if self.stopped else LEFTOVER_TERMINATE_S)
        while not self._is_alone() and time.monotonic() < began + GIVE_UP_S:
            self._kill()
            self._wait(KILL_POLL_S)
        self._report(survivors=0 if self._is_alone() else len(self._below()))
        while not self._is_alone():
            self._kill()
            self._wait(0.5)

    def _report(self, survivors: int) -> None:
        code, number = "null", "null"
        if self.result is not None:
            exit_code = os.waitstatus_to_exitcode(self.result)
            code = str(exit_code if exit_code >= 0 else 128 - exit_code)
            number = str(-exit_code) if exit_code < 0 else "null"
        stopped = "true" if self.stopped else "false"
        send_line(
            self.status,
            f'{{"exit": {code}, "signal": {number}, "stopped": {stopped}, '
            f'"leftovers": {self.leftovers}, "survivors": {survivors}}}',
        )

    def _silence_left(self) -> float | None:
        """Return how many more seconds of silence are allowed; if none, stop the command."""
        if self.silence is None:
            return None
        left = self.heard + self.silence - time.clock_gettime(CLOCK)
        if left <= 0:
            self.stopped = True
        return max(0.0, left)

    def _wait(self, timeout: float | None) -> None:
        """Sleep until a child ends, an order arrives, or `timeout` seconds have passed."""
        for descriptor, _ in self.poll.poll(None if timeout is None else timeout * 1000):
            if descriptor == self.wakeup:
                os.read(self.wakeup, 4096)
            else:
                self._listen()
        self._reap()

    def _wait_until(self, deadline: float) -> bool:
        """Wait briefly; False if the deadline has passed."""
        left = deadline - time.monotonic()
        if left > 0:
            self._wait(min(POLL_S, left))
        return left > 0

    def _listen(self) -> None:
        self._silence_left()  # an order that arrives too late does not end the silence
        self.heard = time.clock_gettime(CLOCK)
        text = os.read(self.control, 4096)
        *orders, self.pending = (self.pending + text).split(b"\n")
        if not text:
            self.poll.unregister(self.control)
        if b"answer" in orders:
            send_line(self.status, "{}")
        if self.result is not None:
            return
        if b"interrupt" in orders:
            send(self.command, signal.SIGINT)
        if b"hurry" in orders:
            self.rungs = HURRIED_S
        if not text or b"stop" in orders or b"hurry" in orders:
            self.stopped = True

    def _reap(self) -> bool:
        """Reap dead children; False if no child is left, alive or dead."""
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self.command:
                    self.result = ended[1]
        except ChildProcessError:
            return False
        return True

    def _is_alone(self) -> bool:
        """True if nothing is left: since orphans are adopted, no child means no descendant."""
        return not self._reap() and (sys.platform == "linux" or not self._below())

    def _below(self) -> list[Entry]:
        table = process_table()
        below = descendants({os.getpid()}, table)
        if sys.platform != "linux":
            # On other systems, orphans go to init; most are still in the command's process group.
            known = {entry.pid for entry in below}
            mates = [entry for entry in table.values() if entry.group == self.command]
            below += [entry for entry in mates if entry.alive and entry.pid not in known]
        return below

    def _terminate(self, seconds: float) -> None:
        """Ask each process once to end, including new ones; wait for all of them."""
        deadline = time.monotonic() + seconds
        asked: set[tuple[int, str]] = set()
        while not self._is_alone():
            for entry in self._below():
                if (entry.pid, entry.started) not in asked:
                    asked.add((entry.pid, entry.started))
                    send(entry.pid, signal.SIGTERM)
                    send(entry.pid, signal.SIGCONT)
            if not self._wait_until(deadline):
                return

    def _kill(self) -> None:
        """Send KILL once to everything.

        Whole process groups are killed, because no fork can escape that. The group of a descendant
        contains no other processes, because the command began its own session. Children come first,
        before they are reaped: a dead one still shows the group of its own child.
        """
        own = os.getpgrp()
        for pid in self._children():
            try:
                group = os.getpgid(pid)
            except ProcessLookupError:
                continue
            if group != own:
                send(-group, signal.SIGKILL)
            send(pid, signal.SIGKILL)
        for entry in self._below():
            if entry.group not in (0, own):
                send(-entry.group, signal.SIGKILL)
            send(entry.pid, signal.SIGKILL)

    def _children(self) -> list[int]:
        """Return direct children, even dead ones, fast enough to keep up with a fork bomb."""
        try:
            with open(f"/proc/{os.getpid()}/task/{os.getpid()}/children", "rb") as listing:  # noqa: PTH123
                return [int(pid) for pid in listing.read().split()]
        except OSError:
            return []


def _wake_on_child() -> int:
    """Return a descriptor that becomes readable when a child ends."""
    readable, writable = os.pipe()
    os.set_blocking(readable, False)
    os.set_blocking(writable, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    return readable


def send_line(status: int, line: str) -> None:
    """Write one line to ralph-tui, which may be gone."""
    try:  # noqa: SIM105 - as above
        os.write(status, line.encode() + b"\n")
    except OSError:
        pass


def adopt_orphans(*, adopt: bool = True) -> None:
    """Make processes whose parent dies children of this one (Linux), or stop doing so.

    Meanwhile, this process keeps open a memory file named `ADOPTS`, by which others recognise it.
    """
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415 - only Linux has the call

    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(adopt), 0, 0, 0)
    try:
        if adopt and not _signs:
            _signs.append(os.memfd_create(ADOPTS))
    except (AttributeError, OSError):  # the system lacks it, or no descriptor is left
        pass
    while _signs and not adopt:
        os.close(_signs.pop())


def spawn(command: list[str], environment: dict[str, str]) -> int:
    """Start the command in its own session and return its pid. Raises ``OSError``."""
    failure, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            for number in RESTORED:
                signal.signal(number, signal.SIG_DFL)
            os.execvpe(command[0], command, environment)
        except OSError as error:
            os.write(writer, str(error.errno or 0).encode())
        finally:
            os._exit(127)
    os.close(writer)
    code = os.read(failure, 16)
    os.close(failure)
    if code:
        os.waitpid(pid, 0)
        raise OSError(int(code), os.strerror(int(code)))
    return pid


def main(arguments: list[str]) -> None:
    """Keep the command that follows ``--``."""
    for number in IGNORED_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    split = arguments.index("--")
    environment = dict(os.environ)
    descriptors = {}
    silence = None
    for option, value in zip(arguments[:split:2], arguments[1:split:2], strict=True):
        if option == "--set":
            name, _, environment[name] = value.partition("=")
        elif option == "--silence":
            silence = float(value)
        else:
            descriptors[option] = int(value)
            os.set_inheritable(int(value), False)
    status = descriptors["--status"]
    adopt_orphans()
    try:
        command = spawn(arguments[split + 1 :], environment)
    except OSError as error:
        send_line(status, f'{{"errno": {error.errno}}}')
        return
    # Readers of the command's output must not wait for the keeper.
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.chdir("/")
    send_line(status, f'{{"pid": {command}}}')
    Keeper(command, descriptors["--control"], status, silence).keep()


if __name__ == "__main__":
    main(sys.argv[1:])
    os._exit(0)
