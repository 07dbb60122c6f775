"""Attempts and runs on disk: numbering, metadata, and how the command line names a RUN."""

import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ralph_tui.adapters.records.aiwg.write import SCHEMA
from ralph_tui.adapters.records.attempts import AttemptFolder
from ralph_tui.adapters.records.folders import worktree_root
from ralph_tui.adapters.records.runs import find_runs, resolve_run
from ralph_tui.base.errors import UsageError, WorkspaceError
from ralph_tui.events import RunFinished, RunStarted
from ralph_tui.layers.sensor.gate import GateResult
from ralph_tui.state import RunState

NOW = datetime(2026, 1, 1, tzinfo=UTC)
END = datetime(2026, 3, 14, 10, tzinfo=UTC)


def record(root: Path, description: str, age: int = 0) -> AttemptFolder:
    attempt = AttemptFolder.create(root, description, NOW)
    attempt.journal.write_text("{}\n")
    os.utime(attempt.journal, (1000 - age, 1000 - age))
    return attempt


def end(attempt: AttemptFolder, outcome: str) -> str:
    """End the run this way; return its task's status."""
    start = RunStarted(
        seq=1,
        at=NOW,
        run_id="r",
        task=attempt.task,
        attempt=attempt.attempt,
        root="/r",
        objective=attempt.description,
        agent="fake",
        max_iterations=3,
        session_timeout_s=60,
    )
    last = RunFinished.model_validate(
        {"seq": 2, "at": END, "outcome": outcome, "reason": "", "iterations": 0, "completion": 0}
    )
    attempt.write_projections(attempt.project(RunState().apply_all([start, last])))
    return str(json.loads((attempt.task_folder / "metadata.json").read_text())["status"])


def test_the_same_description_is_a_new_attempt_and_another_a_new_task(tmp_path: Path) -> None:
    names = [record(tmp_path, text).name for text in ("fix it", "build it", "fix it")]
    assert names == ["task-001/001", "task-002/001", "task-001/002"]
    metadata = json.loads((tmp_path / ".aiwg/ralph/tasks/task-001/metadata.json").read_text())
    assert metadata["description"] == "fix it"
    assert metadata["status"] == "running"
    assert (metadata["current_attempt"], metadata["total_attempts"]) == (2, 2)


def test_what_stands_in_the_way_of_the_index_is_named_and_no_attempt_begun(tmp_path: Path) -> None:
    record(tmp_path, "fix it")
    lock = tmp_path / ".aiwg/ralph/index/.lock"
    lock.unlink()
    lock.mkdir()
    with pytest.raises(WorkspaceError, match=r"cannot write to .*/index/\.lock: it is a folder, "):
        record(tmp_path, "fix it")
    with pytest.raises(WorkspaceError):
        record(tmp_path, "build it")
    tasks = tmp_path / ".aiwg/ralph/tasks"
    assert [path.name for path in tasks.iterdir()] == ["task-001"]
    assert [path.name for path in (tasks / "task-001/attempts").iterdir()] == ["001"]


def test_the_end_is_told_in_the_words_of_the_episodic_schema(tmp_path: Path) -> None:
    attempt = record(tmp_path, "fix it")
    path = attempt.task_folder / "metadata.json"
    fields = {
        outcome: end(attempt, outcome)
        for outcome in ("limit_reached", "aborted", "failed", "interrupted", "completed")
    }
    assert set(fields.values()) == {"failed", "completed"}
    assert fields["completed"] == "completed"
    assert json.loads(path.read_text())["completed"] == "2026-03-14T10:00:00Z"


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


def test_a_prompt_that_a_session_got_is_never_written_over(tmp_path: Path) -> None:
    attempt = record(tmp_path, "fix it")
    first = attempt.write_prompt(1, "one")
    assert attempt.write_prompt(1, "one, and more", attempt.relative(first)) == first
    assert [attempt.write_prompt(1, word).name for word in ("two", "three")] == [
        "prompt-2.md",
        "prompt-3.md",
    ]
    folder = attempt.iteration_folder(1)
    (folder / "prompt-2.md").unlink()
    (folder / "prompt-x.md").touch()
    assert attempt.write_prompt(1, "four").name == "prompt-4.md"
    assert first.read_text() == "one, and more"
    assert attempt.write_prompt(2, "one").name == "prompt.md"


