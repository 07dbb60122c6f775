"""Start a command under a keeper, and find out how it ended.

The keeper holds the read end of a pipe whose only write end is here, close-on-exec. When this
process ends, in whatever way, the keeper sees the end of the pipe and stops everything below it.
"""

import errno
import os
import select
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from ralph_tui.adapters.processes.adopted import collect, starting
from ralph_tui.adapters.processes.keeper import descendants, process_table
from ralph_tui.adapters.processes.sweep import (
    COMMAND_MARK,
    PLACE_MARK,
    RUN_MARK,
    place_of,
    stop_command,
)
from ralph_tui.base.errors import ProcessError, resource_error, why
from ralph_tui.text.foreign_json import parse_json

PIPE = subprocess.PIPE
STDOUT = subprocess.STDOUT
NULL = subprocess.DEVNULL

KEEPER = Path(__file__).with_name("keeper.py")

ASK_S = 2.0
"""Seconds of silence from a keeper before ralph-tui requests an answer, repeatedly."""
UNANSWERED = 5
"""Number of consecutive unanswered questions after which a keeper counts as dead.

This counts questions, not seconds, because none are asked while the machine sleeps or ralph-tui is
stopped.
"""
MIN_SILENCE_S = ASK_S * UNANSWERED
"""Minimum `silence_s`: a live process asks more often, however busy its machine is."""
KILL_S = 5.0
"""Seconds within which a killed keeper is gone, unless it is stuck in the kernel."""


@dataclass(frozen=True)
class Exit:
    """How a command ended. Everything it started has ended, except `survivors`."""

    code: int | None
    """As a shell reports it: 128 + N for signal N; None if the end was not seen."""
    signal: int | None = None
    stopped: bool = False
    """True if it was told to stop before it ended."""
    leftovers: int = 0
    """Number of other processes that were still running after the command, and were stopped."""
    survivors: int = 0
    """Number of processes that could not be killed: another user's, or stuck in the kernel."""
    lost: str = ""
    """What happened to the keeper if this process had to stop the command; otherwise empty."""


class Child:
    """A command under its keeper, made by `launch`. The caller closes its pipes."""

    def __init__(
        self,
        keeper: subprocess.Popen[bytes],
        pid: int,
        command_id: str,
        control: int,
        status: int,
        lost: str = "",
    ) -> None:
        """`lost` says what happened to a keeper that was lost before it reported the command."""
        self.pid = pid
        self.stdin: IO[bytes] | None = keeper.stdin
        """Buffered: flush after writing."""
        self.stdout: IO[bytes] | None = keeper.stdout
        self.stderr: IO[bytes] | None = keeper.stderr
        self.keeper_pid = keeper.pid
        self._keeper = keeper
        self._command_id = command_id
        self._control: int | None = control
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._exit: Exit | None = None
        self._at_end: list[Callable[[], None]] = []
        # A daemon, because ralph-tui never waits for a command when it exits, but stops it.
        threading.Thread(
            target=self._follow, args=(status, lost), name=f"keeper-{keeper.pid}", daemon=True
        ).start()

    def interrupt(self) -> None:
        """Send SIGINT to the command alone; does nothing if it has ended."""
        self._order(b"interrupt\n")

    def stop(self) -> None:
        """Begin to stop the command and all it started, which takes up to 6 s. Returns at once."""
        self._order(b"stop\n")

    def hurry(self) -> None:
        """Stop within a second, for a command that has nothing to finish."""
        self._order(b"hurry\n")

    def poll(self) -> Exit | None:
        """Return how the command ended; None while it runs."""
        return self._exit

    def wait(self, timeout: float | None = None) -> Exit:
        """Wait until the command and all it started have ended, at most `timeout` seconds.

        Raises ``TimeoutError``.
        """
        if not self._ended.wait(timeout) or self._exit is None:
            raise TimeoutError(f"process {self.pid} is still running after {timeout} s")
        return self._exit

    def at_end(self, call: Callable[[], None]) -> None:
        """Call `call` when the command has ended, or at once if it already has; it must be quick.

        A later call runs in the thread that watches the keeper.
        """
        with self._lock:
            if self._exit is None:
                self._at_end.append(call)
                return
        call()

    def _order(self, word: bytes) -> None:
        with self._lock:
            if self._control is not None:
                try:
                    os.write(self._control, word)
                except BrokenPipeError:
                    return

    def _follow(self, status: int, lost: str) -> None:
        try:
            if lost:
                raise _KeeperLostError(lost)
            line = _next_line(status, lambda: self._order(b"answer\n"))
            end = Exit(
                code=line["exit"],
                signal=line["signal"],
                stopped=line["stopped"],
                leftovers=line["leftovers"],
                survivors=line["survivors"],
            )
        except _KeeperLostError as error:
            gone = _stop_without_keeper(self._keeper, self._command_id, self.pid)
            end = Exit(None, stopped=True, survivors=0 if gone else 1, lost=str(error))
        if not end.survivors:
            self._keeper.wait()
        collect()
        with self._lock:
            self._exit = end
        self._ended.set()
        for call in self._at_end:
            call()
        if end.survivors:
            self._keeper.wait()
        os.close(status)
        with self._lock:
            if self._control is not None:
                os.close(self._control)
            self._control = None


