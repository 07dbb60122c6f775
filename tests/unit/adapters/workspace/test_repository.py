"""Opening a repository: its facts, and a one-sentence error for anything else."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ralph_tui.adapters.workspace.git import run_git
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.base.errors import RalphError, UsageError, WorkspaceError


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


def test_facts_from_a_subfolder(git_repo: Path) -> None:
    (git_repo / "a" / "b").mkdir(parents=True)
    repository = open_repository(git_repo / "a" / "b")
    assert repository.root == git_repo
    assert repository.git_dir == repository.common_dir == git_repo / ".git"
    assert repository.branch() == "main"
    assert repository.head() == git(git_repo, "rev-parse", "HEAD")


def test_facts_of_a_linked_worktree(git_repo: Path, tmp_path: Path) -> None:
    git(git_repo, "worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    repository = open_repository(tmp_path / "linked")
    assert repository.git_dir == git_repo / ".git" / "worktrees" / "linked"
    assert repository.common_dir == git_repo / ".git"
    assert repository.branch() is None


def test_facts_without_commits(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    repository = open_repository(tmp_path)
    assert repository.branch() == "main"
    assert repository.head() is None


def test_odd_folder_names(tmp_path: Path) -> None:
    root = tmp_path / 'a "b"\\c\nd ü'
    root.mkdir()
    git(root, "init", "-q")
    assert open_repository(root).root == root


def sentence(raised: pytest.ExceptionInfo[RalphError]) -> str:
    text = str(raised.value)
    assert "\n" not in text
    return text


def test_not_a_repository(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        open_repository(tmp_path)
    assert "is not inside a git repository" in sentence(raised)


def test_a_bare_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare")
    with pytest.raises(UsageError) as raised:
        open_repository(tmp_path)
    assert "bare" in sentence(raised)


def test_not_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        open_repository(tmp_path / "gone")
    assert "is not a folder" in sentence(raised)


def test_git_is_missing(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(git_repo))
    with pytest.raises(WorkspaceError) as raised:
        open_repository(git_repo)
    assert "install git" in sentence(raised)


def test_git_is_missing_from_the_start(git_repo: Path) -> None:
    program = (
        "import sys, pathlib\n"
        "from ralph_tui.base.errors import WorkspaceError\n"
        "from ralph_tui.adapters.workspace.repository import open_repository\n"
        "try: open_repository(pathlib.Path(sys.argv[1]))\n"
        "except WorkspaceError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(git_repo)],
        env=os.environ | {"PATH": str(git_repo)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith("git was not found")
    assert done.stderr == ""


def test_git_is_too_old(git_repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "bin" / "git"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho git version 2.17.1\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{old.parent}:{os.environ['PATH']}")
    with pytest.raises(WorkspaceError) as raised:
        open_repository(git_repo)
    assert "2.17.1 is too old" in sentence(raised)


def test_a_git_that_is_killed_is_told(
    git_repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed, real = tmp_path / "bin" / "git", shutil.which("git")
    killed.parent.mkdir()
    killed.write_text(
        f'#!/bin/sh\ncase $* in *--absolute-git-dir) kill -9 $$;; esac\nexec {real} "$@"\n'
    )
    killed.chmod(0o755)
    monkeypatch.setenv("PATH", f"{killed.parent}:{os.environ['PATH']}")
    with pytest.raises(WorkspaceError) as raised:
        open_repository(git_repo)
    text = f"git rev-parse was terminated by signal 9 in {git_repo}; try again"
    assert sentence(raised) == text


def test_a_failing_command_is_one_sentence(git_repo: Path) -> None:
    with pytest.raises(WorkspaceError) as raised:
        run_git(git_repo, "rev-parse", "--verify", "no-such-thing")
    assert sentence(raised).startswith("git rev-parse failed in ")


def test_importing_leaves_the_environment_alone() -> None:
    program = (
        "import os; before = dict(os.environ)\n"
        "import ralph_tui.adapters.workspace.repository\n"
        "assert dict(os.environ) == before\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
