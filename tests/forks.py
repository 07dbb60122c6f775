"""Processes of a program that need not load it: each is forked from one that has, once per worker.

To load ralph-tui takes a third of a second of CPU, more than most of its runs themselves. What is
forked is a process like any other: its arguments, folder, environment and streams are its own, and
it ends as Python ends. Only that ``ps`` names it otherwise, and that nothing can go wrong while it is
loaded: what is about either starts the program itself.

The server runs as a script, so that it can have an interpreter without packages: it needs the
standard library only.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Program:
    """What is loaded, and what is called then."""

    interpreter: tuple[str, ...]
    """With its options."""
    folder: Path
    """Where its modules are found first."""
    package: str
    """What ``python -m`` would be given."""
    loaded: tuple[str, ...]
    """Modules that its processes find loaded."""


RALPH = Program(
    (sys.executable, "-P"),
    ROOT,
    "ralph_tui",
    ("ralph_tui.runtime.assembly", "ralph_tui.cli.fronts.lines", "ralph_tui.cli.commands.run"),
)


def completed(
    program: Program,
    arguments: Sequence[str],
    cwd: Path,
    environ: dict[str, str],
    streams: tuple[int, int, int],
    timeout: float,
) -> int:
    """The exit code of a program with these arguments, as Popen gives it; killed if it is late."""
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            socket.send_fds(_server(program), [b"."], [theirs.fileno(), *streams])
        ours.sendall(json.dumps([[str(word) for word in arguments], str(cwd), environ]).encode())
        ours.shutdown(socket.SHUT_WR)
        with ours.makefile("r") as told:
            pid = int(told.readline())
            ours.settimeout(timeout)
            try:
                return int(told.readline())
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(list(arguments), timeout) from None


@cache
def _server(program: Program) -> socket.socket:
    """Of this process; it ends when this end of its socket is closed."""
    ours, theirs = socket.socketpair()
    with theirs:
        words = [str(theirs.fileno()), str(program.folder), program.package, *program.loaded]
        process = subprocess.Popen(
            [*program.interpreter, __file__, *words],
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    atexit.register(process.wait)
    atexit.register(ours.close)  # before it is waited for
    return ours


def _serve(asked: socket.socket, folder: str, package: str, *loaded: str) -> None:
    sys.path.insert(0, folder)
    for name in loaded:
        importlib.import_module(name)
    gc.freeze()
    signal.signal(signal.SIGCHLD, _reap)
    while True:
        message, passed, _, _ = socket.recv_fds(asked, 1, 4)
        if not message:
            return
        if os.fork() == 0:
            asked.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _watch(package, *passed)
        for descriptor in passed:
            os.close(descriptor)


def _reap(*_: object) -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def _watch(package: str, channel: int, *streams: int) -> None:
    """Fork it and tell its end: only its parent learns of that. Returns as the program itself."""
    client = socket.socket(fileno=channel)
    with client.makefile("r") as told:
        arguments, cwd, environ = json.load(told)
    if (pid := os.fork()) == 0:
        client.close()
        _become(package, arguments, cwd, environ, streams)
    for descriptor in streams:
        os.close(descriptor)
    client.sendall(f"{pid}\n".encode())
    _, status = os.waitpid(pid, 0)
    client.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _become(
    package: str, arguments: list[str], cwd: str, environ: dict[str, str], streams: Sequence[int]
) -> NoReturn:
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environ)
    time.tzset()
    sys.argv = [package, *arguments]
    runpy.run_module(package, run_name="__main__", alter_sys=True)
    sys.exit()


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])), *sys.argv[2:])
