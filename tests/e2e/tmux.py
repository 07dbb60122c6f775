"""A real terminal: tmux on a socket of its own, driven by keys, read by ``capture-pane``."""

import shlex
import subprocess
import uuid
from pathlib import Path

from tests.waiting import PATIENCE_S, until


class Terminal:
    """One tmux server with one pane of a fixed size."""

    def __init__(self, command: list[str], cwd: Path, *, width: int, height: int) -> None:
        self.socket = f"ralph-test-{uuid.uuid4().hex[:12]}"
        self.result = cwd / f"exit-{uuid.uuid4().hex[:8]}"
        # Else the shell ends of a ctrl+c as soon as the command has, and the screen with it.
        line = (
            f"trap : INT; {shlex.join(command)}; "
            f"echo $? > {shlex.quote(str(self.result))}; exec cat"
        )
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height),
                   "-c", str(cwd), "sh", "-c", line)  # fmt: skip
        self._tmux("set-option", "-g", "status", "off")
        self._tmux("resize-window", "-x", str(width), "-y", str(height))

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
        """What is to be read now."""
        return self._tmux("capture-pane", "-p")

    def shows(self, *words: str, timeout: float = PATIENCE_S) -> str:
        """Wait until the screen has all these words; gives back the screen."""
        try:
            until(lambda: all(word in self.screen for word in words), timeout)
        except AssertionError:
            raise AssertionError(f"no {words} on the screen:\n{self.screen}") from None
        return self.screen

    def exit_code(self, timeout: float = PATIENCE_S) -> int:
        """Wait for the end of the command."""
        try:
            until(lambda: self.result.exists() and self.result.read_text().strip(), timeout)
        except AssertionError:
            raise AssertionError(f"it goes on:\n{self.screen}") from None
        return int(self.result.read_text())

    def close(self) -> None:
        """Close the terminal, as a user closes a window."""
        self._tmux("kill-server")
