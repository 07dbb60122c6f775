"""No orphans: whatever ends ralph-tui, and however hostile its command is."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ralph_tui.adapters.processes import sweep as sweeping
from ralph_tui.adapters.processes.child import launch
from ralph_tui.adapters.processes.sweep import sweep
from tests.waiting import PATIENCE_S, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

FIXTURES = Path(__file__).parents[1] / "fixtures" / "processes"
ROOT = Path(__file__).parents[2]
PROCESSES = {"obedient": 1, "tree": 4, "chain": 3, "stopped": 3}
"""Habit, and how many processes say that they are ready."""


def living() -> Iterator[tuple[int, list[bytes]]]:
    """Pid and command line of every process except zombies."""
    for home in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (home / "cmdline").read_bytes().split(b"\0")
            state = (home / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state not in "ZX":
            yield int(home.name), arguments


def alive(folder: Path) -> bool:
    """True if any process of the hostile program lives, however fast it changes its pid."""
    return not is_free(folder / "life")


def pids(folder: Path) -> list[int]:
    """Live processes of the hostile program in this folder, except those that change their pid."""
    marks = (b"hostile.py", os.fsencode(folder))
    return [
        pid
        for pid, words in living()
        if len(words) > 2 and (words[1].rpartition(b"/")[2], words[2]) == marks
    ]


def is_free(path: Path) -> bool:
    with path.open("rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def hostile(folder: Path, habit: str) -> list[str]:
    return [sys.executable, str(FIXTURES / "hostile.py"), str(folder), habit]


def is_ready(folder: Path, habit: str) -> bool:
    return len(list(folder.glob("ready-*"))) >= PROCESSES[habit]


@dataclass
class Host:
    """One ralph-tui with one command, and what became of them."""

    folder: Path
    habit: str
    number: signal.Signals
    run_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    freed_too_early: bool = False
    seconds: float = 0.0

    def start(self) -> None:
        self.folder.mkdir()
        program = [sys.executable, str(FIXTURES / "host.py"), str(self.folder), self.run_id]
        self.process = subprocess.Popen(
            [*program, *hostile(self.folder, self.habit)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )

    def is_ready(self) -> bool:
        assert self.process.poll() is None, "the host itself failed"
        return (self.folder / "host.json").exists() and is_ready(self.folder, self.habit)

    @property
    def keeper(self) -> int:
        pid: int = json.loads((self.folder / "host.json").read_text())["keeper"]
        return pid

    def is_over(self) -> bool:
        free = is_free(self.folder / "lock")
        left = alive(self.folder)
        self.freed_too_early |= free and left
        return free and not left


CASES = [*((habit, signal.SIGKILL) for habit in PROCESSES), ("tree", signal.SIGTERM)]


def name(case: tuple[str, signal.Signals]) -> str:
    return f"{case[0]}-{case[1].name}"


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Host]]:
    """All hosts at once: they start, are killed, and are watched for the limit."""
    folder = tmp_path_factory.mktemp("hosts")
    hosts = {name(case): Host(folder / name(case), *case) for case in CASES}
    for host in hosts.values():
        host.start()
    try:
        until(lambda: all(host.is_ready() for host in hosts.values()))
        assert not any(is_free(host.folder / "lock") for host in hosts.values())
        killed = time.monotonic()
        for host in hosts.values():
            host.process.send_signal(host.number)
        waiting = list(hosts.values())
        while waiting and time.monotonic() < killed + PATIENCE_S:
            for host in [host for host in waiting if host.is_over()]:
                host.seconds = time.monotonic() - killed
                waiting.remove(host)
            time.sleep(0.02)
        yield hosts
    finally:
        for host in hosts.values():
            host.process.kill()
            host.process.wait()
            for pid in pids(host.folder):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("case", CASES, ids=name)
def test_nothing_outlives_ralph_tui(
    hosts: dict[str, Host], case: tuple[str, signal.Signals]
) -> None:
    host = hosts[name(case)]
    assert not alive(host.folder)
    assert is_free(host.folder / "lock")
    assert 0 < host.seconds < PATIENCE_S
    assert not host.freed_too_early
    until(lambda: host.keeper not in dict(living()))


def test_an_obedient_command_is_gone_at_once(hosts: dict[str, Host]) -> None:
    assert hosts["obedient-SIGKILL"].seconds < hosts["tree-SIGKILL"].seconds


@pytest.fixture
def short_ladder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hostile obey neither INT nor TERM: waiting for that is tested once, with the keeper."""
    rungs = tuple((number, 0.2) for number, _ in sweeping.LADDER[:-1])
    monkeypatch.setattr(sweeping, "LADDER", (*rungs, sweeping.LADDER[-1]))


@pytest.fixture
def orphans(tmp_path: Path) -> Iterator[Host]:
    """Processes left after the keeper is killed first and then ralph-tui."""
    host = Host(tmp_path / "orphans", "tree", signal.SIGKILL)
    host.start()
    try:
        until(host.is_ready)
        # Stopped first, so that it cannot sweep when it notices that its keeper is gone.
        host.process.send_signal(signal.SIGSTOP)
        os.kill(host.keeper, signal.SIGKILL)
        host.process.kill()
        host.process.wait()
        assert len(pids(host.folder)) >= PROCESSES["tree"]
        yield host
    finally:
        host.process.kill()
        host.process.wait()
        for pid in pids(host.folder):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.usefixtures("short_ladder")
def test_sweep_stops_what_a_killed_keeper_left(orphans: Host) -> None:
    before = set(pids(orphans.folder))
    asked: list[str] = []

    def is_dead(run_id: str) -> bool:
        asked.append(run_id)
        return run_id == orphans.run_id

    swept = sweep(is_dead, orphans.folder)
    assert not alive(orphans.folder)
    assert before <= set(swept)
    assert asked.count(orphans.run_id) == 1


def test_sweep_leaves_a_living_run_alone(orphans: Host) -> None:
    before = pids(orphans.folder)
    assert not set(sweep(lambda run_id: False, orphans.folder)) & set(before)
    assert pids(orphans.folder) == before


@pytest.mark.usefixtures("short_ladder")
def test_a_killed_keeper_is_noticed_and_replaced_by_a_sweep(tmp_path: Path) -> None:
    child = launch(hostile(tmp_path, "tree"), cwd=tmp_path, env=os.environ, run_id="the-run")
    other = tmp_path / "other"
    other.mkdir()
    mate = launch(hostile(other, "obedient"), cwd=tmp_path, env=os.environ, run_id="the-run")
    until(lambda: is_ready(tmp_path, "tree") and is_ready(other, "obedient"))
    os.kill(child.keeper_pid, signal.SIGKILL)
    end = child.wait(PATIENCE_S)
    assert end.lost
    assert end.code is None
    assert not alive(tmp_path)
    # Another command of the same run has its own keeper and continues.
    assert pids(other) == [mate.pid]
    mate.stop()
    assert mate.wait(PATIENCE_S).stopped
