"""A signal handler writes a byte; its own thread does the rest."""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from io import TextIOWrapper
from pathlib import Path
from typing import Any, cast

import pytest
from textual.drivers.linux_driver import LinuxDriver

from ralph_tui.cli.fronts.lines import signals_stop
from ralph_tui.cli.fronts.signals import FORWARDED, forward_signals
from ralph_tui.fleet.cli.foreground import _signals_stop
from ralph_tui.tui.driver import TerminalDriver
from tests.rows import each_row
from tests.waiting import until


class Engine:
    """Takes locks that its own handlers would wait for, as the real ones do."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.orders: list[tuple[str, threading.Thread]] = []

    def stop(self, by: str) -> None:
        assert self.lock.acquire(timeout=5), "the handler waits for the thread it interrupts"
        self.orders.append((by, threading.current_thread()))
        self.lock.release()

    def request(self, request: Any, _reply: Any) -> None:
        self.stop(request.command.by)


class Front:
    def __init__(self) -> None:
        self.engine = Engine()


def lines(front: Front) -> AbstractContextManager[None]:
    return signals_stop(cast("Any", front))


def fleet(front: Front) -> AbstractContextManager[None]:
    return _signals_stop(cast("Any", front), hangup=True)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Restore this process's handlers: after a signal, all are ignored."""
    before = {number: signal.getsignal(number) for number in FORWARDED}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@each_row("heard", [lines, fleet])
@each_row("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_from_another_thread(number: signal.Signals, heard: Any) -> None:
    front = Front()
    with heard(front):
        with front.engine.lock:  # as the main thread may hold it at any moment
            os.kill(os.getpid(), number)
            os.kill(os.getpid(), number)
        orders = front.engine.orders
        until(lambda: orders)
    assert {by for by, _ in orders} == {number.name}
    assert threading.main_thread() not in {thread for _, thread in orders}
    assert signal.getsignal(number) is signal.SIG_IGN, "one more would end what says how it ended"


def test_a_signal_is_heard_while_the_main_thread_sleeps() -> None:
    """The signal arrives in another thread and does not interrupt the main thread's wait."""
    heard: list[signal.Signals] = []
    came = threading.Event()

    def handle(number: signal.Signals) -> None:
        heard.append(number)
        came.set()

    with forward_signals(handle, watch_terminal=False):
        signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            came.wait()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
    assert heard == [signal.SIGTERM]


def test_a_screen_is_stopped_by_its_loop_and_not_by_the_handler() -> None:
    """The drawing thread may hold the output lock when it is interrupted."""
    done: list[str] = []

    class Terminal(LinuxDriver):
        def __init__(self) -> None:
            self._loop = asyncio.get_running_loop()

        def _sigtstp_application(self, *_: object) -> None:
            done.append("stopped")

        def _sigcont_application(self, *_: object) -> None:
            done.append("continued")

    class Screen(TerminalDriver, Terminal):
        pass

    async def show() -> None:
        screen = Screen()
        screen._sigtstp_application()
        screen._sigcont_application()
        assert done == []
        await asyncio.sleep(0)

    asyncio.run(show())
    assert done == ["stopped", "continued"]


def test_a_screen_whose_terminal_has_closed_writes_nothing_into_what_replaces_it() -> None:
    written: list[str] = []

    class Terminal(LinuxDriver):
        def __init__(self, file: TextIOWrapper) -> None:
            self._file = file

        def write(self, data: str) -> None:
            written.append(data)

    class Screen(TerminalDriver, Terminal):
        pass

    master, slave = os.openpty()
    with os.fdopen(master), os.fdopen(slave, "w") as file, Path(os.devnull).open("w") as log:
        screen = Screen(file)
        screen.write("shown")
        os.dup2(log.fileno(), file.fileno())
        screen.write("late")
    assert written == ["shown"]


def test_signals_do_what_they_did_before_where_none_has_come() -> None:
    before = [signal.getsignal(number) for number in FORWARDED]
    with forward_signals(lambda _: None, watch_terminal=False):
        assert [signal.getsignal(number) for number in FORWARDED] != before
    assert [signal.getsignal(number) for number in FORWARDED] == before