def test_a_file_of_an_iteration_is_replaced_and_garbage_in_its_place_is_kept(
    tmp_path: Path,
) -> None:
    attempt, secret = record(tmp_path, "fix it"), "sk-" + "a1b2c3d4" * 4
    written = attempt.write_iteration_file(3, "next-prompt.md", f"use {secret}")
    assert attempt.relative(written) == "results/iter-003/next-prompt.md"
    assert secret not in written.read_text()
    attempt.write_iteration_file(3, "next-prompt.md", "without")
    assert written.read_text() == "without"
    garbage = attempt.iteration_folder(3) / "assessment.json"
    garbage.write_bytes(b"\xff{")
    attempt.write_iteration_file(3, "assessment.json", {"phase": "mid"})
    assert json.loads(garbage.read_text()) == {"version": SCHEMA, "phase": "mid"}
    (kept,) = garbage.parent.glob("assessment.json.*.bad")
    assert kept.read_bytes() == b"\xff{"


def test_of_a_gate_that_did_not_run_no_exit_code_is_kept(tmp_path: Path) -> None:
    attempt = record(tmp_path, "fix it")
    attempt.write_verification(1, GateResult(ok=False, exit_code=None, timed_out=True))
    kept = json.loads((attempt.iteration_folder(1) / "verification.json").read_text())
    assert kept["timed_out"] is True
    assert not {"exit_code", "counts"} & kept.keys()


def test_garbage_metadata_costs_nothing(tmp_path: Path) -> None:
    """The attempts know the task's objective."""
    attempt = record(tmp_path, "fix it")
    (attempt.task_folder / "metadata.json").write_bytes(b"\xff garbage")
    again = record(tmp_path, "fix it")
    assert again.name == "task-001/002"
    metadata = json.loads((attempt.task_folder / "metadata.json").read_text())
    assert (metadata["id"], metadata["total_attempts"]) == ("task-001", 2)
    [aside] = attempt.task_folder.glob("metadata.json.*.bad")
    assert aside.read_bytes() == b"\xff garbage"


def test_a_task_of_which_nothing_can_be_read_is_left_alone(tmp_path: Path) -> None:
    attempt = record(tmp_path, "fix it")
    for path in (attempt.task_folder / "metadata.json", attempt.folder / "attempt.json"):
        path.write_text("[" * 100_000)
    assert record(tmp_path, "fix it").name == "task-002/001"
    assert (attempt.task_folder / "metadata.json").read_text() == "[" * 100_000


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
    assert resolve_run(tmp_path, str(second.task_folder)).folder == second.folder
    assert resolve_run(tmp_path, "task-001/001").folder == first.folder
    assert resolve_run(tmp_path, str(first.folder)).journal == first.journal
    assert resolve_run(tmp_path, str(first.journal)).folder == first.folder
    assert resolve_run(tmp_path, "task-001").lock == tmp_path / ".aiwg/ralph/lock"


def test_an_unknown_run_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no run recorded .* not in a git repository"):
        resolve_run(tmp_path, None)
    (tmp_path / ".git").mkdir()
    with pytest.raises(UsageError, match=r"no run recorded .* start one with 'ralph-tui run'"):
        resolve_run(tmp_path, None)
    record(tmp_path, "fix it")
    with pytest.raises(UsageError, match=r"no run 'nope' here; known runs: task-001/001"):
        resolve_run(tmp_path, "nope")


def test_the_worktree_is_found_from_below(tmp_path: Path) -> None:
    (tmp_path / "a" / ".git").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    assert worktree_root(tmp_path / "a" / "b" / "c") == tmp_path / "a"
    assert worktree_root(tmp_path / "a") == tmp_path / "a"
