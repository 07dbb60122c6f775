"""Input of the stub while it works: lines, end of input, signals, finished tools."""

import json
import os
import queue
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

Json = dict[str, Any]
T = TypeVar("T")


class InterruptedTurnError(Exception):
    """The turn is interrupted, by a request or by SIGINT (`by_signal`)."""

    def __init__(self, *, by_signal: bool = False) -> None:
        super().__init__()
        self.by_signal = by_signal


class EndedBySignalError(Exception):
    """A signal that ends the program with this code."""

    def __init__(self, code: int) -> None:
        super().__init__()
        self.code = code


class BadLineError(Exception):
    """A line of input that is not a message."""


class Inbox:
    """One queue for all of it; only the main thread takes from it."""

    def __init__(self, on_line: Callable[[Json], None]) -> None:
        self._on_line = on_line
        self._queue: queue.SimpleQueue[object] = queue.SimpleQueue()
        self.input_ended = True
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._signalled)

    def listen(self) -> None:
        """Begin to read standard input."""
        self.input_ended = False
        threading.Thread(target=self._read, daemon=True).start()

    def in_background(self, work: Callable[[], T], done: Callable[[T], None]) -> None:
        """Run `work` in a thread; `done` gets its answer in the main one."""

        def run() -> None:
            answer = work()
            self._queue.put(lambda: done(answer))

        threading.Thread(target=run, daemon=True).start()

    def wait(self, seconds: float | None, until: Callable[[], object] = bool) -> None:
        """Handle input until `until` or for this many seconds; raise this module's errors."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while not until():
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                self._handle_all()
                return
            try:
                self._handle(self._queue.get(timeout=left))
            except queue.Empty:
                return
        self._handle_all()

    def _handle_all(self) -> None:
        while not self._queue.empty():
            self._handle(self._queue.get())

    def _handle(self, item: object) -> None:
        if isinstance(item, signal.Signals):
            if item is signal.SIGINT:
                raise InterruptedTurnError(by_signal=True)
            raise EndedBySignalError(128 + item)
        if item is None:
            self.input_ended = True
        elif isinstance(item, dict):
            self._on_line(item)
        elif callable(item):
            item()

    def _signalled(self, number: int, _frame: FrameType | None) -> None:
        self._queue.put(signal.Signals(number))

    def _read(self) -> None:
        # Not sys.stdin: its lock would still be taken when the program ends.
        rest = b""
        while data := os.read(0, 1 << 16):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._queue.put(_message(line))
        self._queue.put(None)


def _message(line: bytes) -> Json:
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}
