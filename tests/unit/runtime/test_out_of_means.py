"""Missing threads, memory or files end a run with one sentence, not as a bug."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.events import RunFinished
from tests.e2e.cli import CLI, here
from tests.paths import ROOT

SCRIPT = """
import resource, threading
from pathlib import Path
from ralph_tui.adapters.records.journal import Journal
from ralph_tui.events import RunFinished, RunStarted
from ralph_tui.runtime.clock import SystemClock
from ralph_tui.runtime.engine import Engine

clock = SystemClock()
engine = Engine(Journal(Path("events.jsonl"), clock), clock, status=Path("status.json"))

# Its model is built now: the library that does so aborts the process if no memory is left.
RunFinished(outcome="failed", reason="", iterations=0, completion=0).model_dump_json()

def run():
    engine.record(RunStarted(run_id="r", root="/r", objective="o", agent="command",
                             max_iterations=3, session_timeout_s=1))
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (64 << 20),) * 2)
    %s

engine.drive(run, lambda: print("stopped"))
assert engine.error is None
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc to set a limit by")
@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("threading.stack_size(1 << 30); engine.start('job', print)", "cannot start more threads"),
        ("bytearray(1 << 30)", "out of memory"),
        ("resource.setrlimit(resource.RLIMIT_AS, (size,) * 2); import _sqlite3", "out of memory"),
    ],
    ids=["thread", "memory", "library"],
)
def test_what_the_system_refuses_is_no_bug(tmp_path: Path, step: str, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT % step],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "stopped\n"), done.stderr
    last = read_journal(tmp_path / "events.jsonl").events[-1]
    assert isinstance(last, RunFinished)
    assert last.outcome == "failed"
    assert said in last.reason
    assert last.reason.endswith("'ulimit -v'; then continue with 'ralph-tui resume'")


def test_too_few_open_files(git_repo: Path) -> None:
    agent = ("--agent", "command", "--agent-command", "cat >/dev/null; touch done")
    done = subprocess.run(
        [*CLI, "run", "x", "-c", "test -e done", *agent, "--headless"],
        cwd=git_repo,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (25, 25)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "raise the limit with 'ulimit -n'" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert here("resume", "--headless", cwd=git_repo).returncode == 0
