"""A program in a real pseudo-terminal, with the arrival times of its output and its CPU use.

A reader thread takes every byte at once, so the terminal never slows the program.
"""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import NamedTuple, Self

from bench.places import clean_environment
from bench.result import ms, percentile
from bench.usage import cpu_seconds, waited_seconds

ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()].|[=>78cM])")


class Paint(NamedTuple):
    """Seconds from a key to its effect; `waited` is the part spent waiting for a core."""

    seconds: float
    waited: float

    @property
    def alone(self) -> float:
        """Seconds it would have taken on an otherwise idle machine."""
        return self.seconds - self.waited


def told(paints: Sequence[Paint]) -> str:
    """Describe the distribution of the times."""
    times, alone = ([paint.seconds for paint in paints], [paint.alone for paint in paints])
    return (
        f"p95 {ms(percentile(times, 95))}, median {ms(median(times))} of {len(times)} "
        f"(without waiting for a core: {ms(percentile(alone, 95))}, {ms(median(alone))})"
    )


class Terminal:
    """A running program, with 140 columns and 45 rows by default."""

    def __init__(
        self,
        command: Sequence[str],
        cwd: Path,
        *,
        size: tuple[int, int] = (140, 45),
        environ: Mapping[str, str] | None = None,
    ) -> None:
        master, slave = pty.openpty()
        columns, rows = size
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._master = master
        self._data = bytearray()
        self._arrivals: list[tuple[int, float]] = []
        self._changed = threading.Condition()
        self._closed = False
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            [*command],
            cwd=cwd,
            env={**clean_environment(), **(environ or {})},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                chunk = os.read(self._master, 1 << 16)
            except OSError:  # the other end is closed
                chunk = b""
            with self._changed:
                if chunk:
                    self._data += chunk
                    self._arrivals.append((len(self._data), time.perf_counter()))
                else:
                    self._closed = True
                self._changed.notify_all()
            if not chunk:
                return

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the program as a closed window would, and wait until it is gone."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGHUP)
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        os.close(self._master)

    @property
    def position(self) -> int:
        """Number of bytes that have arrived."""
        with self._changed:
            return len(self._data)

    def text(self, since: int = 0) -> str:
        """Return the output since a position, without escape sequences."""
        with self._changed:
            data = bytes(self._data[since:])
        return ESCAPES.sub(b"", data).decode("utf-8", "replace")

    def wait_for(self, *words: str, since: int = 0, timeout: float = 60.0) -> float:
        """Return the ``perf_counter`` time at which all `words` had arrived.

        Each of the words must have a single style. Raises ``RuntimeError`` if they do not arrive.
        """
        deadline = time.monotonic() + timeout
        wanted = [word.encode() for word in words]
        with self._changed:
            while True:
                found = [self._data.find(word, since) for word in wanted]
                if min(found) >= 0:
                    last = max(at + len(word) for at, word in zip(found, wanted, strict=True))
                    return next(moment for length, moment in self._arrivals if length >= last)
                left = deadline - time.monotonic()
                if self._closed or left <= 0 or not self._changed.wait(left):
                    break
        raise RuntimeError(f"no {words} on the screen, but: {self.text(since)[-2000:]}")

    def paint_after(self, keys: bytes, *words: str, timeout: float = 10.0) -> float:
        """Press `keys`, and return the seconds until `words` arrive."""
        since = self.position
        pressed = time.perf_counter()
        os.write(self._master, keys)
        return self.wait_for(*words, since=since, timeout=timeout) - pressed

    def painted(self, keys: bytes, *words: str) -> Paint:
        """Like `paint_after`, with the time that the program waited for a core."""
        before = waited_seconds(self.process.pid)
        seconds = self.paint_after(keys, *words)
        return Paint(seconds, waited_seconds(self.process.pid) - before)

    def press(self, keys: bytes) -> None:
        """Press `keys` without waiting."""
        os.write(self._master, keys)

    def cpu_seconds(self) -> float:
        """Return the program's user and system time, without its children."""
        return cpu_seconds(self.process.pid)
