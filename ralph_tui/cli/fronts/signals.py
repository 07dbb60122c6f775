"""Signals of a run, a fleet, a host and a screen, and a terminal that goes away under a screen.

Rule: the interpreter writes a signal's number to a pipe when it comes (`signal.set_wakeup_fd`), and
a thread of its own does the rest. A handler in Python runs only once the main thread is awake: it
may wait for ever for the writer of a closed terminal, or for an event where the signal came just
before it fell asleep. A handler that took a lock could also interrupt whoever holds it.
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
CAME: list[signal.Signals] = []
"""Those that have come to a screen of this process: it shows no other one then."""
LOG = "terminal.log"
"""In the attempt's folder: the output of a run that has no terminal any more."""


@contextlib.contextmanager
def forwarded(
    handle: Callable[[signal.Signals], None], *, watch_terminal: bool = True
) -> Iterator[None]:
    """Call `handle` for each of the signals, one after the other, in a thread of its own.

    With `watch_terminal` the end of the terminal counts as HUP, also where none is sent: to another
    session's process.

    Once one has come, the process is to end: after the block it ignores further ones, which would
    otherwise kill it before it has said how it ended.
    """
    heard = threading.Event()
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    poll = select.poll()
    poll.register(readable, select.POLLIN)
    for terminal in filter(os.isatty, (0, 1) if watch_terminal else ()):
        poll.register(terminal, 0)  # its end is told unasked

    def take(number: signal.Signals) -> None:
        CAME.append(number)
        heard.set()
        handle(number)

    def listen() -> None:
        while True:
            for descriptor, event in poll.poll():
                if descriptor != readable:
                    poll.unregister(descriptor)
                    if event & (select.POLLHUP | select.POLLERR):
                        take(signal.SIGHUP)
                elif number := os.read(readable, 1):
                    if number[0] in FORWARDED:  # a screen handles others
                        take(signal.Signals(number[0]))
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
            signal.signal(number, signal.SIG_IGN if heard.is_set() else handler)
        signal.set_wakeup_fd(waking)
        os.close(writable)


def reset_after_screen() -> None:
    """Take Textual's handlers away: they fail without a screen, and a closing tmux sends CONT."""
    for number in (signal.SIGTSTP, signal.SIGCONT, signal.SIGWINCH):
        signal.signal(number, signal.SIG_DFL)


def detach_stdio() -> None:
    """Connect stdin, stdout and stderr to the null device: the terminal is gone."""
    nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)


def redirect_output(log: Path) -> None:
    """Append stdout and stderr to `log`; if it cannot be opened they stay as they are."""
    # A screen that never ended keeps the streams it has redirected.
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    try:
        target = open_plain(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:
        return
    for number in (1, 2):
        os.dup2(target, number)
    os.close(target)


def block_stdin() -> None:
    """Make every read from stdin wait for ever: at an end of file a screen's reader would spin."""
    readable, _ = os.pipe()  # the other end stays open
    os.dup2(readable, 0)
    os.close(readable)


def exit_now(code: int) -> None:
    """End this process, whatever its main thread waits for."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    kill_adopted()
    os._exit(code)


def exit_after(seconds: float, code: int) -> None:
    """End this process with `code` in `seconds`, unless it has ended by then."""
    deadline = threading.Timer(seconds, exit_now, [code])
    deadline.daemon = True
    deadline.start()
