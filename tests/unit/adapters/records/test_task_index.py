"""The index of all tasks: correct after every crash, rebuilt when missing, and fast."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.records import attempts, files
from ralph_tui.adapters.records.aiwg import tasks, write
from ralph_tui.adapters.records.aiwg.write import SCHEMA
from ralph_tui.adapters.records.attempts import AttemptFolder
from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.adapters.records.task_index import TaskIndex
from ralph_tui.adapters.records.task_table import VERSION, TaskTable
from ralph_tui.base.file_lock import locked
from ralph_tui.events import Event
from ralph_tui.state import RunState
from tests.rows import each_row
from tests.steps import counted
from tests.unit.adapters.records.test_attempts import NOW
from tests.world.stories import STORIES


class Killed(BaseException):
    """Like a killed process: nothing catches it."""


def begin(root: Path, description: str) -> AttemptFolder:
    return AttemptFolder.create(root, description, NOW)


def play(attempt: AttemptFolder, story: str) -> None:
    """Record a run with this story."""
    start, *rest = STORIES[story]()
    objective = {"objective": attempt.description}
    events: list[Event] = [start.model_copy(update=objective), *rest]
    attempt.journal.write_text("".join(event.model_dump_json() + "\n" for event in events))
    attempt.write_projections(attempt.project(RunState().apply_all(events)))


def index_of(root: Path) -> TaskIndex:
    return TaskIndex(ralph_folder(root))


def known(root: Path, name: str) -> Any:
    found = json.loads((ralph_folder(root) / "index" / name).read_text())
    assert found.pop("version") == (VERSION if name == "tasks.json" else SCHEMA)
    return found


def statuses(root: Path) -> dict[str, str]:
    return {name: row.status for name, row in index_of(root).read().items()}


def test_tasks_are_found_by_status_and_attempts_by_agent(tmp_path: Path) -> None:
    first = begin(tmp_path, "fix it")
    assert known(tmp_path, "by-status.json") == {"running": ["task-001"]}
    assert known(tmp_path, "by-agent.json") == {}, "no loop has started"
    play(first, "stuck")
    play(begin(tmp_path, "build it"), "steady")
    play(begin(tmp_path, "fix it"), "paused")
    assert known(tmp_path, "by-status.json") == {"failed": ["task-001"], "completed": ["task-002"]}
    assert known(tmp_path, "by-agent.json") == {
        "claude": ["task-001/001", "task-001/002", "task-002/001"]
    }
    rows = index_of(tmp_path).read()
    assert [*rows] == ["task-001", "task-002"]
    assert rows["task-001"].attempts == 2
    assert (rows["task-002"].iterations, rows["task-002"].best) == (6, 100.0)


def test_a_task_at_rest_is_not_opened(tmp_path: Path) -> None:
    attempt = begin(tmp_path, "fix it")
    play(attempt, "steady")
    index_of(tmp_path).read()
    shutil.rmtree(attempt.task_folder / "attempts")
    (attempt.task_folder / "metadata.json").write_text("garbage")
    assert statuses(tmp_path) == {"task-001": "completed"}


def test_another_attempt_opens_only_what_may_be_its_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "Fix it, " * 40
    for description in ("fix it", "build it", f"{long} now", f"{long} later"):
        play(begin(tmp_path, description), "steady")
    begin(tmp_path, "left open")
    opened: list[str] = []
    original = tasks.read_description

    def reads(folder: Path) -> str | None:
        opened.append(folder.name)
        return original(folder)

    monkeypatch.setattr(attempts, "read_description", reads)
    assert begin(tmp_path, f"{long} later").name == "task-004/002"
    assert opened == ["task-003", "task-004"]
    shutil.rmtree(ralph_folder(tmp_path) / "index")
    assert begin(tmp_path, "left open").name == "task-005/002", "without an index all are opened"
    assert begin(tmp_path, "wholly new").name == "task-006/001"


@contextmanager
def killed_at(monkeypatch: pytest.MonkeyPatch, number: int) -> Iterator[None]:
    """Kill the process at this write of a file, counted from 0, or after all of them."""
    left = [number]
    real = files.write_text

    def dying(path: Path, text: str) -> None:
        if not left[0]:
            raise Killed
        left[0] -= 1
        real(path, text)

    with monkeypatch.context() as patch:
        patch.setattr("ralph_tui.adapters.records.aiwg.write.write_text", dying)
        try:
            yield
        except Killed:
            return


@each_row("number", range(14))
def test_after_a_crash_at_any_moment_it_says_what_the_files_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    play(begin(tmp_path, "build it"), "stuck")
    with killed_at(monkeypatch, number):
        attempt = begin(tmp_path, "fix it")
        play(attempt, "running")
        play(attempt, "steady")
    truth = folded(tmp_path)
    assert index_of(tmp_path).read() == truth
    play(begin(tmp_path, "another"), "stuck")  # the next run repairs the rest
    truth = folded(tmp_path)
    assert index_of(tmp_path).read() == truth
    by_status = known(tmp_path, "by-status.json")
    assert {name: row.status for name, row in truth.items()} == {
        name: status for status, names in by_status.items() for name in names
    }
    assert known(tmp_path, "tasks.json")["open"] == []


def folded(root: Path) -> dict[str, Any]:
    """The tasks' own files, folded."""
    copy = root / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(ralph_folder(root) / "tasks", ralph_folder(copy) / "tasks")
    return index_of(copy).read()


