"""Processes that tests start: they hear every signal, and none outlives its test."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import AnyStr

from tests.waiting import until


def let_children_hear_signals() -> None:
    """Let children start with the default for INT and HUP, whatever this process ignores.

    A shell ignores INT for commands started with ``&``, nohup ignores HUP, and a new program
    inherits ignored signals but not handlers. This process keeps ignoring both.
    """
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, _do_nothing)


def _do_nothing(*_: object) -> None:
    pass


class Child(subprocess.Popen[AnyStr]):
    """A process whose ``with`` waits for its end, and kills it when the test fails.

    That includes a test that times out, where Popen alone would keep waiting.
    """

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self.kill()
        try:
            super().__exit__(kind, error, trace)
        finally:
            self.kill()
            self.wait()


PAIRS = 1000
"""Pairs of signals per second of a storm."""


@contextmanager
def storm(pid: int, seed: int) -> Iterator[None]:
    """Send random pairs of stopping signals until the block has waited for the process.

    The two signals of a pair follow each other at once.
    """
    chance = random.Random(seed)

    def blow() -> None:
        with suppress(ProcessLookupError):
            while True:
                for number in chance.choices((signal.SIGTERM, signal.SIGINT, signal.SIGHUP), k=2):
                    os.kill(pid, number)
                time.sleep(chance.uniform(0, 2 / PAIRS))

    blowing = threading.Thread(target=blow, daemon=True)
    blowing.start()
    yield
    blowing.join()


def state_of(pid: int) -> str:
    """The letter of a process: T is stopped; empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


LEADERLESS = """
import ctypes, os, threading, time
if os.fork():
    os._exit(0)
os.setsid()
threading.Thread(target=time.sleep, args=(100,)).start()
print(os.getpid(), flush=True)
os.close(1)
ctypes.CDLL(None).syscall(60 if os.uname().machine == "x86_64" else 93, 0)  # exit, of this thread
"""


def leaderless(**environ: str) -> int:
    """The pid of an orphan whose first thread has ended, while another one works on (Linux)."""
    variables = environ | {"PATH": os.environ["PATH"]}
    command = [sys.executable, "-c", LEADERLESS]
    said = subprocess.run(command, stdout=subprocess.PIPE, env=variables, check=True).stdout
    pid = int(said)
    until(lambda: state_of(pid) == "Z")
    return pid
