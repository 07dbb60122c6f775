"""A terminal disappears without a signal: the end summary ends with it."""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from ralph_tui.adapters.records.lock import holder
from tests.e2e.cli import CLI, GATE, project
from tests.e2e.test_last_screen import events
from tests.processes import Child
from tests.waiting import PATIENCE_S, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

ORDER = ("run", "Make it pass", "-c", GATE, "--agent", "command", "--agent-command")
PREPARE = """
import fcntl, os, signal, sys, termios
ignored, controlling, *command = sys.argv[1:]
if ignored == "ignored":
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
if controlling == "controlling":
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(command[0], command)
"""


WAITS = "cat >/dev/null; exec sleep 500"
DOES_ALL = "cat >/dev/null; touch done-0.txt done-1.txt done-2.txt done-3.txt"


class Window:
    """The other end of a terminal; it reads all output until it is closed."""

    def __init__(self, awaited: bytes = b"") -> None:
        self.written, self._awaited = b"", awaited
        self.came = threading.Event()
        """Set as soon as `awaited` was written."""
        self._master, self.terminal = pty.openpty()
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while not self._closed.is_set():
            if select.select([self._master], [], [], 0.05)[0]:
                try:
                    self.written += os.read(self._master, 1 << 16)
                except OSError:  # no process has it open any more
                    return
                if self._awaited in self.written:
                    self.came.set()

    def type(self, data: bytes) -> None:
        """Send these bytes as if they were typed."""
        os.write(self._master, data)

    def close(self) -> None:
        """Close it, once."""
        if not self._closed.is_set():
            self._closed.set()
            self._thread.join()
            os.close(self._master)


@contextmanager
def shown(
    root: Path, agent: str, *how: str, cli: Sequence[str] = CLI, order: Sequence[str] = ()
) -> Iterator[tuple[Child[bytes], Window]]:
    """A run on a screen, in a session of its own; `order`: another command instead."""
    window = Window()
    process = Child[bytes](
        [sys.executable, "-c", PREPARE, *how, *cli, *(order or (*ORDER, agent))],
        cwd=root,
        env={**os.environ, "TERM": "xterm-256color"},
        stdin=window.terminal,
        stdout=window.terminal,
        stderr=window.terminal,
        start_new_session=True,
    )
    os.close(window.terminal)
    try:
        yield process, window
    finally:
        process.kill()
        process.wait()
        window.close()


def reads(pid: int) -> int:
    """Number of reads by the process."""
    fields = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text().splitlines())
    return int(fields["syscr"])


def test_a_last_screen_ends_with_its_terminal(git_repo: Path) -> None:
    root = project(git_repo)
    with shown(root, DOES_ALL, "heard", "not controlling") as (process, window):
        until(lambda: events(root, "run_finished"))
        until(lambda: holder(root / ".aiwg/ralph/lock") is None)
        window.close()
        assert process.wait(PATIENCE_S) == 0


def test_a_run_goes_on_without_its_terminal_and_without_being_told(git_repo: Path) -> None:
    """The run continues as after a hangup and does not wait for input."""
    root = project(git_repo)
    with shown(root, WAITS, "heard", "not controlling") as (process, window):
        until(lambda: events(root, "session_started"))
        window.close()
        until(lambda: [*root.rglob("terminal.log")])
        (status,) = root.rglob("status.json")
        before, written = reads(process.pid), status.stat().st_mtime_ns
        until(lambda: status.stat().st_mtime_ns != written)
        assert reads(process.pid) - before < 10_000
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 130
    assert holder(root / ".aiwg/ralph/lock") is None


def test_a_demo_ends_with_its_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder is temporary, so no one could return to it."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with shown(tmp_path, "", "heard", "controlling", order=("demo",)) as (process, window):
        project_of = partial(tmp_path.glob, "ralph-tui-demo-*/calculator")
        until(lambda: any(events(root, "session_started") for root in project_of()))
        window.close()
        assert process.wait(PATIENCE_S) == 130
    assert not [*tmp_path.rglob("events.jsonl")]
