"""Signals to a run, a fleet, a host or a screen, and a terminal that disappears.

The interpreter writes a signal's number to a pipe (`signal.set_wakeup_fd`), and a thread handles
it. A Python handler runs only while the main thread is awake. That thread may block forever on a
closed terminal, or on an event if the signal arrives just before it waits. A handler that takes a
lock could also interrupt the code that holds it.
"""

import contextlib
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from ralph_tui.adapters.processes.sweep import kill_adopted
from ralph_tui.base.plain_files import open_plain

FORWARDED = (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)
RECEIVED: list[signal.Signals] = []
"""Signals that this process has received; after the first, it opens no other screen."""
LOG = "terminal.log"
"""File in the attempt's folder for the output of a run that lost its terminal."""


@contextlib.contextmanager
def forward_signals(
    handle: Callable[[signal.Signals], None], *, watch_terminal: bool = True
) -> Iterator[None]:
    """Call `handle` for each forwarded signal, one at a time, in a separate thread.

    With `watch_terminal`, a closed terminal counts as SIGHUP, because the system does not send it
    to a process in another session.

    After a signal, the process is expected to exit. It ignores further signals after the block,
    because one might kill it before it has reported its outcome.
    """
    received = threading.Event()
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    poll = select.poll()
    poll.register(readable, select.POLLIN)
    for terminal in filter(os.isatty, (0, 1) if watch_terminal else ()):
        poll.register(terminal, 0)  # poll always reports a hangup

    def receive(number: signal.Signals) -> None:
        RECEIVED.append(number)
        received.set()
        handle(number)

    def listen() -> None:
        while True:
            for descriptor, event in poll.poll():
                if descriptor != readable:
                    poll.unregister(descriptor)
                    if event & (select.POLLHUP | select.POLLERR):
                        receive(signal.SIGHUP)
                elif number := os.read(readable, 1):
                    if number[0] in FORWARDED:  # a screen handles others
                        receive(signal.Signals(number[0]))
                else:
                    os.close(readable)
                    return

    threading.Thread(target=listen, name="ralph-signals", daemon=True).start()
    waking = signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    before = {number: signal.signal(number, lambda *_: None) for number in FORWARDED}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if received.is_set() else handler)
        signal.set_wakeup_fd(waking)
        os.close(writable)


def reset_after_screen() -> None:
    """Remove Textual's handlers: they fail without a screen, and a closing tmux sends CONT."""
    for number in (signal.SIGTSTP, signal.SIGCONT, signal.SIGWINCH):
        signal.signal(number, signal.SIG_DFL)


def detach_stdio() -> None:
    """Connect stdin, stdout and stderr to the null device: the terminal is gone."""
    nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)


def redirect_output(log: Path) -> None:
    """Append stdout and stderr to `log`; they are unchanged if it cannot be opened."""
    # A screen that never ended still holds the streams it redirected.
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    try:
        target = open_plain(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:
        return
    for number in (1, 2):
        os.dup2(target, number)
    os.close(target)


def block_stdin() -> None:
    """Make reads from stdin block forever: at end of file, a screen's reader would spin."""
    readable, _ = os.pipe()  # the other end stays open
    os.dup2(readable, 0)
    os.close(readable)


def exit_now(code: int) -> None:
    """End this process even if its main thread is blocked."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    kill_adopted()
    os._exit(code)


def exit_after(seconds: float, code: int) -> None:
    """End this process with `code` after `seconds`, unless it ends earlier."""
    deadline = threading.Timer(seconds, exit_now, [code])
    deadline.daemon = True
    deadline.start()
