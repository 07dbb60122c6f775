"""A session's work as a commit: the user's hooks and name, and nothing but that work."""

import os
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from ralph_tui.adapters.workspace import work_commits
from ralph_tui.adapters.workspace.work_commits import WorkCommits
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.ports.worktree import Committed
from tests.processes import state_of
from tests.waiting import until
from tests.workspaces import workspace_of

MESSAGE = "ralph: checkpoint iter 5 (L2 at 85%)"


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)
    return done.stdout.decode("utf-8", "surrogateescape").strip()


class Place:
    """A repository with one commit, and a session's changes in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.workspace = workspace_of(root)
        self.commits = WorkCommits(self.workspace, "run")
        self._taken = 0
        self.since = self.hold()

    def hold(self) -> str:
        self._taken += 1
        return self.workspace.snapshot(self._taken, "ralph: held").tree

    def begin(self) -> None:
        self.since = self.hold()

    def write(self, name: str, text: str = "2\n") -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def hook(self, name: str, *lines: str) -> None:
        path = self.root / ".git" / "hooks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
        path.chmod(0o755)

    def commit(self) -> Committed | None:
        return self.commits.commit(self.since, self.hold(), MESSAGE)

    def refused(self) -> str:
        """Why there is no commit; nothing else may have changed."""
        before = self.state()
        with pytest.raises(WorkspaceError) as error:
            self.commit()
        assert self.state() == before
        return str(error.value)

    def state(self) -> tuple[str, str, str]:
        return (
            git(self.root, "rev-parse", "HEAD"),
            git(self.root, "status", "--porcelain", "--untracked-files=all"),
            git(self.root, "diff", "--cached", "--raw"),
        )


@pytest.fixture(scope="module")
def first_commit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("first")
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "config", "user.name", "Ann")
    git(root, "config", "user.email", "ann@example.com")
    for name in ("a.py", "b.py", "gone.py"):
        (root / name).write_text("1\n")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "first")
    return root


@pytest.fixture
def place(first_commit: Path, tmp_path: Path) -> Place:
    return Place(Path(shutil.copytree(first_commit, tmp_path / "project")))


def test_what_the_session_changed_is_committed_in_the_owners_name(place: Place) -> None:
    place.write("a.py")
    place.write("new folder/ü ber.py")
    (place.root / "gone.py").unlink()
    made = place.commit()
    assert made is not None
    assert made.commit == git(place.root, "rev-parse", "HEAD")
    assert (made.files, made.left_out) == (3, ())
    assert git(place.root, "log", "-1", "--format=%an <%ae>|%s|%D") == (
        f"Ann <ann@example.com>|{MESSAGE}|HEAD -> main"
    )
    names = git(place.root, "-c", "core.quotePath=false", "show", "--name-status", "--format=")
    assert names.split("\n") == ["M\ta.py", "D\tgone.py", "A\tnew folder/ü ber.py"]
    assert git(place.root, "status", "--porcelain") == ""


def test_names_of_every_kind_are_committed(place: Place) -> None:
    for name in (b":(top)magic", b"star*[a]?", b"-dash", b"new\nline", b"invalid-\xff", b"#x"):
        (place.root / os.fsdecode(name)).write_text("2\n")
    made = place.commit()
    assert made is not None
    assert made.files == 6
    assert git(place.root, "status", "--porcelain") == ""


def test_what_was_changed_before_the_session_is_left_out(place: Place) -> None:
    place.write("b.py", "the owner's\n")
    place.write("notes.txt", "the owner's\n")
    place.begin()
    place.write("a.py")
    place.write("b.py", "the owner's, and the agent's\n")
    made = place.commit()
    assert made is not None
    assert (made.files, made.left_out) == (1, ("b.py",))
    assert git(place.root, "show", "--name-only", "--format=") == "a.py"
    assert git(place.root, "status", "--porcelain") == "M b.py\n?? notes.txt"


def test_records_are_no_work(place: Place) -> None:
    place.write(".aiwg/ralph/x.json")
    place.write(".claude/handoffs/2026-01-07-1145.md")
    assert place.commit() is None


def test_nothing_changed_is_no_commit(place: Place) -> None:
    assert place.commit() is None


def test_hooks_run_and_may_change_what_is_committed(place: Place) -> None:
    place.hook("pre-commit", "echo formatted > a.py", "git add a.py")
    place.hook("commit-msg", 'echo "signed by a hook" >> "$1"')
    place.write("a.py")
    made = place.commit()
    assert made is not None
    assert git(place.root, "show", "HEAD:a.py") == "formatted"
    assert git(place.root, "log", "-1", "--format=%B").startswith(f"{MESSAGE}\nsigned by")


def test_a_hook_that_refuses_is_heard(place: Place) -> None:
    place.hook("pre-commit", "echo 'a.py: line too long' >&2", "exit 1")
    place.write("a.py")
    assert "from a hook or git itself: a.py: line too long" in place.refused()


def test_a_hook_that_hangs_is_ended_with_all_it_started(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(work_commits, "LIMIT_S", 1.0)
    place.hook("pre-commit", f"sleep 300 & echo $! > {tmp_path}/pid; wait")
    place.write("a.py")
    assert "was still running after 1 s" in place.refused()
    assert state_of(int((tmp_path / "pid").read_text())) in ("", "Z")
    assert not (place.root / ".git" / "index.lock").exists()


def test_the_end_of_the_run_does_not_wait_for_a_hook(place: Place, tmp_path: Path) -> None:
    place.hook("pre-commit", f"echo $$ > {tmp_path}/pid; exec sleep 300")
    place.write("a.py")

    def cancel() -> None:
        until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
        place.commits.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    try:
        assert "the run is ending" in place.refused()
    finally:
        thread.join()
    assert state_of(int((tmp_path / "pid").read_text())) in ("", "Z")


def test_a_pre_push_hook_is_never_needed(place: Place, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "far.git")
    git(place.root, "remote", "add", "origin", str(tmp_path / "far.git"))
    git(place.root, "config", "push.default", "current")
    place.write("a.py")
    assert place.commit() is not None
    assert git(tmp_path / "far.git", "for-each-ref") == ""


def test_what_the_owner_has_not_finished_is_not_touched(place: Place) -> None:
    place.write("a.py")
    for name, words in (
        ("MERGE_HEAD", "a merge is in progress"),
        ("CHERRY_PICK_HEAD", "a cherry-pick is in progress"),
    ):
        marker = place.root / ".git" / name
        marker.write_text(git(place.root, "rev-parse", "HEAD") + "\n")
        assert words in place.refused()
        marker.unlink()
    (place.root / ".git" / "rebase-merge").mkdir()
    assert "a rebase is in progress" in place.refused()


def test_staged_changes_are_not_committed_along(place: Place) -> None:
    place.write("b.py", "staged\n")
    git(place.root, "add", "b.py")
    place.begin()
    place.write("a.py")
    assert "changes are staged" in place.refused()


def test_without_a_branch_there_is_no_commit(place: Place) -> None:
    git(place.root, "checkout", "--quiet", "--detach")
    place.write("a.py")
    assert "no branch is checked out" in place.refused()


def test_without_a_name_there_is_no_commit(place: Place) -> None:
    git(place.root, "config", "--unset", "user.name")
    git(place.root, "config", "--unset", "user.email")
    git(place.root, "config", "user.useConfigOnly", "true")
    place.write("a.py")
    assert "git has no user name or email" in place.refused()


def test_a_locked_index_is_the_owners_git_at_work(place: Place) -> None:
    place.write("a.py")
    held = place.hold()
    lock = place.root / ".git" / "index.lock"
    lock.touch()
    with pytest.raises(WorkspaceError, match=r"index\.lock"):
        place.commits.commit(place.since, held, MESSAGE)
    lock.unlink()
    assert git(place.root, "diff", "--cached", "--raw") == ""


def test_variables_of_a_hook_lead_it_nowhere_else(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    place.write("a.py")
    made = place.commit()
    monkeypatch.delenv("GIT_DIR")
    monkeypatch.delenv("GIT_INDEX_FILE")
    assert made is not None
    assert git(place.root, "rev-parse", "HEAD") == made.commit