@each_row(
    "damage",
    [
        *(None, b"", b"{}", b"[1]", b"\xff", b"[" * 100_000, b'{"version": 1}'),
        *(b'{"version": 1, "open": 1, "listed": 0}', b'{"version": 99, "open": [], "listed": 0}'),
        b'{"version": 1, "open": [], "listed": 0, "task": "task-001", "description": [null]}',
    ],
)
def test_a_damaged_index_is_made_again(tmp_path: Path, damage: bytes | None) -> None:
    play(begin(tmp_path, "fix it"), "steady")
    play(begin(tmp_path, "build it"), "running")
    before = index_of(tmp_path).read()
    for path in (ralph_folder(tmp_path) / "index").glob("*.json"):
        path.unlink()
        if damage is not None:
            path.write_bytes(damage)
    assert index_of(tmp_path).read() == before
    assert known(tmp_path, "by-status.json") == {"completed": ["task-001"], "running": ["task-002"]}
    assert known(tmp_path, "by-agent.json") == {"claude": ["task-001/001", "task-002/001"]}
    assert known(tmp_path, "tasks.json")["open"] == ["task-002"], "it has no end"


def test_tasks_that_come_and_go_are_noticed(tmp_path: Path) -> None:
    first, second = begin(tmp_path, "fix it"), begin(tmp_path, "build it")
    play(first, "steady")
    play(second, "stuck")
    assert [*statuses(tmp_path)] == ["task-001", "task-002"]
    first.task_folder.rename(first.task_folder.with_name("task-010"))
    assert [*statuses(tmp_path)] == ["task-002", "task-010"]
    assert known(tmp_path, "by-agent.json") == {"claude": ["task-002/001", "task-010/001"]}


def test_what_is_no_task_is_left_out(tmp_path: Path) -> None:
    play(begin(tmp_path, "fix it"), "steady")
    tasks = ralph_folder(tmp_path) / "tasks"
    (tasks / "task-002").mkdir()
    (tasks / "task-003").write_text("a file")
    (tasks / "task-004").symlink_to(tasks / "task-001")
    (tasks / "notes").mkdir()
    (tasks / "task-005" / "attempts" / "001").mkdir(parents=True)
    (tasks / "task-005" / "attempts" / "001" / "events.jsonl").write_text("garbage\n")
    assert [*statuses(tmp_path)] == ["task-001"]
    half = tasks / "task-006"
    shutil.copytree(tasks / "task-001", half)
    (half / "summary.json").unlink()
    assert statuses(tmp_path)["task-006"] == "completed", "its attempt says the rest"


