"""The commit of a checkpoint: the session's work, and nothing else of the user's."""

import os
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from ralph_tui.events import RolloverBegan, WorkCommitted
from ralph_tui.hooks.program import commit
from ralph_tui.hooks.program.commit import _new_index, uncommitted
from ralph_tui.hooks.program.evidence import Git, opened
from ralph_tui.loop.steps.handoff_runner import commit_message
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
    before, asked = out(loop, "rev-parse", "HEAD"), loop.state
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
    loop.write_state(**{name: value for name, value in asked.items() if name != "commit_wip"})
    (loop.root / "calc.py").unlink()
    handed_off(loop)
    assert out(loop, "rev-parse", "HEAD") == made.commit, "the user asks for it no more"


def test_a_session_that_is_ended_leaves_a_commit_too(loop: Project) -> None:
    (loop.root / "calc.py").unlink()
    handed_off(loop, 192_000)
    assert out(loop, "log", "-1", "--format=%s") == "ralph: checkpoint iter 5 (L3 at 96%)"
    assert out(loop, "ls-files") == ""
    own = RolloverBegan(iteration=5, number=1, cause="L2", percent=85.2, reason="it is full")
    assert commit_message(own) == "ralph: checkpoint iter 5 (L2 at 85%)"
    asked = own.model_copy(update={"cause": "asked", "percent": None})
    assert commit_message(asked) == "ralph: checkpoint iter 5 (asked)"


def test_without_the_users_wish_nothing_is_committed(project: Project) -> None:
    (project.with_git.root / "calc.py").write_text(FIXED)
    Path(project.environ["HOME"], ".gitconfig").write_text(IDENTITY)
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
        ("locked", "delete it if no git command is running"),
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
    [line] = [each for each in result.user.splitlines() if "could not commit" in each]
    assert why in line
    assert out(loop, "rev-parse", "HEAD") == head
    assert (git / "index").read_bytes() == index
    assert (git / "index.lock").exists() == (case == "locked")
    assert loop.state["context_checkpoint"]["active"] is False, "the handoff continues"


@pytest.mark.parametrize(
    ("theirs", "why"),
    [
        (["commit", "-qam", "theirs"], "the index changed meanwhile"),
        (["commit", "-q", "--allow-empty", "-m", "theirs"], "git update-ref failed"),
    ],
)
def test_a_commit_that_the_user_makes_meanwhile_stays(
    loop: Project, monkeypatch: pytest.MonkeyPatch, theirs: list[str], why: str
) -> None:
    identity = commit._identity

    def while_the_user_commits(git: Git) -> dict[str, str | None]:
        loop.git("-c", "user.name=b", "-c", "user.email=b@c", *theirs)
        return identity(git)

    (loop.root / "calc.py").write_text(FIXED)
    monkeypatch.setattr(commit, "_identity", while_the_user_commits)
    result = handed_off(loop)
    assert why in result.user
    assert out(loop, "log", "--format=%s").splitlines() == ["theirs", "first"]
    assert out(loop, "diff", "--cached") == ""
    assert (loop.root / "calc.py").read_text() == FIXED
    assert not (loop.root / ".git" / "index.lock").exists()


def test_the_new_index_is_as_old_as_its_contents_and_signals_wait_for_it(loop: Project) -> None:
    index = loop.root / ".git" / "index"
    ended: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: ended.append(number))
    try:
        with opened(loop.root, 30) as git:
            content = (git.view / "index").read_bytes()
            os.utime(git.view / "index", (1000, 1000))
            with _new_index(git, content):
                signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
                assert not ended
                assert index.with_name("index.lock").exists()
        assert ended == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)
    assert index.stat().st_mtime == 1000
    assert not index.with_name("index.lock").exists()


def test_a_folder_that_became_a_link_is_committed(loop: Project) -> None:
    (loop.root / "d").mkdir()
    (loop.root / "d" / "f").write_text("x")
    loop.git("add", "d")
    loop.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "second")
    (loop.root / "d").rename(loop.root / "e")
    (loop.root / "d").symlink_to("e")
    handed_off(loop)
    assert out(loop, "ls-files", "d", "e").splitlines() == ["d", "e/f"]
    assert out(loop, "status", "--porcelain", "d", "e") == ""


def test_what_git_cannot_add_is_left_out(loop: Project) -> None:
    (loop.root / "calc.py").unlink()
    os.mkfifo(loop.root / "calc.py")
    with (loop.root / "large").open("wb") as file:
        file.truncate(commit.LARGEST + 1)
    (loop.root / "small").write_text("x")
    assert "committed 1 file: " in handed_off(loop).user
    assert out(loop, "diff", "--name-only", "HEAD~1", "HEAD") == "small"


def test_the_users_own_values_apply(loop: Project) -> None:
    home = Path(loop.environ["HOME"])
    attributes = home / "attributes"
    attributes.write_text("*.bin filter=lfs\n")
    (home / ".gitconfig").write_text(
        f"[core]\n\tautocrlf = input\n\tattributesFile = {attributes}\n"
    )
    loop.git("config", "user.name", "Local")
    loop.git("config", "user.email", "local@example.org")
    loop.git("config", "core.splitIndex", "true")
    (loop.root / "a.bin").write_text("x")
    (loop.root / "b.txt").write_bytes(b"x\r\n")
    handed_off(loop)
    assert out(loop, "log", "-1", "--format=%an <%ae>") == "Local <local@example.org>"
    assert out(loop, "ls-files").splitlines() == ["b.txt", "calc.py"]
    assert out(loop, "cat-file", "-s", "HEAD:b.txt") == "2", "its line ends as in the user's own"
    assert out(loop, "status", "--porcelain", "*.py") == "", "its split index is whole"


def test_a_file_whose_name_is_no_text_can_be_the_users(loop: Project) -> None:
    mine = os.fsdecode(b"mine-\xff")
    (loop.root / mine).write_text("x")
    loop.write_state(**loop.state | {"commit_wip": {"left_out": uncommitted(loop.root)}})
    (loop.root / "calc.py").write_text(FIXED)
    assert "1 left out" in handed_off(loop).user
    assert out(loop, "ls-files") == "calc.py"


def test_without_a_list_of_the_users_files_nothing_is_committed(loop: Project) -> None:
    loop.write_state(**loop.state | {"commit_wip": {"left_out": "mine.txt"}})
    (loop.root / "mine.txt").write_text("x")
    handed_off(loop)
    assert out(loop, "log", "--format=%s") == "first"


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
