"""Signals while a screen stands, and a terminal that goes away under it.

Rule: whoever obeys a signal does it in a thread of its own. Behind a closed terminal the screen's
writer has died and the main thread may wait for it for ever.
"""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

FORWARDED = (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)
LOG = "terminal.log"
"""In the attempt's folder: what a run says when no terminal is left to say it to."""


@contextlib.contextmanager
def forwarded(handle: Callable[[signal.Signals], None]) -> Iterator[None]:
    """`obey` is called for each of the signals, one after the other, in a thread beside."""
    readable, writable = os.pipe()
    os.set_blocking(writable, False)

    def listen() -> None:
        while number := os.read(readable, 1):
            handle(signal.Signals(number[0]))
        os.close(readable)

    def ring(number: int, _frame: object) -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(writable, bytes([number]))

    threading.Thread(target=listen, name="ralph-signals", daemon=True).start()
    before = {number: signal.signal(number, ring) for number in FORWARDED}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(writable)


def reset_after_screen() -> None:
    """Textual leaves handlers behind that cannot do without a screen; a closing tmux sends CONT."""
    for number in (signal.SIGTSTP, signal.SIGCONT, signal.SIGWINCH):
        signal.signal(number, signal.SIG_DFL)


def detach_stdio() -> None:
    """The terminal is gone: nothing is read from it and nothing written to it any more."""
    nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)


def redirect_output(log: Path) -> None:
    """What is said from now on stands in `log`; nowhere, when that cannot be written."""
    # A screen that never ended keeps the streams it has redirected.
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    try:
        target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError:
        return
    for number in (1, 2):
        os.dup2(target, number)
    os.close(target)


def block_stdin() -> None:
    """Let a screen's reader wait for ever: at an end of file it would ask without a break."""
    readable, _ = os.pipe()  # the other end stays open
    os.dup2(readable, 0)
    os.close(readable)


def exit_now(code: int) -> None:
    """End this process, whatever its main thread waits for."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def exit_after(seconds: float, code: int) -> None:
    """The same, when whatever is to be done first takes longer than that."""
    deadline = threading.Timer(seconds, exit_now, [code])
    deadline.daemon = True
    deadline.start()
