"""Checkpoint files: form on disk, numbers, and omission of unknown values."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ralph_tui.adapters.records.aiwg import checkpoint_files
from ralph_tui.adapters.records.aiwg.checkpoint_files import (
    AiwgCheckpointFiles,
    CheckpointData,
    CheckpointManager,
    GitCounts,
    Probes,
    read_checkpoints,
    scan_aiwg,
    summarize,
)
from ralph_tui.adapters.records.aiwg.write import SCHEMA
from ralph_tui.adapters.workspace import git_status as readings
from ralph_tui.adapters.workspace.git_status import GitStatus, git_status
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.events.workspace import Trigger
from ralph_tui.ports.records import CheckpointFacts
from ralph_tui.text.format import duration
from tests.rows import each_row
from tests.world import FakeClock
from tests.world.records import FakeRecords

FOLDER = Path(".aiwg/ralph/tasks/task-001/attempts/001/results/iter-001")


def manager(root: Path, clock: FakeClock, session: str = "abc") -> CheckpointManager:
    return CheckpointManager(root / FOLDER, root, clock, session_id=session)


def git_of(root: Path) -> Callable[[], GitStatus]:
    repository = open_repository(root)
    return lambda: git_status(repository)


def facts(number: int, duration_s: float = 0.0, memory: int = 0) -> CheckpointFacts:
    return CheckpointFacts(1, number, "timer", "abc", duration_s, memory)


def test_a_checkpoint_on_disk_has_the_fields_of_its_family(git_repo: Path) -> None:
    (git_repo / ".aiwg/planning").mkdir(parents=True)
    (git_repo / ".aiwg/planning/iteration-1.md").write_text("x" * 1024)
    (git_repo / "README.md").write_text("changed")
    (git_repo / "new.py").write_text("new")
    (git_repo / "staged.py").write_text("staged")
    subprocess.run(["git", "add", "staged.py"], cwd=git_repo, check=True)
    clock = FakeClock()
    checkpoints = manager(git_repo, clock, "abc123-def456")
    clock.seconds = 3600
    checkpoints.capture(facts(3, 3600.0, 104857600), git_of(git_repo))
    path = checkpoints.folder / "checkpoints/003-checkpoint.json"
    assert json.loads(path.read_text()) == {
        "version": SCHEMA,
        "number": 3,
        "timestamp": "2026-01-01T01:00:00.000Z",
        "duration": 3_600_000,
        "sessionId": "abc123-def456",
        "gitStatus": {
            "branch": "main",
            "modified": ["README.md"],
            "untracked": [".aiwg/planning/iteration-1.md", "new.py"],
            "staged": ["staged.py"],
        },
        "aiwgState": {
            "files": ["planning/iteration-1.md"],
            "sizes": {"planning/iteration-1.md": 1024},
        },
        "filesModified": ["README.md", "staged.py"],
        "memory": {"heapUsed": 0, "rss": 104857600},
    }


def test_what_was_ever_modified_in_the_session_is_told(git_repo: Path) -> None:
    clock = FakeClock()
    checkpoints = manager(git_repo, clock)
    assert checkpoints.capture(facts(1), git_of(git_repo)).number == 1
    (git_repo / "README.md").write_text("changed")
    assert checkpoints.capture(facts(2), git_of(git_repo)).files_modified == ["README.md"]
    subprocess.run(["git", "checkout", "-q", "README.md"], cwd=git_repo, check=True)
    last = checkpoints.capture(facts(3, 90.5), git_of(git_repo))
    assert (last.number, last.duration) == (3, 90_500)
    assert last.files_modified == ["README.md"], "cumulative, although it is as it was"
    assert {path.name for path in (checkpoints.folder / "checkpoints").iterdir()} == {
        "001-checkpoint.json",
        "002-checkpoint.json",
        "003-checkpoint.json",
    }


@pytest.mark.parametrize("listed", [1000, 1])
def test_the_summary_counts_each_checkpoint_and_names_every_file(
    git_repo: Path, monkeypatch: pytest.MonkeyPatch, listed: int
) -> None:
    """Files that are not listed, because there are too many, count too."""
    monkeypatch.setattr(readings, "MAX_PATHS", listed)
    monkeypatch.setattr(checkpoint_files, "MAX_FILES", listed)
    checkpoints = manager(git_repo, FakeClock())
    checkpoints.capture(facts(1, 1.5), git_of(git_repo))
    (git_repo / "README.md").write_text("changed")
    (git_repo / "new.py").write_text("new")
    for name in ("notes.md", "spec.md"):
        (git_repo / ".aiwg" / name).write_text("notes")
    checkpoints.capture(facts(2, 60.0), git_of(git_repo))
    (checkpoints.folder / "checkpoints/003-checkpoint.json").write_text("{")
    found = read_checkpoints(checkpoints.folder)
    assert [one.number for one in found] == [1, 2], "a damaged file is left out"
    status = summarize(found).as_json()
    told = [(one["number"], one["duration"], one["filesModified"]) for one in status["checkpoints"]]
    assert told == [(1, 1500, 0), (2, 60_000, 1)]
    last = status["checkpoints"][-1]
    assert last["aiwgFiles"] == 2
    assert last["gitStatus"] == {"modified": 1, "staged": 0, "untracked": 3}
    assert (status["total"], status["totalDuration"]) == (2, 60_000)
    assert status["filesModified"] == ["README.md"]
    records = FakeRecords()
    records.folder = git_repo / FOLDER.parents[1]
    probes = Probes(git_of(git_repo), lambda: 0, lambda before, after: [])
    files = AiwgCheckpointFiles(records, git_repo, FakeClock(), probes, plan="", command="")
    files.capture(CheckpointFacts(1, 4, "start", "abc", 0.0, 0))
    subprocess.run(["git", "checkout", "-q", "README.md"], cwd=git_repo, check=True)
    files.capture(CheckpointFacts(1, 5, "timer", "abc", 0.0, 0))
    for name in ("spare.py", "staged.py"):
        (git_repo / name).write_text("staged")
        subprocess.run(["git", "add", name], cwd=git_repo, check=True)
    (git_repo / "staged.py").write_text("staged, then modified")
    files.capture(CheckpointFacts(1, 6, "end", "def", 0.0, 0))
    status = json.loads((checkpoints.folder / "checkpoint-summary.json").read_text())
    counted = [(one["number"], one["filesModified"]) for one in status["checkpoints"]]
    assert counted == [(1, 0), (2, 1), (4, 1), (5, 1), (6, 2)], "each in its own session so far"
    assert status["filesModified"] == ["README.md", "spare.py", "staged.py"], "of both sessions"
    last = status["checkpoints"][-1]
    assert last["gitStatus"] == {"modified": 1, "staged": 2, "untracked": 3}
    for name in ("README.md", "staged.py"):
        (git_repo / name).write_text("changed since")
    for number in (101, 1000):
        manager(git_repo, FakeClock()).capture(facts(number), git_of(git_repo))
    rows = summarize(read_checkpoints(checkpoints.folder)).as_json()["checkpoints"]
    assert [one["number"] for one in rows] == [1, 2, 4, 5, 6, 101, 1000]
    assert rows[-1]["gitStatus"] == {"modified": 2, "staged": 2, "untracked": 3}


def test_what_git_refuses_is_written_into_the_checkpoint(git_repo: Path) -> None:
    checkpoints = manager(git_repo, FakeClock())
    (git_repo / ".git/index").write_text("garbage")
    data = checkpoints.capture(facts(1), git_of(git_repo))
    assert data.git_status.error is not None
    assert "status" in data.git_status.error
    stored = json.loads((checkpoints.folder / "checkpoints/001-checkpoint.json").read_text())
    assert stored["gitStatus"]["error"] == data.git_status.error
    assert CheckpointData.model_validate(stored) == data


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_cannot_be_read_is_written_into_the_checkpoint(git_repo: Path) -> None:
    locked = git_repo / ".aiwg/locked"
    locked.mkdir(parents=True)
    locked.chmod(0)
    try:
        assert "locked" in (scan_aiwg(git_repo).error or "")
    finally:
        locked.chmod(0o700)


def test_a_look_at_aiwg_is_bounded_and_follows_no_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = tmp_path / ".aiwg"
    (top / "ralph/tasks").mkdir(parents=True)
    (top / "ralph/lock").write_text("ours")
    (top / "knowledge").mkdir()
    (top / "knowledge/staging.json").write_text("ours, too")
    (top / "around").symlink_to(tmp_path, target_is_directory=True)
    for name in ("a/ralph/x", "b/y", "z"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(name)
    seen = scan_aiwg(tmp_path)
    assert (seen.files, seen.error) == (["a/ralph/x", "b/y", "z"], None)
    monkeypatch.setattr("ralph_tui.adapters.records.aiwg.forms.MAX_SCANNED", 2)
    assert len(scan_aiwg(tmp_path).files) == 2
    assert "only 2 files" in (scan_aiwg(tmp_path).error or "")
    assert scan_aiwg(tmp_path / "nothing").error is None


def test_a_checkpoint_that_cannot_be_written_is_one_sentence(git_repo: Path) -> None:
    checkpoints = manager(git_repo, FakeClock())
    checkpoints.folder.mkdir(parents=True)
    (checkpoints.folder / "checkpoints").write_text("in the way")
    with pytest.raises(WorkspaceError, match=r"cannot write the checkpoint .* make the folder"):
        checkpoints.capture(facts(1), git_of(git_repo))


def test_names_are_foreign_text(git_repo: Path) -> None:
    (git_repo / "a\x1b[31m\nb").write_text("x")
    Path(os.fsdecode(os.fsencode(git_repo) + b"/caf\xe9")).write_text("x")
    data = manager(git_repo, FakeClock()).capture(facts(1), git_of(git_repo))
    assert data.git_status.untracked == ["a\\x1b[31m\\nb", "caf\\xe9"]


def test_long_lists_say_how_many_more_there_are(
    git_repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readings, "MAX_PATHS", 2)
    for number in range(5):
        (git_repo / f"{number}.txt").write_text("x")
    status = manager(git_repo, FakeClock()).capture(facts(1), git_of(git_repo)).git_status
    assert status.untracked == ["0.txt", "1.txt"]
    assert status.omitted == {"untracked": 3}
    monkeypatch.setattr(readings, "MAX_PATHS", 0)
    (git_repo / "README.md").write_text("changed")
    status = manager(git_repo, FakeClock()).capture(facts(2), git_of(git_repo)).git_status
    assert status.omitted == {"modified": 1, "untracked": 5}
    assert status.counts == GitCounts(modified=1, staged=0, untracked=5)


def test_git_is_asked_once_at_each_moment(git_repo: Path) -> None:
    asked = list[int]()

    def read() -> GitStatus:
        asked.append(1)
        return GitStatus(branch="main")

    records = FakeRecords()
    records.folder = git_repo / FOLDER.parents[1]
    probes = Probes(read, lambda: 0, lambda before, after: [])
    written = AiwgCheckpointFiles(records, git_repo, FakeClock(), probes, plan="", command="")
    triggers: tuple[Trigger, ...] = ("start", "timer", "end")
    for number, trigger in enumerate(triggers, 1):
        written.capture(CheckpointFacts(1, number, trigger, "abc", 0.0, 0))
        assert len(asked) == number


@each_row(("milliseconds", "words"), [(5_400_000, "1h 30m"), (90_000, "1m 30s"), (5_000, "5s")])
def test_durations_read_as_people_write_them(milliseconds: int, words: str) -> None:
    assert duration(milliseconds / 1000) == words