def test_names_in_the_index_lead_nowhere(tmp_path: Path) -> None:
    """Anyone who can write the records can write the index."""
    attempt = begin(tmp_path, "fix it")
    play(attempt, "steady")
    index_of(tmp_path).read()
    path = ralph_folder(tmp_path) / "index" / "tasks.json"
    table = TaskTable.read(path)
    assert table is not None
    table.rows["../../away"] = table.rows["task-001"]
    table.open = {"../../away"}
    path.write_text(table.text())
    assert [*index_of(tmp_path).read()] == ["task-001"]
    play(begin(tmp_path, "fix it"), "steady")
    assert [*index_of(tmp_path).read()] == ["task-001"]


def test_who_may_not_write_reads_all_the_same(tmp_path: Path) -> None:
    play(begin(tmp_path, "fix it"), "steady")
    folder = ralph_folder(tmp_path) / "index"
    shutil.rmtree(folder)
    folder.write_text("a file is in the way")
    assert statuses(tmp_path) == {"task-001": "completed"}


def test_without_any_task_there_is_none(tmp_path: Path) -> None:
    assert index_of(tmp_path).read() == {}
    assert not (tmp_path / ".aiwg").exists()
    (ralph_folder(tmp_path) / "tasks").mkdir(parents=True)
    assert index_of(tmp_path).read() == {}
    index_of(tmp_path).rebuild()
    assert index_of(tmp_path).read() == {}


def test_a_writer_that_stands_still_is_not_waited_for_without_end(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path), pytest.raises(OSError, match="another process"), locked(path, 0.05):
        pass
    with locked(path, 0.05):
        path.unlink()
        with locked(path, 0.05):
            pass


def test_what_a_killed_writer_has_left_goes_with_the_next_write(tmp_path: Path) -> None:
    attempt = begin(tmp_path, "fix it")
    play(attempt, "running")
    index = ralph_folder(tmp_path) / "index"
    old, fresh = index / ".tasks.json.0123abcd.tmp", index / ".tasks.json.4567cdef.tmp"
    for path in (old, fresh):
        path.write_text("{")
    os.utime(old, (0, 0))
    play(attempt, "paused")
    assert [path for path in (old, fresh) if path.exists()] == [fresh]


def test_a_living_run_writes_it_when_its_status_changes_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt = begin(tmp_path, "fix it")
    play(attempt, "running")
    wrote: list[Path] = []
    real = write.put

    def noted(path: Path, content: Any) -> list[Path]:
        wrote.append(path)
        return real(path, content)

    monkeypatch.setattr("ralph_tui.adapters.records.task_index.put", noted)
    play(attempt, "running")
    assert wrote == []
    play(attempt, "paused")
    assert wrote


def test_ten_thousand_tasks_are_read_in_50_ms(tmp_path: Path) -> None:
    rows = {
        "metadata.json": {"description": "Fix the failing parser tests of a module", "status": "x"}
        | {"total_attempts": 1, "created": "2026-01-01T00:00:00Z", "updated": "2026-01-01"},
        "summary.json": {"iterations": 7, "best_completion": 91.5, "cost_usd": 1.25},
        "trajectory.json": {"attempts": [{"attempt_id": 1, "agent": "claude"}]},
    }
    tasks = ralph_folder(tmp_path) / "tasks"
    (tasks / "task-001").mkdir(parents=True)
    for name, content in rows.items():
        (tasks / "task-001" / name).write_text(json.dumps(content))
    index_of(tmp_path).read()
    path = ralph_folder(tmp_path) / "index" / "tasks.json"
    table = TaskTable.read(path)
    assert table is not None
    for number in range(2, 10_001):
        name = f"task-{number:03}"
        (tasks / name).mkdir()
        table.rows[name] = table.rows["task-001"]
    table.listed = tasks.stat().st_mtime_ns
    path.write_text(table.text())
    with counted() as steps:
        assert len(index_of(tmp_path).read()) == 10_000
    assert steps.count < 10 * 10_000, "a few calls a task, and no file of its own"
