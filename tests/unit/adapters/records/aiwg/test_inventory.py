"""Inventories before and after a session, on real repositories."""

import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ralph_tui.adapters.records.aiwg.inventory import (
    Inventory,
    diff,
    key_files,
    take_inventory,
    write_diff,
    write_inventory,
)
from ralph_tui.adapters.workspace.git_status import (
    _MAY_BE_TEST,
    commits_between,
    git_status,
    list_test_files,
)
from ralph_tui.adapters.workspace.repository import Repository, open_repository
from ralph_tui.events.workspace import FileChange
from ralph_tui.layers.sensor.categories import categorize

NOW = datetime(2026, 1, 18, 14, 30, tzinfo=UTC)
IDENTITY = ("-c", "user.name=Test", "-c", "user.email=test@example.com")


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *IDENTITY, *arguments], cwd=root, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commit(root: Path, subject: str) -> str:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", subject)
    return git(root, "rev-parse", "HEAD")


def read(root: Path, after_s: float = 0.0, **options: str) -> Inventory:
    repository = open_repository(root)
    return take_inventory(
        root,
        NOW + timedelta(seconds=after_s),
        read_git=lambda: git_status(repository),
        count_tests=lambda: len(list_test_files(repository)),
        **options,
    )


def change(path: str, status: str) -> FileChange:
    return FileChange.model_validate({"path": path, "status": status, "category": categorize(path)})


def test_a_status_tells_every_kind_of_change(git_repo: Path) -> None:
    for name in ("gone", "both", "edited", "unstaged-gone"):
        (git_repo / name).write_text("1\n")
    head = commit(git_repo, "second")
    git(git_repo, "rm", "-q", "gone")
    (git_repo / "both").write_text("2\n")
    (git_repo / "a b\nc").write_text("x")
    git(git_repo, "add", "both", "a b\nc")
    (git_repo / "both").write_text("3\n")
    (git_repo / "edited").write_text("2\n")
    (git_repo / "unstaged-gone").unlink()
    (git_repo / "folder").mkdir()
    (git_repo / "folder/new é.py").write_text("x")
    (git_repo / ".aiwg/ralph").mkdir(parents=True)
    (git_repo / ".aiwg/ralph/ours").write_text("x")
    status = git_status(open_repository(git_repo))
    assert (status.branch, status.commit) == ("main", head)
    assert sorted(status.staged) == ["a b\\nc", "both", "gone"]
    assert sorted(status.unstaged) == ["both", "edited", "unstaged-gone"]
    assert status.untracked == ["folder/new é.py"]
    assert status.omitted == {}


def test_a_status_of_difficult_heads(git_repo: Path, tmp_path: Path) -> None:
    git(git_repo, "checkout", "-q", "--detach")
    assert git_status(open_repository(git_repo)).branch == ""
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    git(fresh, "init", "-q")
    status = git_status(open_repository(fresh))
    assert (status.branch, status.commit) == ("main", "")
    assert read(fresh).git.error is None


def test_conflicts_are_unstaged(git_repo: Path) -> None:
    git(git_repo, "checkout", "-q", "-b", "other")
    (git_repo / "README.md").write_text("other\n")
    commit(git_repo, "other")
    git(git_repo, "checkout", "-q", "main")
    (git_repo / "README.md").write_text("main\n")
    commit(git_repo, "main")
    subprocess.run(
        ["git", *IDENTITY, "merge", "-q", "other"], cwd=git_repo, check=False, capture_output=True
    )
    status = git_status(open_repository(git_repo))
    assert (status.unstaged, status.staged) == (["README.md"], [])


def test_commits_between_are_told_newest_first(git_repo: Path) -> None:
    repository = open_repository(git_repo)
    before = git(git_repo, "rev-parse", "HEAD")
    (git_repo / "a").write_text("a")
    first = commit(git_repo, "add a")
    (git_repo / "b").write_text("b")
    second = commit(git_repo, "add b: \x1b[31mred\n\nbody")
    assert commits_between(repository, before, second)[1] == f"{first} add a"
    assert commits_between(repository, before, second)[0].startswith(f"{second} add b")
    assert commits_between(repository, second, second) == []
    assert len(commits_between(repository, "", second)) == 3, "there was no commit before"
    assert commits_between(repository, "0" * 40, second) == [], "history was rewritten"


