"""Processes of a program that need not load it: each is forked from one that has, once per worker.

To load ralph-tui takes a third of a second of CPU, more than most of its runs themselves. What is
forked is a process like any other: its arguments, folder, environment and streams are its own, and
it ends as Python ends. Only that ``ps`` names it otherwise, and that nothing can go wrong while it
is loaded: what is about either starts the program itself.

The server runs as a script, so that it can have an interpreter without packages: it needs the
standard library only.
"""

import atexit
import fcntl
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NoReturn, Self, TextIO

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Program:
    """Modules to load, and the function to call then."""

    interpreter: tuple[str, ...]
    """The interpreter with its options."""
    folder: Path
    """The first place to search for modules."""
    loaded: tuple[str, ...]
    """Modules that its processes find loaded."""
    module: str = field(compare=False)
    """The argument of ``python -m``; programs with the same modules share a server."""


RALPH = Program(
    (sys.executable, "-P"),
    ROOT,
    (
        "ralph_tui.runtime.assembly",
        "ralph_tui.cli.fronts.lines",
        "ralph_tui.cli.commands.run",
        "tests.warm",
    ),
    "ralph_tui",
)

SCREEN = Program(
    RALPH.interpreter,
    ROOT,
    (*RALPH.loaded, "ralph_tui.tui.app", "ralph_tui.tui.cockpit.screen"),
    "ralph_tui",
)
"""The same for a terminal."""
FLEET = Program(
    RALPH.interpreter,
    ROOT,
    (
        "ralph_tui.fleet.runtime.assembly",
        "ralph_tui.fleet.dispatch.dispatcher",
        "ralph_tui.fleet.cli.foreground",
        "ralph_tui.fleet.config",
        "tests.warm",
    ),
    "ralph_tui",
)
"""The same for ``fleet``."""


class Forked:
    """One such process: polled, waited for and sent signals as those of Popen are."""

    def __init__(
        self,
        program: Program,
        arguments: Sequence[str],
        cwd: Path,
        environ: dict[str, str],
        streams: tuple[int, int, int],
        *,
        own_terminal: bool = False,
    ) -> None:
        """`own_terminal`: its streams are a terminal, and it gets a session of its own."""
        self.args = list(arguments)
        self.returncode: int | None = None
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(_server(program), [b"."], [theirs.fileno(), *streams])
        reported = [own_terminal, program.module, list(map(str, arguments)), str(cwd), environ]
        ours.sendall(json.dumps(reported).encode())
        ours.shutdown(socket.SHUT_WR)
        self._channel = ours
        self._received = b""
        self.pid = self._number(None)

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        with suppress(BlockingIOError):
            self._ended(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code as Popen does; raise ``TimeoutExpired``."""
        try:
            return self._ended(timeout)
        except TimeoutError:
            raise subprocess.TimeoutExpired(self.args, timeout or 0.0) from None

    def send_signal(self, number: int) -> None:
        """Send a signal; do nothing if the process has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def forget(self) -> None:
        """Drop the process without waiting for its end."""
        self._channel.close()

    def _ended(self, timeout: float | None) -> int:
        if self.returncode is None:
            self.returncode = self._number(timeout)
            self._channel.close()
        return self.returncode

    def _number(self, timeout: float | None) -> int:
        """Read the next number from the server."""
        self._channel.settimeout(timeout)
        while b"\n" not in self._received:
            heard = self._channel.recv(100)
            assert heard, f"what should tell of {self.args} is gone"
            self._received += heard
        line, _, self._received = self._received.partition(b"\n")
        return int(line)


class Started(Forked):
    """One whose output is read while it runs; its ``with`` waits, or kills when the test fails."""

    def __init__(
        self, program: Program, arguments: Sequence[str], cwd: Path, environ: dict[str, str]
    ) -> None:
        (out, out_end), (err, err_end) = os.pipe(), os.pipe()
        self.stdout, self.stderr = os.fdopen(out), os.fdopen(err)
        try:
            with Path(os.devnull).open() as nobody:
                super().__init__(
                    program, arguments, cwd, environ, (nobody.fileno(), out_end, err_end)
                )
        finally:
            os.close(out_end)
            os.close(err_end)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Return the rest of its output after its end; raise ``TimeoutExpired``."""
        rest = ["", ""]

        def read(number: int, stream: TextIO) -> None:
            if not stream.closed:
                with stream:
                    rest[number] = stream.read()

        readers = [
            threading.Thread(target=read, args=pair, daemon=True)
            for pair in enumerate((self.stdout, self.stderr))
        ]
        for reader in readers:
            reader.start()
        self.wait(timeout)
        for reader in readers:
            reader.join(timeout)
            if reader.is_alive():
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        return rest[0], rest[1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.kill()
        self.stdout.close()
        self.stderr.close()
        try:
            self.wait()
        finally:
            self.kill()


def completed(
    program: Program,
    arguments: Sequence[str],
    cwd: Path,
    environ: dict[str, str],
    streams: tuple[int, int, int],
    timeout: float,
) -> int:
    """The exit code of a program with these arguments, as Popen gives it; killed if it is late."""
    process = Forked(program, arguments, cwd, environ, streams)
    try:
        return process.wait(timeout)
    finally:
        process.kill()


@cache
def _server(program: Program) -> socket.socket:
    """The fork server of this process; it ends when this end of its socket is closed."""
    ours, theirs = socket.socketpair()
    with theirs:
        words = [str(theirs.fileno()), str(program.folder), *program.loaded]
        process = subprocess.Popen(
            [*program.interpreter, __file__, *words],
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    atexit.register(process.wait)
    atexit.register(ours.close)  # before the caller waits for it
    return ours


def _serve(asked: socket.socket, folder: str, *loaded: str) -> None:
    sys.path.insert(0, folder)
    gc.disable()  # all loaded modules stay
    for name in loaded:
        importlib.import_module(name)
    gc.freeze()
    gc.enable()
    signal.signal(signal.SIGCHLD, _reap)
    while True:
        message, passed, _, _ = socket.recv_fds(asked, 1, 4)
        if not message:
            return
        if os.fork() == 0:
            asked.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _watch(*passed)
        for descriptor in passed:
            os.close(descriptor)


def _reap(*_: object) -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def _watch(channel: int, *streams: int) -> None:
    """Fork it and tell its end: only its parent learns of that. Returns as the program itself."""
    client = socket.socket(fileno=channel)
    with client.makefile("r") as reported:
        own_terminal, module, arguments, cwd, environ = json.load(reported)
    if own_terminal:
        _hold(streams[0])
    if (pid := os.fork()) == 0:
        client.close()
        _become(module, arguments, cwd, environ, streams)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for descriptor in streams:
        os.close(descriptor)
    client.sendall(f"{pid}\n".encode())
    _, status = os.waitpid(pid, 0)
    with suppress(OSError):  # no client is left
        client.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _hold(terminal: int) -> None:
    """Be whom a shell would be there: the leader of its session, whose end ends it."""
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)


def _become(
    module: str, arguments: list[str], cwd: str, environ: dict[str, str], streams: Sequence[int]
) -> NoReturn:
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    # Whether they can be sought in, and are terminals, is looked up when they are opened.
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environ)
    time.tzset()
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
    sys.exit()


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])), *sys.argv[2:])
