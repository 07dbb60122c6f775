"""The keeper: the parent of one command, so that nothing the command starts can outlive a run.

Run as ``python -I -S keeper.py OPTIONS -- COMMAND...``, in a session of its own, deaf to HUP, INT
and TERM. It ends when the last descendant of its command has ended. Standard library only, and of
that only what loads in a few milliseconds.

    --control N   read end of a pipe; orders, one per line: ``interrupt``, ``stop``, ``hurry`` (to
                  stop in half a second), ``answer``. Its end means that ralph-tui is gone, and is
                  an order to stop.
    --status N    write end of a pipe; one JSON object per line: ``{"pid"}``, then ``{"exit",
                  "signal", "stopped", "leftovers", "survivors"}``; or ``{"errno"}`` alone. Between
                  the two, ``{}`` answers whoever asks for an answer.
    --lock N      a descriptor held until the keeper ends, and never handed to the command.
    --silence S   seconds without an order, time that the machine has slept included, that are an
                  order to stop; without it any silence is borne.
    --set NAME=V  a variable for the command's environment; may be repeated.

The stop ladder: INT to the command's process group, after 2.5 s TERM to every descendant, after
1.5 s more KILL, again and again until none is left. A rung that has done its work is left at once.
Of what has nothing to bring to an end, ``hurry`` makes the rungs 0.3 s and 0.2 s.
"""

import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    # The same without its enumerations, which take longer to load than all the rest.
    import _signal as signal

INTERRUPT_S = 2.5
TERMINATE_S = 1.5
HURRIED_S = (0.3, 0.2)
"""The same of a stop that is hurried."""
LEFTOVER_GRACE_S = 0.05
"""What a command leaves for a blink of an eye (the end of a pipeline) is no leftover."""
LEFTOVER_TERMINATE_S = 1.0
GIVE_UP_S = 8.0
"""What lives on after this cannot be killed: it is reported, the keeper stays, with the lock."""
POLL_S = 0.02
KILL_POLL_S = 0.002

CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Of silence: it goes on while the machine sleeps."""
DEAF_TO = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT)
RESTORED = (*DEAF_TO, signal.SIGPIPE, signal.SIGXFSZ)
PR_SET_CHILD_SUBREAPER = 36
ADOPTS = "ralph-tui-adopts"
"""Name of a memory file that a process has open while it adopts orphans: its children do not."""
_signs: list[int] = []
"""The descriptor of that file, if it is open."""


class Entry:
    """A row of the process table; `pid` and `started` name a process for good."""

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
        """At least one of its threads has not ended."""
        self.leaderless = leaderless
        """Its first thread has ended, others work on: theirs is the environment to be seen."""


def process_table() -> dict[int, Entry]:
    """Every process by pid, as far as the system shows it."""
    try:
        names = os.listdir("/proc")  # noqa: PTH208 - this module loads no pathlib
    except FileNotFoundError:
        return _table_of_ps()
    rows = (read_entry(name) for name in names if name.isdigit())
    return {row.pid: row for row in rows if row is not None}


def read_entry(pid: str) -> Entry | None:
    """One row of the table in ``/proc``; None when there is no such process."""
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
    # The name in brackets may itself hold brackets and blanks.
    state, parent, group, session, *rest = text.rpartition(b")")[2].split()
    started = rest[15].decode()
    # The state is that of the first thread alone: of a dead process no other thread is left.
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
    """The table where there is no /proc (macOS); it knows no sessions."""
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
    """Every living process below `roots` by parentage, the roots left out."""
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
    """Signal a process (a group, when negative) that may be gone, or not ours to signal."""
    try:  # noqa: SIM105 - contextlib takes longer to load than all of this
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
        """Wait for the command, obey orders, stop what is left; returns when nothing is."""
        self._reap()
        while self.result is None and not self.stopped:
            self._wait(self._patience())
        began = time.monotonic()
        if self.stopped:
            # To its process group, as from a terminal: a shell passes on no INT to what it runs.
            send(-self.command, signal.SIGINT)
            while self.result is None and self._wait_until(began + self.rungs[0]):
                pass
        else:
            while not self._alone() and self._wait_until(began + LEFTOVER_GRACE_S):
                pass
        if not self._alone():
            self.leftovers = sum(entry.pid != self.command for entry in self._below())
            self._terminate(self.rungs[1] if self.stopped else LEFTOVER_TERMINATE_S)
        while not self._alone() and time.monotonic() < began + GIVE_UP_S:
            self._kill()
            self._wait(KILL_POLL_S)
        self._report(survivors=0 if self._alone() else len(self._below()))
        while not self._alone():
            self._kill()
            self._wait(0.5)

    def _report(self, survivors: int) -> None:
        code, number = "null", "null"
        if self.result is not None:
            exit_code = os.waitstatus_to_exitcode(self.result)
            code = str(exit_code if exit_code >= 0 else 128 - exit_code)
            number = str(-exit_code) if exit_code < 0 else "null"
        stopped = "true" if self.stopped else "false"
        say(
            self.status,
            f'{{"exit": {code}, "signal": {number}, "stopped": {stopped}, '
            f'"leftovers": {self.leftovers}, "survivors": {survivors}}}',
        )

    def _patience(self) -> float | None:
        """Seconds that the silence may still last; none left: the command is stopped."""
        if self.silence is None:
            return None
        left = self.heard + self.silence - time.clock_gettime(CLOCK)
        if left <= 0:
            self.stopped = True
        return max(0.0, left)

    def _wait(self, timeout: float | None) -> None:
        """Sleep until a child ends, an order comes, or `timeout` seconds have passed."""
        for descriptor, _ in self.poll.poll(None if timeout is None else timeout * 1000):
            if descriptor == self.wakeup:
                os.read(self.wakeup, 4096)
            else:
                self._listen()
        self._reap()

    def _wait_until(self, deadline: float) -> bool:
        """Wait a little; False when the deadline has passed."""
        left = deadline - time.monotonic()
        if left > 0:
            self._wait(min(POLL_S, left))
        return left > 0

    def _listen(self) -> None:
        self._patience()  # an order that comes too late ends no silence
        self.heard = time.clock_gettime(CLOCK)
        text = os.read(self.control, 4096)
        *orders, self.pending = (self.pending + text).split(b"\n")
        if not text:
            self.poll.unregister(self.control)
        if b"answer" in orders:
            say(self.status, "{}")
        if self.result is not None:
            return
        if b"interrupt" in orders:
            send(self.command, signal.SIGINT)
        if b"hurry" in orders:
            self.rungs = HURRIED_S
        if not text or b"stop" in orders or b"hurry" in orders:
            self.stopped = True

    def _reap(self) -> bool:
        """Collect the dead; False when no child is left, neither living nor dead."""
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self.command:
                    self.result = ended[1]
        except ChildProcessError:
            return False
        return True

    def _alone(self) -> bool:
        """Nothing is left: who adopts every orphan and has no child has no descendant either."""
        return not self._reap() and (sys.platform == "linux" or not self._below())

    def _below(self) -> list[Entry]:
        """Every living process below the keeper."""
        table = process_table()
        below = descendants({os.getpid()}, table)
        if sys.platform != "linux":
            # Orphans go to init there; most of them are still in the command's process group.
            known = {entry.pid for entry in below}
            mates = [entry for entry in table.values() if entry.group == self.command]
            below += [entry for entry in mates if entry.alive and entry.pid not in known]
        return below

    def _terminate(self, seconds: float) -> None:
        """Ask each process once to end, newcomers too; wait for all of them."""
        deadline = time.monotonic() + seconds
        asked: set[tuple[int, str]] = set()
        while not self._alone():
            for entry in self._below():
                if (entry.pid, entry.started) not in asked:
                    asked.add((entry.pid, entry.started))
                    send(entry.pid, signal.SIGTERM)
                    send(entry.pid, signal.SIGCONT)
            if not self._wait_until(deadline):
                return

    def _kill(self) -> None:
        """One pass of KILL over everything.

        Whole process groups are killed, since no fork slips through that. A group found on a
        descendant holds nobody else: the command began a session of its own. Children come first,
        and before they are reaped: a dead one still tells the group that its own child is in.
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
        """Direct children, dead ones too; read so fast that a loop of forks cannot outrun it."""
        try:
            with open(f"/proc/{os.getpid()}/task/{os.getpid()}/children", "rb") as listing:  # noqa: PTH123
                return [int(pid) for pid in listing.read().split()]
        except OSError:
            return []


