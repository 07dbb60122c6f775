"""An agent that stops its keeper blocks neither its run nor later ones."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph_tui.adapters.processes import child as running
from tests.e2e.cli import GATE, ONE_MORE, here, processes_of, project, start
from tests.e2e.test_last_screen import events
from tests.processes import state_of
from tests.waiting import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

RUN = ("run", "Make it pass", "-c", GATE, "--agent", "command", "--agent-command")


def order(pid_file: Path) -> list[str]:
    """A run whose second session stops its keeper and then continues."""
    stops = (
        f"[ -e {pid_file} ] || ! [ -e done-1.txt ] || {{ echo $PPID >{pid_file}; kill -STOP $PPID; "
    )
    agent = f"{ONE_MORE}; {stops} exec sleep 500; }}"
    return [*RUN, agent]


@pytest.fixture
def pid_file(tmp_path: Path) -> Iterator[Path]:
    """The file in which the agent writes the keeper's pid."""
    path = tmp_path / "keeper"
    yield path
    if path.exists() and state_of(pid := int(path.read_text())):
        os.kill(pid, signal.SIGCONT)  # the pipe to ralph-tui has ended: it goes, with all it keeps


def test_the_run_goes_on_with_the_next_session(
    git_repo: Path, pid_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "ASK_S", 0.2)
    root = project(git_repo)
    done = here(*order(pid_file), "--json", cwd=root)
    assert done.returncode == 0, done.stderr
    ends = [event["outcome"] for event in events(root, "session_finished")]
    assert ends.count("crashed") == 1
    assert ends.count("success") == len(ends) - 1 >= 3
    assert state_of(int(pid_file.read_text())) == ""
    (started,) = events(root, "run_started")
    assert processes_of(started["run_id"]) == []


@pytest.mark.parametrize("after", [("resume", "--headless"), ("restore", "1", "--yes")])
def test_what_a_killed_run_has_left_is_ended_by_what_comes_next(
    git_repo: Path, pid_file: Path, after: tuple[str, ...]
) -> None:
    root = project(git_repo)
    with start(*order(pid_file), "--json", cwd=root) as process:
        try:
            until(lambda: pid_file.exists() and pid_file.read_text().endswith("\n"))
            keeper = int(pid_file.read_text())
            until(lambda: state_of(keeper) == "T")
        finally:
            process.kill()
            process.communicate()
    assert state_of(keeper) == "T"
    said = here("status", cwd=root).stdout
    assert f"died: its process is gone, but its keeper (process {keeper}) is still running;" in said
    assert json.loads(here("status", "--json", cwd=root).stdout)["alive"] is False
    assert "**Died:** its process is gone" in here("report", cwd=root).stdout
    assert "its process is gone" in here("prune", "--keep", "0", cwd=root).stdout
    done = here(*after, cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert state_of(keeper) in ("", "Z")
