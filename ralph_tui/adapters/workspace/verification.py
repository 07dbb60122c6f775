"""Runs the completion command under the keeper and measures its output."""

import io
import os
import select
import threading
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from fcntl import ioctl
from pathlib import Path
from termios import FIONREAD
from typing import BinaryIO

from ralph_tui.adapters.processes.bounded_work import TOO_MUCH
from ralph_tui.adapters.processes.capture import CappedLog, shorten
from ralph_tui.adapters.processes.child import PIPE, STDOUT, Child, Exit, launch
from ralph_tui.base.errors import NoRoomError, ProcessError
from ralph_tui.base.plain_files import reading
from ralph_tui.layers.sensor.counts import count_tests
from ralph_tui.layers.sensor.gate import Counts, GateResult
from ralph_tui.text.sanitize import clip, one_line, one_name, plain

CHUNK = 64 * 1024
"""Bytes read at once; while they are searched for secrets, nothing else is handled."""
PIPE_SIZE = 1024 * 1024
TAIL_CHARACTERS = 4000
MAX_LINES = 4_000_000
"""Maximum number of lines searched for counts; in longer output, only the end is searched."""
LONGEST_LINE = 1 << 16
MAX_TESTS = 1_000_000
"""Highest plausible number of tests in one run."""
DOUBT = (
    "the output of the {called} reports {tests:,} tests, which is not plausible; its numbers are "
    "ignored; check the program that prints it."
)
POLL_MS = 50

CountTests = Callable[[Iterable[str]], Counts | None]


class ShellGate:
    """Runs one shell command in the worktree, any number of times but never twice at once."""

    def __init__(
        self,
        command: str,
        *,
        cwd: Path,
        run_id: str,
        timeout_s: float,
        lock_fd: int | None = None,
        env: Mapping[str, str] | None = None,
        count_tests: CountTests | None = None,
        called: str = "completion command",
    ) -> None:
        """`called` is the command's name in messages."""
        self._command = command
        self._cwd = cwd
        self._run_id = run_id
        self._timeout_s = timeout_s
        self._lock_fd = lock_fd
        self._env = env
        self._count_tests = count_tests
        self._called = called
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._cancelled = False

    def run(self, log: Path) -> GateResult:
        """Run the command until it ends, times out or is cancelled; all output goes to `log`.

        Raises ``NoRoomError`` if the command failed while the disk was full. That says nothing
        about the work, so the command must run again.
        """
        try:
            return self._run(log)
        finally:
            with self._lock:
                self._child, self._cancelled = None, False

    def cancel(self) -> None:
        """End a running command, or one about to start. Any thread may call it."""
        with self._lock:
            self._cancelled = True
            if self._child is not None:
                self._child.stop()

    def _run(self, log: Path) -> GateResult:
        began = time.monotonic()
        try:
            child = self._launch()
        except ProcessError as error:
            return GateResult(ok=False, exit_code=None, error=str(error))
        output = CappedLog(log)
        try:
            late = self._follow(child, output, began + self._timeout_s)
            end = child.wait()
        finally:
            child.stop()
            output.close()
            if child.stdout is not None:
                child.stdout.close()
        if output.full and end.code != 0 and not end.stopped:
            raise NoRoomError(f"the {self._called}'s log {log} cannot be written")
        duration = time.monotonic() - began
        # Counts from a command that was stopped would look complete.
        counts = None if end.stopped else self._count(log, output)
        shorten(log)
        doubt = ""
        if counts is not None and counts.total + counts.skipped > MAX_TESTS:
            doubt = DOUBT.format(called=self._called, tests=counts.total + counts.skipped)
            counts = None
        cancelled = self._cancelled and end.stopped
        return GateResult(
            ok=end.code == 0 and not end.stopped,
            exit_code=None if end.stopped else end.code,
            timed_out=late and end.stopped and not cancelled,
            cancelled=cancelled,
            duration_s=duration,
            counts=counts,
            tail=self._tail(output),
            doubt=doubt,
            error=self._describe_failure(end, counts),
        )

    def _launch(self) -> Child:
        child = launch(
            ["/bin/sh", "-c", self._command],
            cwd=self._cwd,
            env=os.environ if self._env is None else self._env,
            run_id=self._run_id,
            lock_fd=self._lock_fd,
            stdout=PIPE,
            stderr=STDOUT,
        )
        with self._lock:
            self._child = child
            if self._cancelled:
                child.stop()
        return child

    def _follow(self, child: Child, output: CappedLog, deadline: float) -> bool:
        """Read until the output and the command have ended; return True if time ran out first."""
        assert child.stdout is not None
        pipe = child.stdout.fileno()
        _widen(pipe)
        poller = select.poll()
        poller.register(pipe, select.POLLIN)
        late = False
        rest: int | None = None
        """Bytes that the command wrote before it ended and that are still to be read."""
        while rest is None or rest > 0:
            if late or self._cancelled:
                output.hurry()
            data = b""
            if poller.poll(POLL_MS):
                data = os.read(pipe, CHUNK)
                if not data:
                    break
                output.write(data)
            if rest is not None:
                rest -= len(data)
            elif child.poll() is not None:
                rest = _unread_bytes(pipe)
            elif time.monotonic() > deadline and not late:
                late = True
                child.stop()
        else:
            return late
        try:
            child.wait(max(0.0, deadline - time.monotonic()))
        except TimeoutError:
            late = True
            child.stop()
        return late

    def _count(self, log: Path, output: CappedLog) -> Counts | None:
        count = self._count_tests or count_tests
        if output.failure or output.lines > MAX_LINES:
            counts = count(io.StringIO(output.tail().decode("utf-8", "replace")))
        else:
            counts = count(lines_of(log))
        # Searching 2000 names for secrets takes a while, but nothing is waiting for this thread.
        return counts and replace(counts, failing=tuple(map(one_name, counts.failing)))

    def _tail(self, output: CappedLog) -> str:
        """Return the end of the output, with a note if the log is incomplete."""
        text = plain(output.tail()[-8 * TAIL_CHARACTERS :].decode("utf-8", "replace")).strip()
        note = ""
        if output.unread:
            note = f"\n[the log leaves out {output.unread:,} bytes: {TOO_MUCH}]"
        if output.failure:
            note += f"\n[the log is not complete: {output.failure}]"
        room = TAIL_CHARACTERS - len(note)
        if len(text) > room:
            text = text[-room:]
            _, _, lines = text.partition("\n")  # the first line is rarely complete
            text = lines or text
        return text + note

    def _describe_failure(self, end: Exit, counts: Counts | None) -> str:
        name = f"`{clip(one_line(self._command), 120)}`"
        if end.lost:
            return f"The keeper of {name} {end.lost}; the command was stopped; run it again."
        if end.stopped or counts is not None:
            return ""
        if end.code == 127:
            return (
                f"The {self._called} {name} was not found (exit 127); "
                "install the program and continue, or start a new run with another command."
            )
        if end.code == 126:
            return (
                f"The {self._called} {name} is not executable (exit 126); "
                "make the file executable and continue, or start a new run with another command."
            )
        return ""