def _wake_on_child() -> int:
    """A descriptor that becomes readable when a child ends."""
    readable, writable = os.pipe()
    os.set_blocking(readable, False)
    os.set_blocking(writable, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    return readable


def say(status: int, line: str) -> None:
    """One line to ralph-tui, which may be gone."""
    try:  # noqa: SIM105 - as above
        os.write(status, line.encode() + b"\n")
    except OSError:
        pass


def adopt_orphans(*, adopt: bool = True) -> None:
    """Processes whose parent dies become children of this one (Linux), or do so no more.

    While they do, it has a memory file named `ADOPTS` open, by which others know it.
    """
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415 - Linux alone has the call

    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(adopt), 0, 0, 0)
    try:
        if adopt and not _signs:
            _signs.append(os.memfd_create(ADOPTS))
    except (AttributeError, OSError):  # the system has it not, or no file is left
        pass
    while _signs and not adopt:
        os.close(_signs.pop())


def spawn(command: list[str], environment: dict[str, str]) -> int:
    """The pid of the command, in a session of its own; raises ``OSError`` when it cannot start."""
    failure, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            for number in RESTORED:
                signal.signal(number, signal.SIG_DFL)
            os.execvpe(command[0], command, environment)
        except OSError as error:
            os.write(told, str(error.errno or 0).encode())
        finally:
            os._exit(127)
    os.close(told)
    code = os.read(failure, 16)
    os.close(failure)
    if code:
        os.waitpid(pid, 0)
        raise OSError(int(code), os.strerror(int(code)))
    return pid


def main(arguments: list[str]) -> None:
    """Keep the command that stands behind ``--``."""
    for number in DEAF_TO:
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
        say(status, f'{{"errno": {error.errno}}}')
        return
    # Readers of the command's output must not wait for the keeper.
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.chdir("/")
    say(status, f'{{"pid": {command}}}')
    Keeper(command, descriptors["--control"], status, silence).keep()


if __name__ == "__main__":
    main(sys.argv[1:])
    os._exit(0)
