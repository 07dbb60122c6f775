"""A run's ``ralph-state.json``: merged with others' writes without losing any."""

import json
import multiprocessing
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.adapters.records.state_file import RunStateFile
from ralph_tui.adapters.workspace.private_repository import is_own
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.adapters.workspace.snapshots import GitWorkspace
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.base.file_lock import locked
from ralph_tui.layers.context.loop_state import merge
from ralph_tui.layers.context.state_file import parse, read
from ralph_tui.layers.sensor.plan import Progress
from tests.rows import each_row
from tests.waiting import PATIENCE_S

NAME = ".claude/ralph-state.json"
FIELDS: dict[str, Any] = {
    "driven_by": "ralph-tui",
    "run_id": "r1",
    "objective": "Fix it",
    "iteration": 1,
    "status": "running",
    "context_history": [],
}


def file_of(root: Path, plan: Progress | None = None) -> RunStateFile:
    return RunStateFile(root, NAME, lambda: plan)


def state(root: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((root / NAME).read_bytes())
    return found


def entry(iteration: int, peak: int) -> dict[str, Any]:
    return {"iteration": iteration, "peak_percent": peak, "checkpoint": False}


def test_it_is_made_with_all_the_fields(tmp_path: Path) -> None:
    assert file_of(tmp_path).keep(FIELDS) == []
    found = state(tmp_path)
    assert not parse((tmp_path / NAME).read_bytes()).problems
    assert (found["objective"], found["no_change_count"], found["todo_items"]) == ("Fix it", 0, [])


def test_what_others_add_stays(tmp_path: Path) -> None:
    plan = Progress(0, 2, (("one", False), ("two", False)))
    file = RunStateFile(tmp_path, NAME, lambda: plan)
    file.keep(FIELDS | {"context_history": [entry(1, 40)]})
    found = state(tmp_path)
    found["linear_issue"] = {"id": "ENG-7"}
    found["todo_items"].append("mine")
    found["context_history"].append(entry(99, 10))
    (tmp_path / NAME).write_text(json.dumps(found))
    plan = Progress(1, 2, (("one", True), ("two", False)))
    assert file.keep(FIELDS | {"iteration": 2, "context_history": [entry(1, 62)]}) == []
    found = state(tmp_path)
    assert found["linear_issue"] == {"id": "ENG-7"}
    assert (found["todo_items"], found["completed_items"]) == (["two", "mine"], ["one"])
    assert found["context_history"] == [entry(99, 10), entry(1, 62)]
    assert found["iteration"] == 2


def test_a_resumed_run_goes_on_with_its_own(tmp_path: Path) -> None:
    file_of(tmp_path).keep(FIELDS | {"context_history": [entry(1, 40)]})
    (tmp_path / NAME).write_text(json.dumps(state(tmp_path) | {"mine": 1}))
    assert file_of(tmp_path).keep(FIELDS | {"context_history": [entry(1, 50)]}) == []
    assert state(tmp_path)["context_history"] == [entry(1, 50)]
    assert state(tmp_path)["mine"] == 1


@each_row("content", [b"garbage", b"[1]", b"", b"\xff\xfe", b"[" * 9000])
def test_garbage_is_set_aside_with_its_date(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / NAME).write_bytes(content)
    [sentence] = file_of(tmp_path).keep(FIELDS)
    assert sentence.startswith(f"{NAME} was not a state file (")
    [aside] = (tmp_path / ".claude").glob("ralph-state.json.*.bad")
    assert sentence.endswith(f"saved as {aside.name}")
    assert aside.read_bytes() == content
    assert state(tmp_path)["objective"] == "Fix it"


def test_a_field_of_no_use_is_told_and_the_rest_stays(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / NAME).write_text(json.dumps({"todo_items": 3, "mine": 1, "run_id": "r1"}))
    [sentence] = file_of(tmp_path).keep(FIELDS)
    assert "`todo_items` is not a list" in sentence
    assert state(tmp_path)["mine"] == 1
    assert len(list((tmp_path / ".claude").glob("*.bad"))) == 1


def test_a_loop_of_others_that_has_not_ended_is_kept(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    theirs = json.dumps({"objective": "Theirs", "status": "running", "iteration": 4})
    (tmp_path / NAME).write_text(theirs)
    [sentence] = file_of(tmp_path).keep(FIELDS)
    assert "belonged to another loop and was saved as" in sentence
    [kept] = (tmp_path / ".claude").glob("*.bak")
    assert kept.read_text() == theirs
    (tmp_path / NAME).write_text(json.dumps({"objective": "Theirs", "status": "completed"}))
    assert file_of(tmp_path).keep(FIELDS) == []


def test_what_is_in_the_way_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / ".claude").write_text("x")
    with pytest.raises(WorkspaceError, match=rf"^the state file {NAME} cannot be written: "):
        file_of(tmp_path).keep(FIELDS)
    (tmp_path / ".claude").unlink()
    (tmp_path / NAME).mkdir(parents=True)
    with pytest.raises(WorkspaceError, match="it is a folder"):
        file_of(tmp_path).keep(FIELDS)
    (tmp_path / NAME).rmdir()
    os.mkfifo(tmp_path / NAME)
    with pytest.raises(WorkspaceError, match="it is a FIFO"):
        file_of(tmp_path).keep(FIELDS)


def test_no_link_is_followed(tmp_path: Path) -> None:
    root, away = tmp_path / "root", tmp_path / "away"
    root.mkdir()
    away.mkdir()
    (root / ".claude").symlink_to(away)
    with pytest.raises(WorkspaceError, match="is a link"):
        file_of(root).keep(FIELDS)
    assert not list(away.iterdir())


def _count(root: Path, times: int) -> None:
    """Another program that respects the lock."""
    path = root / NAME
    for _ in range(times):
        with locked(path.with_name(f".{path.name}.lock")):
            found = json.loads(path.read_bytes())
            found["theirs"] = found.get("theirs", 0) + 1
            fresh = path.with_name(".fresh")
            fresh.write_text(json.dumps(found))
            fresh.replace(path)


def test_writers_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    file = file_of(tmp_path)
    file.keep(FIELDS)
    others = [
        multiprocessing.get_context("fork").Process(target=_count, args=(tmp_path, 40))
        for _ in range(2)
    ]
    for other in others:
        other.start()
    for iteration in range(2, 42):
        file.keep(FIELDS | {"iteration": iteration})
    for other in others:
        other.join(PATIENCE_S)
        assert other.exitcode == 0
    assert (state(tmp_path)["theirs"], state(tmp_path)["iteration"]) == (80, 41)


def test_it_is_no_work_of_the_agents(git_repo: Path) -> None:
    """In neither a snapshot nor the changes, committed or not."""
    workspace = GitWorkspace(open_repository(git_repo), "run")
    first = workspace.snapshot(1, "one")
    file_of(git_repo).keep(FIELDS)
    (git_repo / "new.py").write_text("x")
    second = workspace.snapshot(2, "two")
    assert [change.path for change in workspace.changes(first.tree, second.tree)] == ["new.py"]
    assert [change.path for change in workspace.changes(first.tree)] == ["new.py"]
    workspace.restore(first.tree)
    assert state(git_repo)["objective"] == "Fix it"
    workspace.close()
    for path in (NAME, ".claude/.ralph-state.json.lock", "ralph-state.json.x.bad"):
        assert is_own(path)
    for path in ("ralph-state.py", "my-ralph-state.json", "ralph-state.json5", ".claude/x"):
        assert not is_own(path)


texts = st.lists(st.sampled_from("abcdef"), unique=True, max_size=4)


@given(texts, texts, texts, st.dictionaries(st.sampled_from("xyz"), st.integers(), max_size=2))
def test_a_merge_loses_no_item_and_repeats_none(
    before: list[str], now: list[str], added: list[str], others: dict[str, int]
) -> None:
    ours = FIELDS | {"todo_items": now, "completed_items": []}
    earlier = FIELDS | {"todo_items": before, "completed_items": []}
    there = read(earlier | others).state
    there["todo_items"] = [*before, *(item for item in added if item not in before)]
    state = merge(there, earlier, ours)
    assert set(now) <= set(state["todo_items"])
    assert set(added) - set(before) <= set(state["todo_items"])
    assert len(state["todo_items"]) == len(set(state["todo_items"]))
    assert {name: state[name] for name in others} == others
