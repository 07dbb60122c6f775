"""Attempts and runs on disk: numbering, metadata, and what the command line calls RUN."""

import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ralph_tui.errors import UsageError, WorkspaceError
from ralph_tui.records.attempts import AttemptFolder
from ralph_tui.records.runs import find_runs, resolve_run
from ralph_tui.records.worktree import worktree_root

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def record(root: Path, description: str, age: int = 0) -> AttemptFolder:
    attempt = AttemptFolder.create(root, description, NOW)
    attempt.journal.write_text("{}\n")
    os.utime(attempt.journal, (1000 - age, 1000 - age))
    return attempt


def test_the_same_description_is_a_new_attempt_and_another_a_new_task(tmp_path: Path) -> None:
    names = [record(tmp_path, text).name for text in ("fix it", "build it", "fix it")]
    assert names == ["task-001/001", "task-002/001", "task-001/002"]
    metadata = json.loads((tmp_path / ".aiwg/ralph/tasks/task-001/metadata.json").read_text())
    assert metadata["description"] == "fix it"
    assert metadata["status"] == "running"
    assert (metadata["current_attempt"], metadata["total_attempts"]) == (2, 2)


def test_the_end_is_told_in_the_words_of_the_episodic_schema(tmp_path: Path) -> None:
    attempt = record(tmp_path, "fix it")
    path = attempt.task_folder / "metadata.json"
    attempt.finish("limit_reached", NOW)
    assert json.loads(path.read_text())["status"] == "failed"
    attempt.finish("completed", NOW)
    assert json.loads(path.read_text())["status"] == "completed"
    assert json.loads(path.read_text())["completed"] == "2026-01-01T00:00:00Z"


def test_records_stay_out_of_git_status(git_repo: Path) -> None:
    record(git_repo, "fix it").iteration_folder(1)
    done = subprocess.run(
        ["git", "status", "--porcelain", "-uall"],
        cwd=git_repo,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == ""


def test_secrets_of_the_description_and_the_prompt_stay_off_the_disk(tmp_path: Path) -> None:
    secret = "sk-" + "a1b2c3d4" * 4
    attempt = record(tmp_path, f"use {secret}")
    attempt.write_prompt(1, f"use {secret}")
    everything = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    assert secret.encode() not in everything


def test_garbage_metadata_costs_nothing(tmp_path: Path) -> None:
    attempt = record(tmp_path, "fix it")
    (attempt.task_folder / "metadata.json").write_text("\xff garbage")
    assert record(tmp_path, "fix it").name == "task-002/001"
    attempt.finish("completed", NOW)
    assert json.loads((attempt.task_folder / "metadata.json").read_text())["id"] == "task-001"


def test_an_unwritable_folder_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / ".aiwg").write_text("a file is in the way")
    with pytest.raises(WorkspaceError, match="make the folder writable"):
        AttemptFolder.create(tmp_path, "fix it", NOW)


def test_a_run_is_named_in_many_ways(tmp_path: Path) -> None:
    first, other, second = (record(tmp_path, text) for text in ("fix it", "build it", "fix it"))
    os.utime(other.journal, (2000, 2000))
    assert [run.name for run in find_runs(tmp_path)] == [
        "task-001/001",
        "task-001/002",
        "task-002/001",
    ]
    assert resolve_run(tmp_path, None).folder == other.folder, "the newest"
    assert resolve_run(tmp_path, "task-001").folder == second.folder
    assert resolve_run(tmp_path, "task-001/001").folder == first.folder
    assert resolve_run(tmp_path, str(first.folder)).journal == first.journal
    assert resolve_run(tmp_path, str(first.journal)).folder == first.folder
    assert resolve_run(tmp_path, "task-001").lock == tmp_path / ".aiwg/ralph/lock"


def test_an_unknown_run_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no run was recorded"):
        resolve_run(tmp_path, None)
    record(tmp_path, "fix it")
    with pytest.raises(UsageError, match=r"no run 'nope' here; known runs: task-001/001"):
        resolve_run(tmp_path, "nope")


def test_the_worktree_is_found_from_below(tmp_path: Path) -> None:
    (tmp_path / "a" / ".git").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    assert worktree_root(tmp_path / "a" / "b" / "c") == tmp_path / "a"
    assert worktree_root(tmp_path / "a") == tmp_path / "a"
