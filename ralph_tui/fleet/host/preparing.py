"""Prepare what a run needs: a slot, ports, a clone, its command line and its environment."""

import fcntl
import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from ralph_tui.adapters.processes.sweep import FLEET_LOOP, FLEET_MARK, FLEET_NAME
from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.adapters.records.lock import worker
from ralph_tui.adapters.workspace.git import MISLEADING
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.base.plain_files import open_plain
from ralph_tui.config.sources import FLAGS
from ralph_tui.ports.clones import Place

LOCK_S = 8.0
"""Seconds that a dying run may still hold the clone in which another run will continue."""
POLL_S = 0.05


def wait_for_end(tree: Path, check: Callable[[], None] = lambda: None) -> None:
    """Wait until no process works in a clone; the keeper of a killed host may still do so.

    Raises ``WorkspaceError`` if that takes too long, and any error that `check` raises.
    """
    deadline = time.monotonic() + LOCK_S
    while (owner := worker(ralph_folder(tree) / "lock")) is not None:
        check()
        if time.monotonic() > deadline:
            raise WorkspaceError(
                f"process {owner.pid} is still running in its working copy on this host; "
                "end it and resume"
            )
        time.sleep(POLL_S)


SLOT_POLL_S = 0.2
"""Seconds between two checks for an order to end a loop that waits for a free slot."""
FULL = (
    "it is waiting: loops of the previous fleet use all slots of this host until their lease ends"
)


class Slots:
    """Numbered places for loops.

    A fleet places no more loops than there are slots. If all are taken, they belong to loops of
    another fleet, which run until their lease ends.
    """

    def __init__(self, number: int) -> None:
        self._free = set(range(number))
        self._changed = threading.Condition()

    @contextmanager
    def acquire(self, check: Callable[[], None], note: Callable[[str], None]) -> Iterator[int]:
        """Take a slot within the block, and yield its number; raise any error that `check` raises.

        `note` receives a sentence if the loop has to wait.
        """
        slot = self._take(check, note)
        try:
            yield slot
        finally:
            with self._changed:
                self._free.add(slot)
                self._changed.notify()

    def _take(self, check: Callable[[], None], note: Callable[[str], None]) -> int:
        noted = False
        with self._changed:
            while not self._free:
                check()
                if not self._changed.wait(SLOT_POLL_S) and not noted:
                    note(FULL)
                    noted = True
            slot = min(self._free)
            self._free.remove(slot)
            return slot


FIRST, LAST = 20_000, 32_000
"""Range of ports, below those that systems use for outgoing connections."""
UNIT = 10
"""Ports per lock."""


class PortBlock:
    """Consecutive ports from `first` to `last`, held until `release` is called."""

    def __init__(self, first: int, last: int, locks: list[int]) -> None:
        self.range = (first, last)
        self._locks = locks

    def release(self) -> None:
        """Let others take the ports."""
        while self._locks:
            os.close(self._locks.pop())


def take_block(count: int, folder: Path | None = None) -> PortBlock | None:
    """Return a free block of `count` ports; None if there is no such block or `count` is 0.

    File locks reserve it, because hosts on one machine share no memory. The locks end with the
    process. Ports on which another program listens are skipped.

    `folder` contains the locks and is the same for all hosts on a machine.
    """
    if count < 1:
        return None
    folder = folder or Path(tempfile.gettempdir()).absolute() / f"ralph-tui-ports-{os.geteuid()}"
    with suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        units = -(-count // UNIT)
        for first in range(FIRST, LAST - units * UNIT, units * UNIT):
            locks = _lock_all(folder, range(first, first + units * UNIT, UNIT))
            if locks and all(map(_is_free, range(first, first + count))):
                return PortBlock(first, first + count - 1, locks)
            for lock in locks:
                os.close(lock)
    return None


def _lock_all(folder: Path, names: range) -> list[int]:
    """Return a lock for each name; empty if another process holds one of them."""
    taken: list[int] = []
    for name in names:
        try:
            descriptor = open_plain(folder / str(name), os.O_RDWR | os.O_CREAT, 0o600)
            taken.append(descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            for lock in taken:
                os.close(lock)
            return []
    return taken


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


_PROGRAM = (sys.executable, "-P", "-m", "ralph_tui")
"""``-P`` keeps Python from importing a file in the clone as a module."""
_READ_AGAIN = "outreach."
"""Prefix of settings that a run's record leaves out, because they may be secrets."""


def run_words(place: Place, descriptor: int) -> list[str]:
    """Return the command line of a new run; its host sends commands through `descriptor`.

    A user could type the same command: the fleet passes every decision as an argument, and nothing
    is read from a file in the clone.
    """
    loop = place.loop
    words = [*_PROGRAM, "run", *_headless_flag(place), f"--commands-from={descriptor}"]
    if loop.command is not None:
        words.append(f"--command={loop.command}")
    if loop.criterion is not None:
        words.append(f"--criterion={loop.criterion}")
    if loop.until_promise:
        words.append("--until-promise")
    return [*words, *_settings(_loop_settings(place)), "--", loop.objective]


def resume_words(place: Place, run: str, descriptor: int) -> list[str]:
    """Return the command line of a resumed run; `run` is its task and attempt.

    The limits that it had before still apply.
    """
    settings = place.loop.settings.items()
    given = {name: value for name, value in settings if name.startswith(_READ_AGAIN)}
    words = [*_PROGRAM, "resume", *_headless_flag(place), f"--commands-from={descriptor}"]
    if place.loop.command is not None:
        words.append(f"--command={place.loop.command}")
    return [*words, *_settings(given), "--", run]


def environment(place: Place, slot: int, ports: tuple[int, int] | None) -> Mapping[str, str]:
    """Return the environment of a loop's run; see `fleet_environment`."""
    named = (place.fleet_id, place.fleet, place.loop.id, place.attempt)
    return fleet_environment(*named, slot, ports)


def fleet_environment(
    fleet_id: str, fleet: str, loop: str, attempt: int, slot: int, ports: tuple[int, int] | None
) -> Mapping[str, str]:
    """Return this process's environment without variables that mislead git, plus the loop's own."""
    inherited = {name: value for name, value in os.environ.items() if name not in MISLEADING}
    own = {
        FLEET_MARK: fleet_id,
        FLEET_NAME: fleet,
        FLEET_LOOP: loop,
        "RALPH_FLEET_ATTEMPT": str(attempt),
        "RALPH_FLEET_SLOT": str(slot),
    }
    if ports is not None:
        own["PORT_BASE"] = str(ports[0])
        own["PORT_COUNT"] = str(ports[1] - ports[0] + 1)
    return inherited | own


def _headless_flag(place: Place) -> list[str]:
    """Return ``--headless`` unless the run must wait for answers to its questions."""
    return ["--headless"] if place.unattended else []


def _loop_settings(place: Place) -> dict[str, str]:
    """Return the loop's settings, with the budget and the patience that the fleet sets."""
    given = dict(place.loop.settings)
    if place.budget_usd is not None:
        given["limits.budget_usd"] = f"{place.budget_usd:.4f}"
    if place.after_limit_s:
        given["agent.after_limit_s"] = f"{place.after_limit_s:g}"
    return given


def _settings(given: Mapping[str, str]) -> list[str]:
    flags = [f"{FLAGS[name]}={value}" for name, value in given.items() if name in FLAGS]
    others = [f"--set={name}={value}" for name, value in given.items() if name not in FLAGS]
    return [*flags, *others]