def launch(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    run_id: str,
    lock_fd: int | None = None,
    stdin: Literal["pipe", "null"] = "null",
    stdout: int | IO[bytes] = NULL,
    stderr: int | IO[bytes] = NULL,
    inherited: Sequence[int] = (),
    silence_s: float | None = None,
) -> Child:
    """Start `command` in `cwd` under its own keeper; takes about 30 ms.

    `stdout` and `stderr` are ``PIPE``, ``NULL``, ``STDOUT`` or an open file. The keeper keeps
    `lock_fd` open until the last process has ended. The command gets the `inherited` descriptors,
    with the same numbers. If this process does not respond for `silence_s` seconds (at least
    `MIN_SILENCE_S`), the command is stopped, as if this process had ended. With None, it continues.

    Raises ``ProcessError`` if the command cannot be started. If the keeper is lost during the
    start, the returned child ends as if the keeper had been lost later; its `pid` is the keeper's.
    """
    command_id = uuid.uuid4().hex
    try:
        control_read, control_write = os.pipe()
        status_read, status_write = os.pipe()
    except OSError as error:  # too many open files
        raise ProcessError(_describe_failure(command[0], cwd, error)) from error
    passed = {"--control": control_read, "--status": status_write}
    if lock_fd is not None:
        passed["--lock"] = lock_fd
    options = [str(part) for option in passed.items() for part in option]
    if silence_s is not None:
        options += ["--silence", str(max(silence_s, MIN_SILENCE_S))]
    marks = {RUN_MARK: run_id, PLACE_MARK: place_of(cwd), COMMAND_MARK: command_id}
    marked = [part for name, value in marks.items() for part in ("--set", f"{name}={value}")]
    try:
        with starting() as own:
            keeper = subprocess.Popen(
                [sys.executable, "-I", "-S", str(KEEPER), *options, *marked, "--", *command],
                cwd=cwd,
                env=dict(env),
                stdin=PIPE if stdin == "pipe" else NULL,
                stdout=stdout,
                stderr=stderr,
                pass_fds=(*passed.values(), *inherited),
                start_new_session=True,
            )
            own(keeper.pid)
    except (OSError, ValueError) as error:
        os.close(control_write)
        os.close(status_read)
        raise ProcessError(_describe_failure(command[0], cwd, error)) from error
    finally:
        os.close(control_read)
        os.close(status_write)
    try:
        started = _next_line(status_read, lambda: None)
        if "pid" in started:
            return Child(keeper, started["pid"], command_id, control_write, status_read)
        keeper.wait()
        code = started["errno"]
        reason = _describe_failure(command[0], cwd, OSError(code, os.strerror(code)))
    except _KeeperLostError as lost:
        return Child(keeper, keeper.pid, command_id, control_write, status_read, str(lost))
    os.close(control_write)
    os.close(status_read)
    for stream in (keeper.stdin, keeper.stdout, keeper.stderr):
        if stream is not None:
            stream.close()
    raise ProcessError(reason)


class _KeeperLostError(Exception):
    """A keeper that no longer responds; the message says why."""


def _next_line(status: int, ask: Callable[[], None]) -> dict[str, Any]:
    """Return the keeper's next line that is not a bare answer; `ask` requests an answer.

    Raises ``_KeeperLostError`` if it is gone, or has left `UNANSWERED` questions unanswered.
    """
    text, unanswered = b"", 0
    poll = select.poll()
    poll.register(status, select.POLLIN)
    while True:
        if not poll.poll(ASK_S * 1000):
            if unanswered == UNANSWERED:
                raise _KeeperLostError(f"did not answer for {ASK_S * UNANSWERED:.0f} s")
            unanswered += 1
            ask()
            continue
        # Byte by byte, so that the next line stays in the pipe; lines are few and short.
        byte = os.read(status, 1)
        if not byte:
            raise _KeeperLostError("was killed")
        text += byte
        if byte == b"\n":
            line: dict[str, Any] = parse_json(text)
            if line:
                return line
            text, unanswered = b"", 0


def _stop_without_keeper(keeper: subprocess.Popen[bytes], command_id: str, session: int) -> bool:
    """Stop a lost keeper and its processes; True if the keeper is gone."""
    # List its descendants first: once it is gone, nothing leads to those it adopted.
    below = descendants({keeper.pid}, process_table())
    keeper.send_signal(signal.SIGCONT)
    keeper.kill()
    with suppress(subprocess.TimeoutExpired):
        keeper.wait(KILL_S)
    stop_command(command_id, session, below)
    return keeper.poll() is not None


def _describe_failure(program: str, cwd: Path, error: OSError | ValueError) -> str:
    if not cwd.is_dir():
        return f"Cannot start {program!r}: the folder {str(cwd)!r} does not exist; create it."
    if not isinstance(error, OSError):
        return f"Cannot start {program!r}: its command line or environment has a null character."
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR:
            return (
                f"Cannot start {program!r}: no such program on PATH; install it or give its path."
            )
        case errno.EACCES | errno.EPERM:
            return f"Cannot start {program!r}: it is not executable; make it executable."
        case errno.ENOEXEC:
            return (
                f"Cannot start {program!r}: it is not a program; check that its first line starts "
                "with #!."
            )
        case errno.E2BIG:
            return (
                f"Cannot start {program!r}: its command line is too long; pass the text on stdin."
            )
        case errno.EAGAIN | errno.ENOMEM:
            return f"Cannot start {program!r}: {resource_error(error)}."
        case _:
            return f"Cannot start {program!r}: {why(error, 'repair that, and try again')}."
