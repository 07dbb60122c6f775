"""Concurrent writers: no lost update, no stale lock, no torn file."""

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from ralph_tui.adapters.knowledge.files import checksum
from ralph_tui.adapters.knowledge.locking import locked
from ralph_tui.base.errors import KnowledgeError
from tests.forks import RALPH, Started
from tests.paths import ROOT
from tests.processes import state_of
from tests.rows import each_row
from tests.unit.adapters.knowledge.stores import document, known, learning, learnings_in, store_of
from tests.waiting import PATIENCE_S, until

WRITERS = 4
ROUNDS = 3
PATIENT_S = 60.0
"""The tests check that nothing is lost, not how fast a loaded machine is."""

WRITING = "tests.doubles.knowledge_writer"


def writer(*words: str) -> Started:
    """A process that runs `WRITING`."""
    return Started(replace(RALPH, module=WRITING), words, ROOT, dict(os.environ))


def line_of(child: Started) -> str:
    return child.stdout.readline().strip()


@contextmanager
def holder(folder: Path) -> Iterator[Started]:
    with writer("hold", str(folder / "lock")) as child:
        assert line_of(child) == "held"
        try:
            yield child
        finally:
            child.kill()


def test_processes_at_once_lose_no_update(tmp_path: Path) -> None:
    name = known(tmp_path, "Mock the clock.").learning_id
    names = [f"writer{number}" for number in range(WRITERS)]
    with ExitStack() as stack:
        words = (str(tmp_path), name, str(ROUNDS), str(PATIENT_S))
        children = [stack.enter_context(writer("write", run, *words)) for run in names]
        assert [line_of(child) for child in children] == ["ready"] * WRITERS
        (tmp_path / "go").touch()
        assert [child.wait(PATIENCE_S) for child in children] == [0] * WRITERS

    by_id = {entry["id"]: entry for entry in learnings_in(tmp_path)}
    credited = by_id.pop(name)
    assert credited["credits"] == {run: list(range(ROUNDS)) for run in names}
    assert credited["uses"] == WRITERS * ROUNDS
    assert credited["successes"] == WRITERS * len(range(0, ROUNDS, 2))

    common = [learning(f"wonder{number} door{number}") for number in range(ROUNDS)]
    assert by_id.keys() == {one.learning_id for one in common}
    for entry in by_id.values():
        assert sorted(entry["sourceLoops"]) == names
        assert entry["useCount"] == WRITERS - 1
        assert sorted(one["run"] for one in entry["promotedFrom"]) == names

    staged = document(tmp_path, "staging.json")["staged"]
    own = [entry for entry in staged if entry["status"] == "staged"]
    assert len(own) == WRITERS * ROUNDS
    assert len(staged) == 2 * WRITERS * ROUNDS + 2
    assert document(tmp_path)["checksum"] == checksum(learnings_in(tmp_path))
    assert document(tmp_path, "staging.json")["checksum"] == checksum(staged)
    store = store_of(tmp_path)
    store.ledger()
    assert store.take_notices() == []


def test_writers_that_are_killed_leave_whole_files_and_no_lock(tmp_path: Path) -> None:
    name = known(tmp_path, "Mock the clock.").learning_id
    for number in range(4):
        with writer("busy", f"run-{number}", str(tmp_path), name, str(PATIENT_S)) as child:
            counted = [int(line_of(child)) for _ in range(3)][-1]
            time.sleep(0.003 * number)  # somewhere within the next write, each time elsewhere
            child.kill()
            child.wait()
        with locked(tmp_path / "lock", 0.0):
            pass
        (entry,) = learnings_in(tmp_path)
        assert len(entry["credits"][f"run-{number}"]) >= counted
        assert entry["uses"] == sum(map(len, entry["credits"].values()))
    store = store_of(tmp_path)
    store.ledger()
    assert store.take_notices() == []
    assert json.loads((tmp_path / "ralph-learnings.json.bak").read_bytes())["learnings"]


@each_row("written", ["ralph-learnings.json", "ralph-learnings.json.bak"])
def test_what_a_killed_writer_has_left_goes_with_the_next_write(
    tmp_path: Path, written: str
) -> None:
    name = known(tmp_path, "Mock the clock.").learning_id
    left: list[Path] = []
    for _ in range(2):
        with writer("die", "run-k", str(tmp_path), name, written) as child:
            assert child.wait(PATIENCE_S) == -signal.SIGKILL
        left += {*tmp_path.glob(".*.tmp")} - {*left}
    assert [path.name.startswith(f".{written}.") for path in left] == [True, True]
    others = (f".{written}.tmp", f".{written}.0123abcd.tmp2", ".notes.json.0123abcd.tmp")
    for other in others:
        (tmp_path / other).write_text("not ours")
    folder = tmp_path / f".{written}.0123abcd.tmp"
    folder.mkdir()
    kept = {left[1], folder, *(tmp_path / other for other in others)}
    for path in {left[0], *kept} - {left[1]}:
        os.utime(path, (0, 0))
    store_of(tmp_path).change(name, "pin")
    assert {path for path in {*left, *kept} if path.exists()} == kept


def test_a_lock_of_a_stopped_process_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    known(tmp_path, "Mock the clock.")
    with holder(tmp_path) as child:
        child.send_signal(signal.SIGSTOP)
        until(lambda: state_of(child.pid) == "T")
        store = store_of(tmp_path, "run-c", patience_s=0.2)
        with pytest.raises(KnowledgeError) as raised:
            store.stage([learning("Another one.")])
        assert str(raised.value).startswith(
            f"the knowledge files have been locked by process {child.pid} for more than 0.2 s"
        )
        # Readers never wait.
        assert len(store.candidates("mock", "feature")) == 1
    store.stage([learning("Another one.")])
    assert len(document(tmp_path, "staging.json")["staged"]) == 3


def test_the_lock_is_that_of_the_file_that_has_its_name(tmp_path: Path) -> None:
    """A recreated lock file is a different one: the old one locks nothing."""
    lock = tmp_path / "lock"
    with locked(lock, 0.0):
        lock.unlink()
        with locked(lock, 0.0), pytest.raises(KnowledgeError), locked(lock, 0.0):
            pass


def test_threads_of_one_process_share_a_store(tmp_path: Path) -> None:
    store = store_of(tmp_path, "run-a", PATIENT_S)
    threads = [
        threading.Thread(
            target=lambda number=number: store.stage([learning(f"Thing{number} of way{number}.")])
        )
        for number in range(WRITERS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(document(tmp_path, "staging.json")["staged"]) == WRITERS
