"""Signals that follow one another at once: a run and a fleet end, whatever they were doing."""

import json
import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from ralph_tui.adapters.records.lock import holder
from ralph_tui.cli.exit_codes import ExitCode
from tests.e2e.cli import CLI, processes_of, start
from tests.e2e.test_fleet import WAITS, nothing_is_left, plan, root, runs
from tests.processes import Child, storm
from tests.waiting import until

__all__ = ["root"]

pytestmark = pytest.mark.timeout(300)

ENDS_S = 120
"""Longer than any live process needs to end."""


def test_a_storm_ends_a_run(git_repo: Path) -> None:
    agent = ("--agent", "command", "--agent-command", "setsid sleep 500 & sleep 500")
    with start("run", "x", "-c", "false", *agent, "--headless", cwd=git_repo) as process:
        until(lambda: _started(git_repo))
        with storm(process.pid, 0):
            said, _ = process.communicate(ENDS_S)  # it reports every signal
    assert process.returncode == ExitCode.INTERRUPTED
    assert said.splitlines()[-1].startswith("resume: ralph-tui resume")
    lock = git_repo / ".aiwg/ralph/lock"
    until(lambda: holder(lock) is None)
    assert_socket_is_gone(lock)
    started = next(git_repo.rglob("events.jsonl")).read_text()
    run_id = started.partition('"run_id":"')[2].partition('"')[0]
    assert run_id
    until(lambda: processes_of(run_id) == [])


def test_a_storm_ends_a_fleet(root: Path) -> None:
    file = plan(root, "First", agent=WAITS)
    with start("fleet", "run", str(file), "--headless", cwd=root) as fleet:
        until(lambda: runs(root, "1"))
        with storm(fleet.pid, 1):
            fleet.communicate(ENDS_S)
    assert fleet.returncode == ExitCode.INTERRUPTED
    until(lambda: nothing_is_left(root))
    assert_socket_is_gone(root / ".aiwg/ralph/fleets/lock")


def test_timeout_signals_a_fleet_and_its_group(root: Path) -> None:
    """`timeout` sends TERM to its child, and at once to the group of both."""
    file = plan(root, "First", agent=WAITS)
    words = ["timeout", "1000", *CLI, "fleet", "run", str(file), "--headless"]
    with Child[bytes](
        words, cwd=root, start_new_session=True, stdout=subprocess.DEVNULL
    ) as timeout:
        until(lambda: runs(root, "1"))
        timeout.send_signal(signal.SIGTERM)
        timeout.wait(ENDS_S)
    until(lambda: nothing_is_left(root))


@pytest.mark.parametrize("fleet", [False, True], ids=["run", "fleet"])
def test_a_process_ends_although_nobody_reads_its_output(root: Path, *, fleet: bool) -> None:
    """A write to a full pipe would block forever."""
    run = ["run", "x", "-c", "false", "--agent-command", WAITS, "--headless"]
    words = ["fleet", "run", str(plan(root, "First", agent=WAITS)), "--headless"]
    unread, full = os.pipe()
    os.set_blocking(full, False)
    with suppress(BlockingIOError):
        while True:
            os.write(full, b"x")
    os.set_blocking(full, True)
    with Child[bytes]([*CLI, *(words if fleet else run)], cwd=root, stdout=full) as process:
        until(lambda: runs(root, "1") if fleet else _started(root))
        process.send_signal(signal.SIGTERM)
        assert process.wait(ENDS_S) == ExitCode.INTERRUPTED
    os.close(unread)
    os.close(full)
    until(lambda: nothing_is_left(root) if fleet else holder(root / ".aiwg/ralph/lock") is None)


def assert_socket_is_gone(lock: Path) -> None:
    """Assert that everything was released despite the signals."""
    socket = json.loads(lock.read_text())["socket"]
    assert socket
    assert not Path(socket).exists()


def _started(folder: Path) -> bool:
    return any("session_started" in path.read_text() for path in folder.rglob("events.jsonl"))
