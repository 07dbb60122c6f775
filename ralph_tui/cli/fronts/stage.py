"""The screen of this process: painted at once; its content loads behind the first frame.

This module and its imports do not depend on a run. Until the `Front` is loaded, a signal only ends
the screen; after that, the front handles signals.
"""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

# Textual reads these variables on import, so they must be set first.
from ralph_tui.cli.fronts.terminal import default_theme, prepare_textual

prepare_textual(os.environ)

from ralph_tui.cli.exit_codes import ExitCode, NextCommand  # noqa: E402
from ralph_tui.cli.fronts import signals  # noqa: E402
from ralph_tui.cli.fronts.crash_report import report_crash  # noqa: E402
from ralph_tui.cli.fronts.presentation import SCREEN_SECONDS  # noqa: E402
from ralph_tui.config.files import ScreenSettings  # noqa: E402
from ralph_tui.text.sanitize import one_line  # noqa: E402
from ralph_tui.tui.app import BaseScreen, RalphApp, SideScreens  # noqa: E402
from ralph_tui.tui.cockpit.opening import OpeningScreen  # noqa: E402


class Front(Protocol):
    """The content of the screen, once it is loaded."""

    beside: SideScreens

    def screen(self) -> BaseScreen:
        """Return the first screen."""

    def begin(self) -> None:
        """Start the remaining work, once the first screen is painted."""

    def handle_signal(self, number: signal.Signals) -> None:
        """Handle a signal or the loss of the terminal; called in a separate thread."""

    def end(self) -> int:
        """Finish after the screen has closed, and return the exit code."""


class Stage:
    """Paints a first frame, then loads and shows a front; one per process."""

    def __init__(
        self,
        load: Callable[["Stage"], Front],
        settings: ScreenSettings,
        *,
        left: int = ExitCode.INTERRUPTED,
        opening: Callable[[], BaseScreen] = OpeningScreen,
    ) -> None:
        """Prepare the app; `load` runs in a thread, and its errors end the screen.

        `opening` makes the first frame. `left` is the exit code if the user leaves during loading.
        """
        theme = settings.theme or default_theme(os.environ)
        self.app = RalphApp(opening, theme=theme, keys=settings.keys, ready=self._on_painted)
        self.closed = threading.Event()
        """Set when the screen has closed."""
        self.warnings: list[str] = []
        """Warnings to print after the screen closes."""
        self._load = load
        self._left = left
        self._front: Front | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loading: asyncio.Task[None] | None = None
        self._signal: signal.Signals | None = None

    def show(self) -> int:
        """Show the screen to its end and return the exit code.

        Raises any error of `load`, and `NextCommand` if the user chose another command. Raises
        ``KeyboardInterrupt`` if ctrl+c arrived before there was a front.
        """
        with signals.forward_signals(self._handle_signal):
            try:
                asyncio.run(self._show())
            finally:
                self.closed.set()
                if self.app.broken is not None:
                    self.warnings.append(report_crash(self.app.broken))
                self._show_warnings()
            signals.reset_after_screen()
            code = self._left
            if self._front is not None:
                code = self._front.end()
            elif self.app.broken is not None:
                code = ExitCode.FAILED
            elif self._signal is signal.SIGINT:
                raise KeyboardInterrupt
        if self.app.next_command is not None:
            raise NextCommand(*self.app.next_command)
        return code

    def call_in_screen(self, what: Callable[..., object], *arguments: object) -> None:
        """Call a function in the screen's thread, if there is still a screen."""
        if self._loop is not None and not self.closed.is_set():
            with suppress(RuntimeError):  # the loop has just ended
                self._loop.call_soon_threadsafe(what, *arguments)

    def leave(self, number: signal.Signals, code: int) -> None:
        """End the screen because of a signal; if it hangs, exit the process with `code`."""
        signals.exit_after(SCREEN_SECONDS, code)
        if number is signal.SIGHUP:
            signals.detach_stdio()
        self.call_in_screen(self.app.exit)

    async def _show(self) -> None:
        self._loop = asyncio.get_running_loop()
        if self._signal is None:
            try:
                await self.app.run_async()
            except Exception as error:  # noqa: BLE001 - a broken screen must not end the run
                self.app.broken = self.app.broken or error
        if self._loading is not None and self._loading.done():
            self._loading.result()

    def _on_painted(self) -> None:
        self._loading = asyncio.create_task(self._load_front())

    async def _load_front(self) -> None:
        try:
            front = await asyncio.to_thread(self._load, self)
            if self._signal is None:
                self._front = front
                self.app.replace_first(front.screen, ready=front.begin, beside=front.beside)
        finally:
            if self._front is None:
                self.app.exit()

    def _handle_signal(self, number: signal.Signals) -> None:
        if self._front is not None:
            self._front.handle_signal(number)
            return
        self._signal = number
        self.leave(number, self._left)

    def _show_warnings(self) -> None:
        with suppress(OSError):  # the terminal may be gone
            for sentence in self.warnings:
                print(f"ralph-tui: {one_line(sentence)}", file=sys.stderr)
            self.warnings.clear()


class ViewerFront:
    """Base class of read-only fronts (see `Front`): every signal ends the screen."""

    _stage: Stage
    _interrupted = False

    def handle_signal(self, number: signal.Signals) -> None:
        self._interrupted = number is signal.SIGINT
        code = ExitCode.INTERRUPTED if self._interrupted else ExitCode.COMPLETED
        self._stage.leave(number, code)

    def end(self) -> int:
        """Return the exit code. Raises ``KeyboardInterrupt`` if ctrl+c arrived as a signal."""
        if self._interrupted:
            raise KeyboardInterrupt
        return ExitCode.COMPLETED if self._stage.app.broken is None else ExitCode.FAILED
