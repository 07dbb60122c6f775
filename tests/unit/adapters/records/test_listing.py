"""Rows of a list of runs: from small files, whatever their content, never from a journal."""

import json
import os
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.adapters.records import lock
from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.adapters.records.listing import RunRow, list_rows
from ralph_tui.adapters.records.runs import SILENCE_S, RecordedRun
from ralph_tui.adapters.records.status import read_status
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.text.sanitize import one_line
from tests.examples import FEWER
from tests.fixtures.journals.make import FOLDER
from tests.hooked import HookedLoop
from tests.rows import each_row
from tests.unit.adapters.records.aiwg.test_attempt import record, story_of

STATUS: dict[str, Any] = {
    "version": 2,
    "run_id": "r1",
    "objective": "Fix the parser",
    "agent": "command",
    "phase": "finished",
    "outcome": "completed",
    "iteration": 3,
    "max_iterations": 10,
    "completions": [20.0, 50.0, 100.0],
    "interventions": 2,
    "cost_usd": 1.25,
    "cost_estimated": True,
    "question": None,
    "started": "2026-01-08T10:00:00Z",
    "updated": "2026-01-08T10:30:00Z",
    "ended": "2026-01-08T10:30:00Z",
    "away_s": 600.0,
}


@contextmanager
def little_memory() -> Iterator[None]:
    """Fail if the code within keeps a long file in memory."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < 50 << 20
    finally:
        tracemalloc.stop()


def put(root: Path, name: str, text: str = "", **changed: object) -> Path:
    """Write an attempt with this status, or this text instead; its journal is a trap."""
    task, attempt = name.split("/")
    folder = ralph_folder(root) / "tasks" / task / "attempts" / attempt
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_text("no journal\n")
    (folder / "status.json").write_text(text or json.dumps(STATUS | changed))
    return folder


def only(root: Path) -> RunRow:
    (row,) = list_rows(root)
    return row


def test_a_row_is_what_its_status_says(tmp_path: Path) -> None:
    put(tmp_path, "task-001/001")
    assert only(tmp_path) == RunRow(
        name="task-001/001",
        objective="Fix the parser",
        status="completed",
        agent="command",
        iterations=3,
        max_iterations=10,
        completions=(0.2, 0.5, 1.0),
        interventions=2,
        cost_usd=1.25,
        cost_estimated=True,
        started=datetime(2026, 1, 8, 10, tzinfo=UTC),
        updated=datetime(2026, 1, 8, 10, 30, tzinfo=UTC),
        seconds=1200.0,
    )


def test_only_true_says_that_files_were_restored_since(tmp_path: Path) -> None:
    put(tmp_path, "task-001/001", stale=True)
    assert only(tmp_path).stale
    put(tmp_path, "task-002/001", stale="yes", ended="2026-01-09T12:00:00Z")
    assert [row.stale for row in list_rows(tmp_path)] == [False, True]


def test_the_newest_comes_first_and_what_tells_no_time_by_its_journal(tmp_path: Path) -> None:
    put(tmp_path, "task-002/001", ended="2026-01-08T12:00:00Z")
    put(tmp_path, "task-001/001", ended="2026-01-08T11:00:00Z")
    put(tmp_path, "task-001/002", ended="2026-01-08T13:00:00Z")
    silent = put(tmp_path, "task-003/001", "garbage")
    os.utime(silent / "events.jsonl", (1, 1))
    names = [row.name for row in list_rows(tmp_path)]
    assert names == ["task-001/002", "task-002/001", "task-001/001", "task-003/001"]


def test_it_says_what_the_status_of_a_real_run_says(tmp_path: Path) -> None:
    folder = put(tmp_path, "task-001/001")
    (folder / "status.json").unlink()
    (folder / "events.jsonl").write_bytes((FOLDER / "v1-stuck.jsonl").read_bytes())
    run = RecordedRun(folder / "events.jsonl")
    status = read_status(run)
    run.status.write_text(json.dumps(status))
    row = only(tmp_path)
    assert row.objective == status["objective"]
    assert row.iterations == status["iteration"]
    assert [100 * each for each in row.completions] == pytest.approx(status["completions"])
    assert row.interventions
    assert row.interventions == status["interventions"]


def test_without_a_status_its_record_is_told(tmp_path: Path) -> None:
    """Also for a program that wrote none: the attempt's record has the same content."""
    attempt = record(tmp_path, story_of("steady"))
    attempt.journal.write_text("no journal\n")
    row = only(tmp_path)
    assert (row.name, row.status, row.live) == ("task-001/001", "completed", False)
    assert row.objective
    assert row.completions[-1] == 1.0
    assert row.interventions is None  # that record does not count them