def test_before_and_after_a_session(git_repo: Path) -> None:
    (git_repo / "pyproject.toml").write_text("[project]\n")
    (git_repo / ".aiwg").mkdir()
    (git_repo / ".aiwg/plan.md").write_text("one")
    (git_repo / ".aiwg/old.md").write_text("old")
    before = read(git_repo)
    (git_repo / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    (git_repo / ".aiwg/plan.md").write_text("one and two")
    (git_repo / ".aiwg/new.md").write_text("new")
    (git_repo / ".aiwg/old.md").unlink()
    (git_repo / "tests").mkdir()
    (git_repo / "tests/test_x.py").write_text("x")
    git(git_repo, "checkout", "-q", "-b", "feature")
    made = commit(git_repo, "the work")
    after = read(git_repo, 90)
    difference = diff(
        before,
        after,
        changes=[
            change("tests/test_x.py", "added"),
            change("pyproject.toml", "modified"),
            change("tests/test_old.py", "deleted"),
        ],
        commits=commits_between(open_repository(git_repo), before.git.commit, after.git.commit),
    )
    assert difference.as_json() == {
        "duration": "1m 30s",
        "durationMs": 90_000,
        "branchChanged": True,
        "branchBefore": "main",
        "branchAfter": "feature",
        "filesAdded": ["tests/test_x.py"],
        "filesModified": ["pyproject.toml"],
        "filesDeleted": ["tests/test_old.py"],
        "keyFilesChanged": ["pyproject.toml"],
        "aiwgArtifactsCreated": [".aiwg/new.md"],
        "aiwgArtifactsUpdated": [".aiwg/plan.md"],
        "aiwgArtifactsDeleted": [".aiwg/old.md"],
        "commitCount": 1,
        "commits": [f"{made} the work"],
        "hasTests": True,
        "testsAdded": ["tests/test_x.py"],
        "testsRemoved": ["tests/test_old.py"],
    }


def test_a_reading_on_disk_is_read_as_it_was(git_repo: Path, tmp_path: Path) -> None:
    (git_repo / ".aiwg").mkdir()
    (git_repo / ".aiwg/plan.md").write_text("one")
    reading = read(git_repo)
    path = write_inventory(tmp_path, "pre", reading)
    stored = json.loads(path.read_text())
    assert path.name == "pre-snapshot.json"
    assert stored["timestamp"] == "2026-01-18T14:30:00.000Z"
    assert stored["git"]["branch"] == "main"
    assert [fact["path"] for fact in stored["keyFiles"]] == ["README.md"]
    difference = diff(Inventory.model_validate(stored), read(git_repo))
    assert (difference.key_files_changed, difference.aiwg_artifacts_updated) == ([], [])
    assert write_inventory(tmp_path, "post", reading).name == "post-snapshot.json"
    assert write_diff(tmp_path, diff(reading, reading)).name == "snapshot-diff.json"
    assert json.loads((tmp_path / "snapshot-diff.json").read_text())["commitCount"] == 0


def test_what_git_cannot_tell_costs_its_own_part_only(git_repo: Path) -> None:
    repository = open_repository(git_repo)
    (git_repo / ".git/index").write_text("garbage")
    reading = take_inventory(
        git_repo,
        NOW,
        read_git=lambda: git_status(repository),
        count_tests=lambda: len(list_test_files(repository)),
    )
    assert "status" in (reading.git.error or "")
    assert [fact.path for fact in reading.key_files] == ["README.md"]


def test_key_files_are_the_manifests_the_plan_and_what_the_command_names(tmp_path: Path) -> None:
    for name in ("package.json", "uv.lock", "check.sh", "TODO.md", "README.rst", "main.py"):
        (tmp_path / name).write_text(name)
    workflows = tmp_path / ".github/workflows"
    workflows.mkdir(parents=True)
    (workflows / "ci.yml").write_text("on: push")
    found = key_files(tmp_path, "TODO.md", "./check.sh && pytest -q")
    assert [fact.path for fact in found] == [
        "TODO.md",
        "check.sh",
        "README.rst",
        "package.json",
        "uv.lock",
        ".github/workflows/ci.yml",
    ]


def test_key_files_stay_inside_and_never_hang(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret").write_text("outside")
    (root / "Makefile").symlink_to(tmp_path / "secret")
    os.mkfifo(root / "package.json")
    (root / "setup.py").mkdir()
    with (root / "go.sum").open("wb") as file:
        file.truncate(5 << 20)
    command = f"../secret {tmp_path}/secret a\0b"
    assert [*key_files(root, "../secret", command)] == []


@pytest.mark.parametrize("link", [False, True])
def test_test_files_are_counted_without_ignored_ones(git_repo: Path, *, link: bool) -> None:
    (git_repo / ".gitignore").write_text("build/\n")
    for name in ("tests/test_a.py", "build/test_b.py", "src/a.py", "src/a.test.ts"):
        (git_repo / name).parent.mkdir(exist_ok=True)
        (git_repo / name).write_text("x")
    if link:
        commit(git_repo, "tracked")
    repository: Repository = open_repository(git_repo)
    assert len(list_test_files(repository)) == 2


@given(path=st.from_regex(r"[a-zA-Z0-9._/-]{1,30}", fullmatch=True))
@example(path="__tests__/a")
@example(path="Spec/a")
@example(path="conftest.py")
@example(path="x/e2e/y")
def test_the_quick_look_misses_no_test_file(path: str) -> None:
    if categorize(path) == "test":
        assert _MAY_BE_TEST.search(path)
