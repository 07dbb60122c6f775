"""ralph-tui as a process that can be killed, on a terminal of its own or without one."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

from ralph_tui.adapters.processes.keeper import Entry, read_entry
from ralph_tui.adapters.records.lock import Owner
from ralph_tui.adapters.remote.client import send
from ralph_tui.base.errors import RalphError
from ralph_tui.commands import Command
from tests.forks import RALPH, SCREEN, Forked

ROOT = Path(__file__).parents[2]


class Program:
    """One process of ralph-tui in `folder`, its output in a file."""

    def __init__(self, folder: Path, *words: str, attended: bool) -> None:
        """`words`: a module and its arguments, as for ``python -m``."""
        self.folder = folder
        self.attended = attended
        self.output = folder.parent / "output.log"
        headless = () if attended else ("--headless",)
        environ = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}
        self._terminal: int | None = None
        self._foreign = set[str]()
        """Pids that it did not start: to look at the others only takes a tenth of a millisecond."""
        program = replace(SCREEN if attended else RALPH, module=words[0])
        if not attended:
            with Path(os.devnull).open() as nobody, self.output.open("wb") as output:
                streams = (nobody.fileno(), output.fileno(), output.fileno())
                self.process = Forked(program, [*words[1:], *headless], folder, environ, streams)
            return
        self._terminal, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        streams = (inside, inside, inside)
        self.process = Forked(program, words[1:], folder, environ, streams, own_terminal=True)
        os.close(inside)
        threading.Thread(target=self._drain, args=(self._terminal,), daemon=True).start()

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def keepers(self) -> list[int]:
        """Its keepers at this moment."""
        return [e.pid for e in self._children() if b"keeper.py" in _read(e, "cmdline")]

    def children(self) -> list[int]:
        """Its direct children that still exist."""
        return [entry.pid for entry in self._children()]

    def gits(self) -> set[int]:
        """Its git processes at this moment."""
        return {entry.pid for entry in self._children() if _read(entry, "comm") == b"git\n"}

    def end(self) -> None:
        """KILL, if it is still there."""
        self.process.kill()
        self.process.wait()

    def send(self, command: Command) -> None:
        """Send a command through its socket; a run that is just ending may miss it."""
        address = Owner.read(self.folder / ".aiwg" / "ralph" / "lock").socket
        if address:
            try:
                send(Path(address), command)
            except RalphError:
                return

    def leave(self) -> int:
        """Wait for a finished run to exit; return its exit code."""
        if self._terminal is not None:
            for _ in range(20):
                try:
                    os.write(self._terminal, b"q")
                    # A dialog takes no key that follows another one at once.
                    return self.process.wait(1.5)
                except subprocess.TimeoutExpired:
                    continue
            raise AssertionError(f"it does not leave its last screen: {self.said()}")
        return self.process.wait(20)

    def said(self) -> str:
        """The end of its output."""
        return self.output.read_text(errors="replace")[-1500:]

    def close(self) -> None:
        """End it in any case."""
        self.end()
        if self._terminal is not None:
            os.close(self._terminal)
            self._terminal = None

    def _children(self) -> list[Entry]:
        pids = {name for name in os.listdir("/proc") if name.isdigit()}  # noqa: PTH208
        self._foreign &= pids
        entries = [entry for pid in pids - self._foreign if (entry := read_entry(pid)) is not None]
        mine = [entry for entry in entries if entry.parent == self.process.pid]
        self._foreign |= {str(entry.pid) for entry in entries if entry not in mine}
        return [entry for entry in mine if entry.alive]

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
            journals = self.folder.glob(".aiwg/ralph/tasks/*/attempts/*/events.jsonl")
            # A start that was killed at once may have left an empty one.
            self.path = next((path for path in journals if path.stat().st_size), None)
        if self.path is None or self.path.stat().st_size <= self._read:
            return []
        with self.path.open("rb") as file:
            file.seek(self._read)
            lines, _, _ = file.read().rpartition(b"\n")
        self._read += len(lines) + bool(lines)
        return [json.loads(line) for line in lines.split(b"\n") if line]


def _read(entry: Entry, name: str) -> bytes:
    """A file of a process, which may be gone."""
    try:
        return Path(f"/proc/{entry.pid}/{name}").read_bytes()
    except OSError:
        return b""
