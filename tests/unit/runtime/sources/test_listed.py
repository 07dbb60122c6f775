"""Runs listed at home: searched again only after a change, for every tool."""

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from ralph_tui.adapters.records import lock
from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.adapters.records.runs import SILENCE_S
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.runtime.sources import run_list
from ralph_tui.runtime.sources.run_list import ListedRuns
from tests.hooked import NAME, HookedLoop
from tests.unit.adapters.records.test_listing import put


def all_of(runs: ListedRuns) -> list[str]:
    """The names after a complete scan."""
    names: list[str] = []
    while (found := runs.names()) is not None:
        names = list(found)
    return names


def at(folder: Path, seconds: int) -> None:
    os.utime(folder / "events.jsonl", (seconds, seconds))


def test_the_run_that_was_written_to_last_comes_first(tmp_path: Path) -> None:
    at(put(tmp_path, "task-001/001"), 3)
    at(put(tmp_path, "task-002/001"), 1)
    at(put(tmp_path, "task-001/002"), 2)
    runs = ListedRuns(tmp_path)
    assert all_of(runs) == ["task-001/001", "task-001/002", "task-002/001"]
    assert runs.names() is None
    rows = runs.read(["task-002/001", "task-009/001"])
    assert list(rows) == ["task-002/001"]


def test_a_run_that_comes_or_goes_is_seen(tmp_path: Path) -> None:
    put(tmp_path, "task-001/001")
    runs = ListedRuns(tmp_path)
    all_of(runs)
    put(tmp_path, "task-002/001")
    assert set(all_of(runs)) == {"task-001/001", "task-002/001"}
    shutil.rmtree(ralph_folder(tmp_path) / "tasks" / "task-001")
    assert runs.read(["task-001/001"]) == {}
    assert all_of(runs) == ["task-002/001"]


def test_a_new_attempt_of_an_old_task_is_found_by_the_lock(tmp_path: Path) -> None:
    put(tmp_path, "task-001/001")
    runs = ListedRuns(tmp_path)
    all_of(runs)
    assert runs.live_names() == []
    put(tmp_path, "task-001/002", outcome=None, phase="agent")  # no watched folder changes
    held = lock.acquire(ralph_folder(tmp_path) / "lock", "task-001/002", "r2", "")
    try:
        assert "task-001/002" in all_of(runs)
        assert runs.live_names() == ["task-001/002"]
        assert runs.read(runs.live_names())["task-001/002"].live
    finally:
        held.release()
    assert runs.live_names() == []


def test_a_loop_of_hooks_lives_while_something_is_heard_of_it(tmp_path: Path) -> None:
    loop = HookedLoop(tmp_path)
    loop.begin()
    runs = ListedRuns(tmp_path)
    assert all_of(runs) == [f"hooks/{NAME}"]
    assert runs.live_names() == [f"hooks/{NAME}"]
    long_ago = time.time() - SILENCE_S - 60
    os.utime(loop.journal, (long_ago, long_ago))
    assert runs.live_names() == []


def test_runs_of_other_tools_are_among_them(tmp_path: Path) -> None:
    put(tmp_path, "task-001/001")
    folder = tmp_path / ".aiwg" / "ralph-external"
    folder.mkdir()
    state = {
        "loopId": "1a2b3c4d-0000-0000-0000-000000000000",
        "objective": "Sort the shelves",
        "status": "completed",
        "currentIteration": 1,
        "iterations": [{"number": 1, "analysis": {"completionPercentage": 100}}],
    }
    (folder / "session-state.json").write_text(json.dumps(state))
    runs = ListedRuns(tmp_path)
    assert list(runs.names() or ()) == ["task-001/001"]  # ours need no wait for the others
    assert set(all_of(runs)) == {"task-001/001", "aiwg/1a2b3c4d"}
    row = runs.read(["aiwg/1a2b3c4d"])["aiwg/1a2b3c4d"]
    assert (row.objective, row.status, row.live) == ("Sort the shelves", "completed", False)
    assert row.imported


def test_the_first_look_finds_the_newest_tasks_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_list, "AT_ONCE", 2)
    for task in (9, 10, 11):
        put(tmp_path, f"task-{task:03}/001")
    runs = ListedRuns(tmp_path)
    assert set(runs.names() or ()) == {"task-011/001", "task-010/001"}
    assert len(all_of(runs)) == 3


def test_what_cannot_be_listed_is_tried_again(tmp_path: Path) -> None:
    tasks = ralph_folder(tmp_path) / "tasks"
    tasks.parent.mkdir(parents=True)
    tasks.write_text("no folder")
    runs = ListedRuns(tmp_path)
    for _ in range(3):
        with pytest.raises(WorkspaceError, match="cannot be listed"):
            runs.names()
    tasks.unlink()
    put(tmp_path, "task-001/001")
    assert all_of(runs) == ["task-001/001"]


def test_a_place_is_named_as_people_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert ListedRuns(tmp_path / "work" / "a\nb").place == "~/work/a⏎b"
    assert ListedRuns(Path("/srv/x")).place == "/srv/x"