@each_row("story", ["steady", "stuck", "empty"])
def test_a_row_is_the_same_whichever_of_its_files_is_left(tmp_path: Path, story: str) -> None:
    attempt = record(tmp_path, story_of(story))
    status = read_status(RecordedRun(attempt.journal))
    (attempt.folder / "status.json").write_text(json.dumps(status))
    whole = only(tmp_path)
    assert whole.max_iterations
    (attempt.folder / "status.json").unlink()
    os.mkfifo(attempt.folder / "status.json")
    left = only(tmp_path)
    assert (left.iterations, left.max_iterations) == (whole.iterations, whole.max_iterations)
    assert left.completions == pytest.approx(whole.completions)


@each_row("name", ["v1-stuck", "v1-steady", "v1-oscillating"])
def test_where_there_is_but_a_journal_its_ends_are_told(tmp_path: Path, name: str) -> None:
    folder = put(tmp_path, "task-001/001")
    (folder / "status.json").unlink()
    journal = (FOLDER / f"{name}.jsonl").read_bytes()
    (folder / "events.jsonl").write_bytes(journal)
    status = read_status(RecordedRun(folder / "events.jsonl"))
    row = only(tmp_path)
    assert row.status == (status["outcome"] or "died")
    assert (row.objective, row.agent) == (status["objective"], status["agent"])
    assert (row.iterations, row.max_iterations) == (status["iteration"], status["max_iterations"])
    assert 100 * row.completions[-1] == pytest.approx(status["completions"][-1])
    # Whatever its length: a gigabyte without a line break.
    with (folder / "events.jsonl").open("r+b") as file:
        file.seek(len(journal))
        file.truncate(1 << 30)
    with little_memory():
        assert only(tmp_path).objective == row.objective


def test_a_run_without_an_end_is_alive_while_its_process_holds_the_lock(tmp_path: Path) -> None:
    question = {"text": "Continue?"}
    put(tmp_path, "task-001/001", outcome=None, ended=None, phase="paused", question=question)
    gone = only(tmp_path)
    assert (gone.status, gone.live, gone.question) == ("died", False, False)
    held = lock.acquire(ralph_folder(tmp_path) / "lock", "task-001/001", "r1", "")
    try:
        row = only(tmp_path)
    finally:
        held.release()
    assert (row.status, row.live, row.question) == ("paused", True, True)


def test_until_its_first_iteration_has_ended_it_stands_where_it_began(tmp_path: Path) -> None:
    began = put(tmp_path, "task-001/001", completions=[], baseline=33.0)
    assert only(tmp_path).completions == (0.33,)
    (began / "status.json").write_text(json.dumps(STATUS | {"completions": [], "baseline": None}))
    assert only(tmp_path).completions == (), "nothing was measured"


def test_a_run_whose_process_is_gone_has_lasted_until_its_last_sign_of_life(tmp_path: Path) -> None:
    """While it waited for an answer nothing was recorded, but its status was written."""
    waited = put(tmp_path, "task-001/001", outcome=None, ended=None, phase="paused", away_s=0)
    sign = datetime(2026, 1, 8, 10, 50, tzinfo=UTC)
    os.utime(waited / "status.json", (sign.timestamp(), sign.timestamp()))
    row = only(tmp_path)
    assert (row.status, row.updated, row.seconds) == ("died", sign, 3000.0)


