"""Memory of a run's processes: which count, and the peak between two samples."""

import os
import subprocess
import sys
import uuid
from pathlib import Path
from threading import Event as Flag

import pytest

from ralph_tui.adapters.processes import memory
from ralph_tui.adapters.processes.child import launch
from ralph_tui.adapters.processes.memory import MemorySampler, resident_bytes
from ralph_tui.adapters.processes.sweep import RUN_MARK
from tests.processes import Child
from tests.waiting import PATIENCE_S, until


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_that_of_all_processes_of_the_run() -> None:
    run_id = str(uuid.uuid4())
    grown = "held = bytearray(40 << 20); print(1, flush=True); input()"
    # The child bears no mark: it belongs to the run by its parent.
    script = (
        "import os, subprocess, sys; del os.environ[sys.argv[1]]; "
        f"subprocess.run([sys.executable, '-c', {grown!r}])"
    )
    with Child[bytes](
        [sys.executable, "-c", script, RUN_MARK],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, RUN_MARK: run_id},
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        used = resident_bytes(run_id)
        process.communicate(b"\n")
    assert 40 << 20 < used < 400 << 20
    assert resident_bytes(run_id) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_was_launched_as_a_command_is_told_from_other_helpers(tmp_path: Path) -> None:
    run_id = str(uuid.uuid4())
    helper = [sys.executable, "-c", "print(1, flush=True); input()"]
    with Child[bytes](
        helper, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, RUN_MARK: run_id}
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert resident_bytes(run_id) > 0
        assert resident_bytes(run_id, commands=True) == 0
        command = ["sleep", "60"]
        agent = launch(command, cwd=tmp_path, env=os.environ, run_id=run_id)
        try:
            until(lambda: resident_bytes(run_id, commands=True))
        finally:
            agent.stop()
            agent.wait(PATIENCE_S)
        process.communicate(b"\n")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_environment_is_read_of_what_is_older_than_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: set[int] = set()
    monkeypatch.setattr(memory, "_has_marks", lambda entry, marks: asked.add(entry.pid))
    with Child[bytes](["sleep", "60"]) as process:
        resident_bytes(str(uuid.uuid4()))
        process.kill()
    assert process.pid in asked
    assert 1 not in asked


def test_the_peak_is_that_since_it_was_taken_last() -> None:
    taken = [100, 700, 300]
    done = Flag()

    def sample() -> int:
        if not taken:
            done.set()
            return 200
        return taken.pop(0)

    sampler = MemorySampler(sample)
    sampler.begin()
    assert done.wait(PATIENCE_S)
    sampler.end()
    assert sampler.take_peak() == 700, "also after the end"
    assert sampler.take_peak() == 0


def test_an_end_waits_for_no_sample_and_leaves_no_thread() -> None:
    sampler = MemorySampler(lambda: 1)
    sampler.begin()
    thread = sampler._thread
    sampler.end()
    assert thread is not None
    assert not thread.is_alive()
    sampler.end()
    assert sampler.take_peak() == 0
