"""Two resumes of one run, the first stopped at every step of its start: only one continues."""

import os
import shutil
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from ralph_tui.adapters.records.lock import holder
from tests.e2e.cli import events_of, project, start
from tests.e2e.shared import once
from tests.e2e.test_last_screen import ORDER, events, journal
from tests.forks import RALPH, Forked, Program
from tests.processes import state_of
from tests.waiting import until

IDENTITY = ("-c", "user.name=Test", "-c", "user.email=test@example.com")
STOPPING = replace(RALPH, module="tests.doubles.stopping_resume")
ALSO = pytest.mark.skipif(
    "RALPH_TEST_FAILURES" not in os.environ, reason="another moment of the same: make failures"
)
STEPS = [
    ("fcntl.flock", 1),  # before it looks for a live run
    pytest.param("open events.jsonl", 1, marks=ALSO),  # before it reads the record
    pytest.param("os.mkdir {records}", 1, marks=ALSO),
    pytest.param("open lock", 2, marks=ALSO),
    pytest.param("fcntl.flock", 2, marks=ALSO),  # before it takes the worktree's folder
    ("fcntl.flock", 3),  # before it takes the lock
    ("open events.jsonl", 2),
    pytest.param("socket.bind", 1, marks=ALSO),
    pytest.param("subprocess.Popen", 12, marks=ALSO),
    ("keeper.py", 1),
]
"""The step that comes next, and which occurrence of it."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose process was killed in its second iteration; it is copied for each test."""
    return once(tmp_path_factory, "killed-in-its-second", kill_one)


def kill_one(folder: Path) -> None:
    root = project(folder)
    for words in (("init", "-q"), ("add", "."), (*IDENTITY, "commit", "-q", "-m", "first")):
        subprocess.run(["git", *words], cwd=root, check=True)
    with start(*ORDER, "--headless", cwd=root) as process:
        until(lambda: len(events(root, "session_started")) == 2)
        process.kill()
        process.communicate()
    until(lambda: holder(root / ".aiwg/ralph/lock") is None)


@pytest.fixture
def killed(kept: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(kept, tmp_path / "repo", symlinks=True))


@pytest.mark.parametrize(("step", "number"), STEPS)
def test_of_two_one_goes_on_wherever_the_first_was_stopped(
    killed: Path, step: str, number: int
) -> None:
    records = killed / ".aiwg/ralph"
    attempt = records / "tasks/task-001/attempts/001"
    names = {"records": records, "attempt": attempt, "journal": attempt / "events.jsonl"}
    first = begun(STOPPING, step.format(**names), str(number), cwd=killed)
    second = None
    try:
        until(lambda: first.poll() is not None or state_of(first.pid) == "T")
        assert first.poll() is None, "it came to its end and not to this step"
        second = begun(RALPH, "resume", "--headless", cwd=killed)
        # It is refused, waits for the lock, or works.
        until(lambda: second.poll() is not None or len(events(killed, "session_started")) > 2)
        first.send_signal(signal.SIGCONT)
        until(lambda: None in (both := (first.poll(), second.poll())) and both != (None, None))
        until(lambda: len(events(killed, "session_started")) == 3)
        assert (first.poll() is None) != (second.poll() is None)
        whole = journal(killed).read_text().rpartition("\n")[0]
        numbers = [event["seq"] for event in events_of(whole)]
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(events(killed, "run_resumed")) == 1
    finally:
        for process in filter(None, (first, second)):
            process.kill()
            process.wait()


def begun(program: Program, *words: str, cwd: Path) -> Forked:
    """A process that says nothing to the test."""
    with Path(os.devnull).open("r+") as nobody:
        return Forked(program, words, cwd, dict(os.environ), (nobody.fileno(),) * 3)


def test_a_lock_file_that_is_removed_lets_no_second_one_in(killed: Path) -> None:
    with start("resume", "--headless", cwd=killed) as first:
        try:
            until(lambda: len(events(killed, "session_started")) == 3)
            first.send_signal(signal.SIGSTOP)
            until(lambda: state_of(first.pid) == "T")
            (killed / ".aiwg/ralph/lock").unlink()
            with start("resume", "--headless", cwd=killed) as second:
                try:
                    _, said = second.communicate()
                finally:
                    second.kill()
            assert second.returncode == 2
            assert "owns this worktree" in said
            first.send_signal(signal.SIGCONT)
            until((killed / ".aiwg/ralph/lock").exists)
            assert len(events(killed, "run_resumed")) == 1
        finally:
            first.kill()
            first.communicate()