def _unread_bytes(pipe: int) -> int:
    """Return the bytes waiting in the pipe.

    Later output from another process, such as a contacted service, is not the command's.
    """
    size = array("i", [0])
    ioctl(pipe, FIONREAD, size)
    return size[0]


def _widen(pipe: int) -> None:
    """Enlarge the pipe for fewer, larger reads; if the system refuses, the usual size will do."""
    try:
        from fcntl import F_SETPIPE_SZ, fcntl  # noqa: PLC0415 - only on Linux

        fcntl(pipe, F_SETPIPE_SZ, PIPE_SIZE)
    except (ImportError, OSError):
        return


def lines_of(path: Path) -> Iterator[str]:
    """Yield a file's decoded lines, each at most about 64 KiB.

    Longer lines are cut off. JUnit XML, often a single line, continues in pieces that end before a
    tag. Raises ``OSError`` if the file cannot be read.
    """
    for line in _raw_lines(path):
        yield line.decode("utf-8", "replace")


def _raw_lines(path: Path) -> Iterator[bytes]:
    with reading(path) as file:
        while piece := file.readline(LONGEST_LINE):
            if piece.endswith(b"\n"):
                yield piece
            elif b"<testsuite" in piece:
                yield from _pieces(file, piece)
            else:
                yield piece
                while piece and not piece.endswith(b"\n"):
                    piece = file.readline(LONGEST_LINE)


def _pieces(file: BinaryIO, piece: bytes) -> Iterator[bytes]:
    """Yield the rest of a long line, cut before tags or, without a tag, never in a closing mark."""
    rest = piece
    while piece and not piece.endswith(b"\n"):
        cut = rest.rfind(b"<")
        if cut <= 0 or len(rest) - cut > LONGEST_LINE:
            cut = max(0, len(rest) - 2)
        yield rest[:cut]
        piece = file.readline(LONGEST_LINE)
        rest = rest[cut:] + piece
    yield rest
