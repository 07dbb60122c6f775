"""Processes of ralph-tui that need not load it: each is forked from one that has, once per worker.

To load it takes a third of a second of CPU, more than most of these runs themselves. What is forked
is a process like any other: its arguments, folder, environment and streams are its own, and it ends
as Python ends. Only that ``ps`` names it otherwise, and that nothing can go wrong before `main`:
what is about either starts the program itself.
"""

import atexit
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NoReturn

LOADED = ("ralph_tui.runtime.assembly", "ralph_tui.cli.fronts.lines", "ralph_tui.cli.commands.run")
ROOT = Path(__file__).parents[2]


def completed(
    arguments: Sequence[str],
    cwd: Path,
    environ: dict[str, str],
    streams: tuple[int, int, int],
    timeout: float,
) -> int:
    """The exit code of ralph-tui with these arguments, as Popen gives it; killed if it is late."""
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            socket.send_fds(_server(), [b"."], [theirs.fileno(), *streams])
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
def _server() -> socket.socket:
    """Of this process; it ends when this end of its socket is closed."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tests.e2e.forks", str(theirs.fileno())],
            pass_fds=(theirs.fileno(),),
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    atexit.register(process.wait)
    atexit.register(ours.close)  # before it is waited for
    return ours


def _serve(asked: socket.socket) -> None:
    for name in LOADED:
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
    """Fork it and tell its end: only its parent learns of that. Returns as ralph-tui itself."""
    client = socket.socket(fileno=channel)
    with client.makefile("r") as told:
        arguments, cwd, environ = json.load(told)
    if (pid := os.fork()) == 0:
        client.close()
        _become(arguments, cwd, environ, streams)
    for descriptor in streams:
        os.close(descriptor)
    client.sendall(f"{pid}\n".encode())
    _, status = os.waitpid(pid, 0)
    client.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _become(
    arguments: list[str], cwd: str, environ: dict[str, str], streams: Sequence[int]
) -> NoReturn:
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environ)
    time.tzset()
    sys.argv = [str(ROOT / "ralph_tui" / "__main__.py"), *arguments]
    from ralph_tui.__main__ import main

    sys.exit(main())


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
