"""Which processes the sweep targets."""

import contextlib
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph_tui.adapters.processes import keeper
from ralph_tui.adapters.processes import sweep as sweeping
from ralph_tui.adapters.processes.keeper import Entry, descendants, process_table
from ralph_tui.adapters.processes.sweep import PLACE_MARK, RUN_MARK, place_of, sweep
from tests.paths import ROOT
from tests.processes import Child, leaderless, state_of
from tests.waiting import PATIENCE_S, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def entry(pid: int, parent: int, *, alive: bool = True) -> Entry:
    return Entry(pid, parent, 1, 1, "0", alive=alive)


def test_descendants_are_found_by_parentage_through_the_dead() -> None:
    rows = [entry(1, 0), entry(2, 1), entry(3, 2, alive=False), entry(4, 3), entry(5, 1)]
    table = {row.pid: row for row in rows}
    assert {row.pid for row in descendants({2}, table)} == {4}
    assert {row.pid for row in descendants({1}, table)} == {2, 4, 5}
    assert descendants({99}, table) == []


def test_descendants_of_a_circle_end() -> None:
    table = {1: entry(1, 2), 2: entry(2, 1)}
    assert {row.pid for row in descendants({1}, table)} == {2}


def test_the_table_knows_this_process_whatever_its_name() -> None:
    script = "import sys; open('/proc/self/comm', 'w').write('a) R 1 (b'); print(1); input()"
    with Child[bytes](
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        row = process_table()[process.pid]
        assert (row.parent, row.group, row.alive) == (os.getpid(), os.getpgrp(), True)
        assert row.session == os.getsid(0)
        process.communicate(b"\n")


@pytest.mark.skipif(not Path("/bin/ps").exists(), reason="needs ps")
def test_where_there_is_no_proc_ps_tells_the_same() -> None:
    ours, theirs = process_table()[os.getpid()], keeper._table_of_ps()[os.getpid()]
    assert (ours.parent, ours.group, ours.alive) == (theirs.parent, theirs.group, theirs.alive)
    assert len(theirs.started.split()) == 5


@pytest.fixture
def marked(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A process marked as part of a run, and an unmarked child."""
    run_id = uuid.uuid4().hex
    process = subprocess.Popen(
        ["/bin/sh", "-c", "env -i sleep 100 & echo $!; wait"],
        env={**os.environ, RUN_MARK: run_id, PLACE_MARK: place_of(tmp_path)},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    yield process, run_id
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def test_the_marked_and_their_children_are_stopped(
    marked: tuple[subprocess.Popen[bytes], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "LADDER", ((signal.SIGTERM, 1.0), (signal.SIGKILL, 1.0)))
    process, run_id = marked
    assert process.stdout is not None
    child = int(process.stdout.readline())
    swept = sweep(lambda found: found == run_id, tmp_path)
    assert {process.pid, child} <= set(swept)
    assert process.wait(PATIENCE_S) != 0
    row = process_table().get(child)
    assert row is None or not row.alive


def test_the_mark_of_a_process_whose_first_thread_has_ended_is_found(tmp_path: Path) -> None:
    run_id = uuid.uuid4().hex
    stranger = leaderless(**{RUN_MARK: run_id, PLACE_MARK: place_of(tmp_path)})
    assert sweep(lambda found: found == run_id, tmp_path) == (stranger,)
    row = process_table().get(stranger)
    assert row is None or not row.alive


def test_who_is_stopped_still_takes_what_it_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "LADDER", ((signal.SIGTERM, 10.0),))
    run_id = uuid.uuid4().hex
    marks = {RUN_MARK: run_id, PLACE_MARK: place_of(tmp_path)}
    with Child[bytes](["sleep", "100"], env={**os.environ, **marks}) as process:
        try:
            process.send_signal(signal.SIGSTOP)
            until(lambda: state_of(process.pid) == "T")
            assert process.pid in sweep(lambda found: found == run_id, tmp_path)
            assert process.wait(1) == -signal.SIGTERM
        finally:
            process.kill()


def test_processes_of_living_runs_stay(
    marked: tuple[subprocess.Popen[bytes], str], tmp_path: Path
) -> None:
    process, _ = marked
    assert process.pid not in sweep(lambda found: False, tmp_path)
    assert process.poll() is None


def test_a_copied_worktree_leaves_the_processes_of_the_original_alone(
    marked: tuple[subprocess.Popen[bytes], str], tmp_path: Path
) -> None:
    process, run_id = marked
    copy = tmp_path / "copy"
    copy.mkdir()
    assert sweep(lambda found: found == run_id, copy) == ()
    assert process.poll() is None


def test_a_renamed_worktree_is_still_itself(tmp_path: Path) -> None:
    folder = tmp_path / "before"
    folder.mkdir()
    place = place_of(folder)
    assert place
    assert place_of(folder.rename(tmp_path / "after")) == place
    assert place_of(folder) == ""


def test_a_run_that_the_sweeper_itself_lives_in_stays(tmp_path: Path) -> None:
    run_id = uuid.uuid4().hex
    script = (
        "from pathlib import Path;"
        "from ralph_tui.adapters.processes.sweep import sweep;"
        f"print(len(sweep(lambda found: found == {run_id!r}, Path({str(tmp_path)!r}))))"
    )
    # The sweeper's own environment is bare: the mark is only on its parent, and on a sibling.
    command = f'sleep 100 & env -u {RUN_MARK} "$0" -c "$1"; kill $!'
    done = subprocess.run(
        ["/bin/sh", "-c", command, sys.executable, script],
        env={
            **os.environ,
            RUN_MARK: run_id,
            PLACE_MARK: place_of(tmp_path),
            "PYTHONPATH": str(ROOT),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")
