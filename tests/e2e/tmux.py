"""A real terminal: tmux on a socket of its own, driven by keys, read by ``capture-pane``."""

import os
import subprocess
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path

from tests.forks import SCREEN, Forked
from tests.waiting import PATIENCE_S, until

DETACH = """
import fcntl, select, signal, termios
signal.signal(signal.SIGHUP, signal.SIG_IGN)
fcntl.ioctl(0, termios.TIOCNOTTY)
closed = select.poll()
closed.register(0, 0)
closed.poll()
"""
"""Program that tmux starts; it leaves its terminal to the process under test."""
PANE_FORMAT = (
    "#{pane_pid} #{pane_tty} #{socket_path},#{pid},0 #{pane_id} #{version} #{default-terminal}"
)


class Terminal:
    """One tmux server with one pane of a fixed size, and ralph-tui in it."""

    def __init__(
        self, words: Sequence[str], cwd: Path, *, width: int, height: int, **environ: str
    ) -> None:
        self.socket = f"ralph-test-{uuid.uuid4().hex[:12]}"
        size = ("-x", str(width), "-y", str(height))
        reported = self._tmux(
            *("-f", "/dev/null", "new-session", "-d", *size, sys.executable, "-ISc", DETACH, ";"),
            *("set-option", "-g", "status", "off", ";", "resize-window", *size, ";"),
            *("display-message", "-p", PANE_FORMAT),
        )
        first, tty, socket, pane, version, kind = reported.split()
        until(lambda: _is_detached(first))
        here = {"TERM": kind, "TMUX": socket, "TMUX_PANE": pane}
        here |= {"TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": version}
        terminal = os.open(tty, os.O_RDWR | os.O_NOCTTY)
        try:
            streams = (terminal, terminal, terminal)
            variables = {**os.environ, **here, **environ}
            self._process = Forked(SCREEN, words, cwd, variables, streams, own_terminal=True)
        finally:
            os.close(terminal)

    @property
    def pid(self) -> int:
        """Process id of ralph-tui."""
        return self._process.pid

    @property
    def ended(self) -> bool:
        """True if ralph-tui has ended; its last output stays."""
        return self._process.poll() is not None

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self.socket, *arguments], capture_output=True, text=True, check=False
        )
        return done.stdout

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names."""
        self._tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """Type text as it is."""
        self._tmux("send-keys", "-l", text)

    def resize(self, width: int, height: int) -> None:
        """Make the terminal another size."""
        self._tmux("resize-window", "-x", str(width), "-y", str(height))

    @property
    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    def shows(self, *words: str, timeout: float = PATIENCE_S) -> str:
        """Wait until the screen has all these words, and return it."""
        try:
            until(lambda: all(word in self.screen for word in words), timeout)
        except AssertionError:
            raise AssertionError(f"no {words} on the screen:\n{self.screen}") from None
        return self.screen

    def exit_code(self, timeout: float = PATIENCE_S) -> int:
        """Wait for the end of the command."""
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it goes on:\n{self.screen}") from None

    def close(self) -> None:
        """Close the terminal, as a user closes a window."""
        self._tmux("kill-server")
        self._process.forget()


def _is_detached(pid: str) -> bool:
    """True once `DETACH` runs; until then tmux has no terminal."""
    begun = Path(f"/proc/{pid}/cmdline").read_bytes().startswith(os.fsencode(sys.executable))
    _, terminal = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[3:5]
    return begun and terminal == "0"
