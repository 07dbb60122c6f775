"""A Textual driver for terminals that send arbitrary bytes, and an app that survives crashes."""

import os
import re
import selectors
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import cast

from textual import events
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message
from textual.timer import Timer, TimerCallback

READ_BYTES = 1 << 12
POLL_S = 0.1
"""Interval at which the parser checks for the end of an escape sequence."""
LARGEST = 2_000
"""Maximum width and height in cells; larger sizes are noise and would exhaust memory."""
_LEGACY_MOUSE = re.compile(rb"\x1b\[M[\x20-\xff]{3}")
"""A mouse report in the old format: beyond column 95, its three bytes are invalid UTF-8."""
_LEGACY_MOUSE_BEGUN = re.compile(rb"\x1b\[M[\x20-\xff]{0,2}\Z")


class TerminalInput:
    """Parses terminal input; undecodable bytes are replaced or dropped."""

    def __init__(self, *, debug: bool = False) -> None:
        self._debug = debug
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._parser = XTermParser(debug)
        self._pending = b""
        """Start of an incomplete mouse report."""

    def feed(self, data: bytes) -> Iterator[Message]:
        """Yield the messages completed by these bytes."""
        data = _LEGACY_MOUSE.sub(b"", self._pending + data)
        begun = _LEGACY_MOUSE_BEGUN.search(data)
        end = begun.start() if begun else len(data)
        data, self._pending = data[:end], data[end:]
        for character in self._decoder.decode(data):
            yield from self._parsed(self._parser.feed(character))

    def tick(self) -> Iterator[Message]:
        """Yield the messages completed because no further input has followed."""
        return self._parsed(self._parser.tick())

    def _parsed(self, messages: Iterable[Message]) -> Iterator[Message]:
        try:
            yield from filter(_is_valid, messages)
        except (ArithmeticError, LookupError, ValueError):
            # Invalid or too large number. A parser that has raised accepts no more input.
            broken, self._parser = self._parser, XTermParser(self._debug)
            self._parser.mouse_pixels = broken.mouse_pixels
            self._parser.terminal_size = broken.terminal_size
            self._parser.terminal_pixel_size = broken.terminal_pixel_size


def _is_valid(message: Message) -> bool:
    if isinstance(message, events.Resize):
        return all(0 < cells <= LARGEST for cells in message.size)
    if isinstance(message, events.Key):
        return all(not "\ud800" <= letter <= "\udfff" for letter in message.character or "")
    return True


class TerminalDriver(LinuxDriver):
    """Reads arbitrary input; if the terminal cannot be read, only the screen ends."""

    def _sigtstp_application(self, *_: object) -> None:
        """Suspend in the event loop: a signal handler could deadlock on a lock of this thread."""
        self._call_soon(super()._sigtstp_application)

    def _sigcont_application(self, *_: object) -> None:
        self._call_soon(super()._sigcont_application)

    def _call_soon(self, handle: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the screen has just ended
            self._loop.call_soon_threadsafe(handle)

    def resume_application_mode(self) -> None:
        """Resume drawing only if the terminal still exists: closing one sends CONT too."""
        if os.isatty(self.fileno):
            super().resume_application_mode()

    def write(self, data: str) -> None:
        """Write only to a terminal: once it has closed, the same stream may lead to a log."""
        if self._file is not None and self._file.isatty():
            super().write(data)

    def run_input_thread(self) -> None:
        """Wait for input and dispatch events."""
        reader = TerminalInput(debug=self._debug)
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(POLL_S):
                    for message in reader.feed(os.read(self.fileno, READ_BYTES)):
                        self.process_message(message)
                for message in reader.tick():
                    self.process_message(message)

    def _run_input_thread(self) -> None:
        try:
            self.run_input_thread()
        except OSError:  # the terminal is gone
            self._app.call_later(self._app.exit, "screen")
        except Exception as error:  # noqa: BLE001  report it; the run must not end
            self._app.call_later(cast("TerminalApp", self._app).end_crashed, error)


class TerminalApp(App[str], inherit_bindings=False):
    """An app that ends without a traceback after a bug, which its caller reports."""

    def __init__(self, *, ansi_color: bool | None = None) -> None:
        super().__init__(TerminalDriver, ansi_color=ansi_color)
        self.broken: Exception | None = None
        """The exception that ended the app."""

    def end_crashed(self, error: Exception) -> None:
        """End the screen because of a bug."""
        self.broken = self.broken or error
        self._return_code = 1
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        self._close_messages_no_wait()

    _handle_exception = end_crashed  # Textual's name for it

    def set_timer(
        self,
        delay: float,
        callback: TimerCallback | None = None,
        *,
        name: str | None = None,
        pause: bool = False,
    ) -> Timer:
        """Call a function once, even if a busy machine delays the timer's start.

        Textual skips a timer whose time has passed before its task looks at the clock. It sets one
        of 8 ms for a resize, and none while that is pending, so the screen would never fit again.
        """
        timer = super().set_timer(delay, callback, name=name, pause=pause)
        timer._skip = False  # noqa: SLF001 - read when its task starts
        return timer
