"""Run a real fleet as a user does: ``ralph-tui fleet run`` in a repository, with real runs."""

import json
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from bench.places import clean_environment, ralph_tui
from bench.usage import cpu_seconds
from ralph_tui.adapters.remote.client import request
from ralph_tui.fleet.records import FleetFolder, fleets_folder

LOOK_S = 0.05
ENDS_S = 30.0

Event = dict[str, Any]


def fleet_file(path: Path, agent: str, gate: str, loops: int) -> Path:
    """Write a fleet file with `loops` objectives; starts wait only for free slots."""
    told = {"start_every": "0s", "agent": "command", "agent_command": agent, "command": gate}
    lines = ["[fleet]", *(f"{name} = {json.dumps(value)}" for name, value in told.items())]
    lines += [f'[[objective]]\ntext = "Measure {number}"' for number in range(1, loops + 1)]
    path.write_text("\n".join(lines) + "\n")
    return path


class RealFleet:
    """The process of a fleet, from its start to the end of the block."""

    def __init__(self, root: Path, file: Path, *words: str) -> None:
        self.cpu: list[tuple[float, float]] = []
        """Samples of time and CPU time of its own process, in epoch seconds and seconds."""
        self._folder = FleetFolder(fleets_folder(root) / "fleet-001")
        self._words = ralph_tui("fleet", "run", str(file), "--headless", *words)
        self._root = root
        self._over = threading.Event()
        self._watch = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "RealFleet":
        self._process = started(self._words, self._root)
        self._watch.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        end(self._process)
        self._over.set()
        self._watch.join()

    def wait(self, seconds: float) -> None:
        """Wait for completion; raise ``RuntimeError`` with its last output if it fails."""
        said, _ = self._process.communicate(timeout=seconds)
        if self._process.returncode:
            raise RuntimeError(f"the fleet did not complete: {said[-1000:]}")

    def events(self) -> list[Event]:
        """Return the events in its journal so far."""
        with suppress(OSError):
            lines = self._folder.journal.read_text().splitlines(keepends=True)
            return [json.loads(line) for line in lines if line.endswith("\n")]
        return []

    def works(self) -> bool:
        """True if a loop's agent was seen working."""
        return any(event.get("phase") in ("agent", "waiting") for event in self.events())

    def tell(self, loop: str, name: str) -> None:
        """Send a command to a loop through the fleet's socket, and wait for its run's answer."""
        owner = self._folder.owner()
        if owner is None:
            raise RuntimeError("the fleet is gone")
        request(Path(owner.socket), {"name": name}, loop=loop)

    def used_until(self, moment: float) -> float:
        """Return the CPU seconds of its own process, without children, up to a time."""
        return max((used for at, used in self.cpu if at <= moment), default=0.0)

    def _look(self) -> None:
        while not self._over.wait(LOOK_S):
            with suppress(OSError, subprocess.CalledProcessError, IndexError):  # it has ended
                self.cpu.append((time.time(), cpu_seconds(self._process.pid)))


@contextmanager
def host(address: str, keys: Path, folder: Path) -> Iterator[None]:
    """Run a worker with one slot for a fleet's loops."""
    where = ("--tls", str(keys), "--base", str(folder), "--name", "far", "--agents", "1")
    process = started(ralph_tui("fleet", "worker", address, *where), folder.parent)
    try:
        yield
    finally:
        end(process)


def started(words: Sequence[str], folder: Path) -> subprocess.Popen[str]:
    """Start one of our programs; it handles signals even if this process ignores them."""
    return subprocess.Popen(
        words,
        cwd=folder,
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def end(process: subprocess.Popen[str]) -> None:
    """End a process gracefully, or else by force; its keepers then end its children."""
    if process.poll() is None:
        process.terminate()
    try:
        process.communicate(timeout=ENDS_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def moment(event: Event) -> float:
    """Return when an event was recorded, in epoch seconds."""
    return datetime.fromisoformat(event["at"]).timestamp()
