"""ralph-tui as a process that can be killed, on a terminal of its own or without one."""

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import threading
from pathlib import Path
from typing import Any, Literal

from ralph_tui.adapters.processes.keeper import Entry, descendants, process_table
from ralph_tui.adapters.records.lock import Owner
from ralph_tui.adapters.remote.client import send
from ralph_tui.commands import Command
from ralph_tui.errors import RalphError

ROOT = Path(__file__).parents[2]
Target = Literal["ralph-tui", "its keeper", "both"]


class Program:
    """One process of ralph-tui in `folder`, its output in a file."""

    def __init__(self, folder: Path, *words: str, attended: bool) -> None:
        """`words`: a module and its arguments, as for ``python -m``."""
        self.folder = folder
        self.attended = attended
        self.output = folder.parent / "output.log"
        headless = () if attended else ("--headless",)
        command = [sys.executable, "-P", "-m", *words, *headless]
        environ = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}
        self._terminal: int | None = None
        if not attended:
            with self.output.open("wb") as output:
                self.process = subprocess.Popen(
                    command,
                    cwd=folder,
                    env=environ,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                )
            return
        self._terminal, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=environ,
            stdin=inside,
            stdout=inside,
            stderr=inside,
            start_new_session=True,
        )
        os.close(inside)
        threading.Thread(target=self._drain, args=(self._terminal,), daemon=True).start()

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    def keepers(self) -> list[int]:
        """Its keepers at this moment."""
        return [entry.pid for entry in process_table().values() if self._is_keeper(entry)]

    def kill(self, target: Target) -> tuple[Target, set[tuple[int, str]]]:
        """KILL; what was hit, for there may be no keeper now, and what the keepers kept."""
        keepers = [] if target == "ralph-tui" else self.keepers()
        kept = descendants(set(keepers), process_table()) if keepers else []
        if target == "both":
            self.process.kill()
        if not [keeper for keeper in keepers if _killed(keeper)] and target == "its keeper":
            target = "ralph-tui"  # they have just gone by themselves
        if target != "its keeper":
            self.process.kill()
            self.process.wait()
        hit: Target = target if keepers else "ralph-tui"
        return hit, {(entry.pid, entry.started) for entry in kept}

    def send(self, command: Command) -> None:
        """Give it a command through its socket; a run that is just ending need not hear it."""
        address = Owner.read(self.folder / ".aiwg" / "ralph" / "lock").socket
        if address:
            try:
                send(Path(address), command)
            except RalphError:
                return

    def leave(self) -> int:
        """Wait for the end of a run that is over; its exit code."""
        if self._terminal is not None:
            for _ in range(100):
                try:
                    os.write(self._terminal, b"q")
                    return self.process.wait(0.3)
                except subprocess.TimeoutExpired:
                    continue
        return self.process.wait(20)

    def said(self) -> str:
        """The end of its output."""
        return self.output.read_text(errors="replace")[-1500:]

    def close(self) -> None:
        """End it in any case."""
        if self.alive:
            self.process.kill()
        self.process.wait()
        if self._terminal is not None:
            os.close(self._terminal)
            self._terminal = None

    def _is_keeper(self, entry: Entry) -> bool:
        if entry.parent != self.process.pid or not entry.alive:
            return False
        try:
            return b"keeper.py" in Path(f"/proc/{entry.pid}/cmdline").read_bytes()
        except OSError:
            return False

    def _drain(self, terminal: int) -> None:
        with self.output.open("wb") as output:
            try:
                while chunk := os.read(terminal, 1 << 16):
                    output.write(chunk)
            except OSError:
                return


class Tail:
    """Reads the events that are added to a journal."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path: Path | None = None
        self._read = 0

    def new(self) -> list[dict[str, Any]]:
        """Whole lines that came since the last call."""
        if self.path is None:
            self.path = next(self.folder.glob(".aiwg/ralph/tasks/*/attempts/*/events.jsonl"), None)
        if self.path is None or self.path.stat().st_size <= self._read:
            return []
        with self.path.open("rb") as file:
            file.seek(self._read)
            lines, _, _ = file.read().rpartition(b"\n")
        self._read += len(lines) + bool(lines)
        return [json.loads(line) for line in lines.split(b"\n") if line]


def _killed(pid: int) -> bool:
    """Whether it was still there to be killed."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
