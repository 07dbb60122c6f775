"""The commit of a checkpoint: the session's work, and nothing else of the user's."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ralph_tui.events import WorkCommitted
from ralph_tui.hooks.program.commit import uncommitted
from tests.hooks import HookResult, Project

IDENTITY = "[user]\n\tname = Ada\n\temail = ada@example.org\n"
FIXED = "def add(a, b):\n    return a + b\n"


def out(project: Project, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(project.root), *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def loop(project_with: Callable[..., Project]) -> Project:
    """A loop that commits, in a repository whose user has a name."""
    project = project_with(commit_wip={"left_out": ["mine.txt"]}, iteration=5).with_git
    Path(project.environ["HOME"], ".gitconfig").write_text(IDENTITY)
    return project


def handed_off(project: Project, tokens: int = 172_000) -> HookResult:
    """A session that fills its window, completes its handoff and stops."""
    given = project.uses(tokens, "Bash", 1, command="make")
    project.answers(1)
    result = project.after_tool(**given)
    return result if result.fields.get("continue") is False else project.stop()


def test_a_handoff_commits_the_sessions_work(loop: Project) -> None:
    (loop.root / "mine.txt").write_text("the user's")
    (loop.root / "calc.py").write_text(FIXED)
    (loop.root / "new é.py").write_text("x = 1\n")
    (loop.root / "gone.py").write_text("x")
    before = out(loop, "rev-parse", "HEAD")
    result = handed_off(loop)
    message = "ralph: checkpoint iter 5 (L2 at 86%)"
    assert f"committed 3 files: {message}; 1 left out" in result.user
    assert out(loop, "log", "-1", "--format=%s|%an <%ae>|%P") == (
        f"{message}|Ada <ada@example.org>|{before}"
    )
    names = out(loop, "-c", "core.quotePath=false", "show", "--name-only", "--format=", "HEAD")
    assert names.splitlines() == ["calc.py", "gone.py", "new é.py"]
    left = out(loop, "status", "--porcelain", "--", "*.py", "*.txt")
    assert left == "?? mine.txt", "the index is clean, and the user's file as it was"
    assert out(loop, "reflog", "-1", "--format=%gs") == f"commit: {message}"
    [made] = [event for event in loop.events if isinstance(event, WorkCommitted)]
    assert (made.iteration, made.files, made.message) == (5, 3, message)
    assert made.commit == out(loop, "rev-parse", "HEAD")
    assert not (loop.root / ".git" / "index.lock").exists()


def test_a_session_that_is_ended_leaves_a_commit_too(loop: Project) -> None:
    (loop.root / "calc.py").unlink()
    handed_off(loop, 192_000)
    assert out(loop, "log", "-1", "--format=%s") == "ralph: checkpoint iter 5 (L3 at 96%)"
    assert out(loop, "ls-files") == ""


def test_without_the_users_wish_nothing_is_committed(project: Project) -> None:
    (project.with_git.root / "calc.py").write_text(FIXED)
    handed_off(project)
    assert out(project, "log", "--format=%s") == "first"


def test_nothing_that_the_repository_configures_runs(loop: Project, tmp_path: Path) -> None:
    mark, program = tmp_path / "mark", tmp_path / "evil"
    program.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    program.chmod(0o755)
    for name in ("pre-commit", "post-commit", "reference-transaction", "post-index-change"):
        hook = loop.root / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_bytes(program.read_bytes())
        hook.chmod(0o755)
    for key in ("core.fsmonitor", "filter.evil.clean", "gpg.program"):
        loop.git("config", key, str(program))
    loop.git("config", "commit.gpgSign", "true")
    (loop.root / ".gitattributes").write_text("*.evil filter=evil\n")
    (loop.root / "a.evil").write_text("x")
    (loop.root / "calc.py").write_text(FIXED)
    mark.unlink(missing_ok=True)
    result = handed_off(loop)
    assert not mark.exists()
    assert "committed 2 files" in result.user
    assert out(loop, "ls-files").splitlines() == [".gitattributes", "calc.py"]


@pytest.mark.parametrize(
    ("case", "why"),
    [
        ("staged", "changes are staged"),
        ("detached", "no branch is checked out"),
        ("merging", "a merge is in progress"),
        ("nameless", "git has no user name"),
        ("locked", "git is in use"),
    ],
)
def test_a_commit_that_would_interfere_is_not_made(loop: Project, case: str, why: str) -> None:
    git = loop.root / ".git"
    head = out(loop, "rev-parse", "HEAD")
    (loop.root / "calc.py").write_text(FIXED)
    if case == "staged":
        loop.git("add", "calc.py")
    elif case == "detached":
        loop.git("checkout", "-q", "--detach")
    elif case == "merging":
        (git / "MERGE_HEAD").write_text(f"{head}\n")
    elif case == "nameless":
        Path(loop.environ["HOME"], ".gitconfig").unlink()
    else:
        (git / "index.lock").touch()
    index = (git / "index").read_bytes()
    result = handed_off(loop)
    assert f"could not commit the session's work: {why}" in result.user
    assert out(loop, "rev-parse", "HEAD") == head
    assert (git / "index").read_bytes() == index
    assert (git / "index.lock").exists() == (case == "locked")
    assert loop.state["context_checkpoint"]["active"] is False, "the handoff continues"


def test_what_the_user_ignores_everywhere_is_not_committed(loop: Project) -> None:
    home = Path(loop.environ["HOME"])
    (home / "ignored").write_text(".env\n")
    (home / ".gitconfig").write_text(f"{IDENTITY}[core]\n\texcludesFile = ~/ignored\n")
    (loop.root / ".env").write_text("x")
    (loop.root / "calc.py").write_text(FIXED)
    handed_off(loop)
    assert out(loop, "ls-files") == "calc.py"


def test_a_linked_worktree_commits_on_its_own_branch(loop: Project, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    loop.git("worktree", "add", "-q", "-b", "side", str(linked))
    first = out(loop, "rev-parse", "HEAD")
    loop.root.rename(tmp_path / "main")
    (tmp_path / "project").symlink_to(linked)
    subprocess.run(["git", "-C", str(tmp_path / "main"), "worktree", "repair"], check=True)
    loop.write_state(
        objective="x", context_window=200_000, commit_wip={"left_out": []}, iteration=1
    )
    (linked / "calc.py").write_text(FIXED)
    handed_off(loop)
    assert out(loop, "rev-parse", "side~1") == first
    assert out(loop, "status", "--porcelain", "calc.py") == ""


def test_the_files_changed_before_are_listed(loop: Project) -> None:
    (loop.root / "sub").mkdir()
    (loop.root / "sub" / "new").write_text("x")
    (loop.root / "calc.py").write_text(FIXED)
    assert uncommitted(loop.root) == ["calc.py", "sub/new"]
    assert uncommitted(loop.root / "sub") == ["sub/new"], "only those of the project"