def test_a_loop_of_hooks_is_told_by_the_ends_of_its_journal(tmp_path: Path) -> None:
    loop = HookedLoop(tmp_path)
    loop.begin()
    loop.tool("t1", "src/oauth.ts", 42)
    row = only(tmp_path)
    assert (row.live, row.status, row.agent, row.iterations) == (True, "agent", "claude", 1)
    assert row.objective
    long_ago = time.time() - SILENCE_S - 60
    os.utime(loop.journal, (long_ago, long_ago))
    assert (only(tmp_path).live, only(tmp_path).status) == (False, "unheard")
    loop.say("session_finished", iteration=1, outcome="success")
    loop.say("iteration_finished", iteration=1, status="incomplete", completion=0.0)
    between = read_status(RecordedRun(loop.journal))["phase"]
    assert (only(tmp_path).live, only(tmp_path).status) == (True, between) == (True, "thinking")
    loop.say("session_started", iteration=1, session_id="2", agent="claude")
    loop.say("session_described", model="claude-opus-4-1", iteration=1)
    assert only(tmp_path).status == read_status(RecordedRun(loop.journal))["phase"] == "agent"
    loop.end()
    ended = only(tmp_path)
    assert (ended.live, ended.status, ended.completions) == (False, "completed", (1.0,))


@each_row("kind", ["fifo", "link", "folder", "large", "deep", "binary", "missing"])
def test_whatever_stands_in_place_of_a_status_costs_only_its_row(tmp_path: Path, kind: str) -> None:
    folder = put(tmp_path, "task-001/001")
    put(tmp_path, "task-002/001")
    path = folder / "status.json"
    path.unlink()
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "link":
            path.symlink_to("/dev/zero")
        case "folder":
            path.mkdir()
        case "large":
            with path.open("wb") as file:
                file.truncate(100 << 20)
        case "deep":
            path.write_text("[" * 100_000)
        case "binary":
            path.write_bytes(os.urandom(4096))
    with little_memory():
        rows = {row.name: row for row in list_rows(tmp_path)}
    assert rows["task-002/001"].status == "completed"
    assert rows["task-001/001"].status == "died"


def test_links_among_the_folders_are_not_followed(tmp_path: Path) -> None:
    folder = put(tmp_path, "task-001/001")
    tasks = folder.parent.parent.parent
    (tasks / "task-002").symlink_to(tasks / "task-001")
    (folder.parent / "002").symlink_to(folder)
    assert only(tmp_path).name == "task-001/001"


def test_nothing_was_recorded(tmp_path: Path) -> None:
    assert list_rows(tmp_path) == []
    assert list_rows(tmp_path / "nowhere") == []
    ralph_folder(tmp_path).mkdir(parents=True)
    assert list_rows(tmp_path) == []


def test_records_that_cannot_be_listed_are_told_in_one_sentence(tmp_path: Path) -> None:
    ralph_folder(tmp_path).mkdir(parents=True)
    (ralph_folder(tmp_path) / "tasks").write_text("a file")
    with pytest.raises(WorkspaceError, match=r"tasks cannot be listed: Not a directory; make"):
        list_rows(tmp_path)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@FEWER
@given(st.dictionaries(st.sampled_from(sorted(STATUS)), _VALUES))
def test_any_value_of_any_field_makes_a_row(
    tmp_path_factory: pytest.TempPathFactory, changed: dict[str, Any]
) -> None:
    root = tmp_path_factory.mktemp("any")
    put(root, "task-001/001", **changed)
    row = only(root)
    assert all(0.0 <= each <= 1.0 for each in row.completions)
    assert row.seconds >= 0
    for text in (row.objective, row.status, row.agent):
        assert text == one_line(text)
