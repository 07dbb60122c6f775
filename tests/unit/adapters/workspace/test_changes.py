"""Changed files, between trees and against the current worktree."""

import os
import subprocess
from pathlib import Path

import pytest

from ralph_tui.adapters.workspace import changes as counting
from ralph_tui.adapters.workspace.snapshots import GitWorkspace
from ralph_tui.events.workspace import FileChange
from ralph_tui.text.git_diff import parts_of
from ralph_tui.text.sanitize import spelled_name
from tests.workspaces import workspace_of


@pytest.fixture
def workspace(git_repo: Path) -> GitWorkspace:
    (git_repo / "tests").mkdir()
    (git_repo / "tests" / "test_app.py").write_text("one\ntwo\n")
    (git_repo / "app.py").write_text("one\ntwo\nthree\n")
    (git_repo / "logo.bin").write_bytes(b"\0\1\2")
    (git_repo / "gone.toml").write_text("a = 1\n")
    return workspace_of(git_repo)


def edit(root: Path) -> None:
    (root / "tests" / "test_app.py").write_text("one\n2\nthree\n")
    (root / "app.py").chmod(0o755)
    (root / "logo.bin").write_bytes(b"\0\1\3")
    (root / "gone.toml").unlink()
    (root / "new.py").write_text("a\nb")
    (root / "new.bin").write_bytes(b"\0\n\n")
    (root / "empty.md").write_text("")
    (root / "link").symlink_to("app.py")


EDITED = (
    FileChange(path="app.py", status="modified", category="source"),
    FileChange(path="empty.md", status="added", category="docs"),
    FileChange(path="gone.toml", status="deleted", category="config", removed=1),
    FileChange(path="link", status="added", category="other", added=1),
    FileChange(path="logo.bin", status="modified", category="other"),
    FileChange(path="new.bin", status="added", category="other"),
    FileChange(path="new.py", status="added", category="source", added=2),
    FileChange(path="tests/test_app.py", status="modified", category="test", added=2, removed=1),
)


def test_live_and_between_trees_agree(workspace: GitWorkspace) -> None:
    start = workspace.snapshot(0, "start")
    assert workspace.changes(start.tree) == ()
    edit(workspace.root)
    assert workspace.changes(start.tree) == EDITED
    end = workspace.snapshot(1, "end")
    assert workspace.changes(start.tree, end.tree) == EDITED
    assert workspace.changes(start.tree) == EDITED
    assert workspace.changes(end.tree) == ()


def test_a_checkpoint_in_between_does_not_hide_changes(workspace: GitWorkspace) -> None:
    start = workspace.snapshot(0, "start")
    (workspace.root / "app.py").write_text("four\n")
    (workspace.root / "gone.toml").unlink()
    (workspace.root / "short-lived.py").write_text("x\n")
    workspace.snapshot(1, "checkpoint")
    (workspace.root / "gone.toml").write_text("a = 2\nb = 1\n")
    (workspace.root / "short-lived.py").unlink()
    assert workspace.changes(start.tree) == (
        FileChange(path="app.py", status="modified", category="source", added=1, removed=3),
        FileChange(path="gone.toml", status="modified", category="config", added=2, removed=1),
    )


def test_a_file_that_is_there_again_as_it_was(workspace: GitWorkspace) -> None:
    start = workspace.snapshot(0, "start")
    (workspace.root / "app.py").unlink()
    workspace.snapshot(1, "without")
    (workspace.root / "app.py").write_text("one\ntwo\nthree\n")
    assert workspace.changes(start.tree) == ()
    (workspace.root / "app.py").chmod(0o755)
    assert [change.status for change in workspace.changes(start.tree)] == ["modified"]


def test_a_touched_file_is_not_a_change(workspace: GitWorkspace) -> None:
    start = workspace.snapshot(0, "start")
    for name in ("app.py", "logo.bin", "README.md"):
        os.utime(workspace.root / name, (1, 1))
    assert workspace.changes(start.tree) == ()


def test_a_rename_is_a_deletion_and_an_addition(workspace: GitWorkspace) -> None:
    start = workspace.snapshot(0, "start")
    (workspace.root / "app.py").rename(workspace.root / "main.py")
    rows = {change.path: change.status for change in workspace.changes(start.tree)}
    assert rows == {"app.py": "deleted", "main.py": "added"}


def test_names_and_categories_of_odd_files(workspace: GitWorkspace) -> None:
    start = workspace.snapshot(0, "start")
    for name in (b"bad\xff.py", b"two\nlines.py", b"tab\there.py", b"\x1b[31mred.py"):
        Path(os.fsdecode(os.fsencode(workspace.root) + b"/" + name)).write_text("x\n")
    paths = [change.path for change in workspace.changes(start.tree)]
    assert paths == ["\\x1b[31mred.py", "bad\\xff.py", "tab\\there.py", "two\\nlines.py"]
    end = workspace.snapshot(1, "end")
    assert [change.path for change in workspace.changes(start.tree, end.tree)] == paths


def test_names_that_look_alike_are_told_apart(workspace: GitWorkspace) -> None:
    since = workspace.snapshot(0, "start").tree
    called = {
        "app.py  ": "app.py\\x20\\x20",
        " app 2.py": "\\x20app 2.py",
        "app\t.py": "app\\t.py",
        os.fsdecode(b"app\xff.py"): "app\\xff.py",
        os.fsdecode(b"app\xfe\xc3.py"): "app\\xfe\\xc3.py",
        "app\u200b.py": "app\\u200b.py",
        "app\x1b[m.py": "app\\x1b[m.py",
        "na\u00efve 👩\u200d💻.py": "naïve 👩\u200d💻.py",
    }
    for name in called:
        (workspace.root / name).write_text("x\n")
    assert {change.path for change in workspace.changes(since)} == {*called.values()}
    # A diff knows them by the same names.
    parts = parts_of(workspace.diff(since, workspace.snapshot(1, "end").tree))
    assert {spelled_name(path) for path, _ in parts} == {*called.values()}


def test_counting_is_bounded(workspace: GitWorkspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MAX_FILES_COUNTED", 1)
    monkeypatch.setattr(counting, "MAX_COUNTED", 100)
    start = workspace.snapshot(0, "start")
    for name, content in {"a.py": "x\n", "b.py": "x\n"}.items():
        (workspace.root / name).write_text(content)
    assert [change.added for change in workspace.changes(start.tree)] == [1, 0]
    (workspace.root / "a.py").write_text("x\n" * 100)
    assert [change.added for change in workspace.changes(start.tree)] == [0, 0]


def test_live_changes_write_nothing(workspace: GitWorkspace) -> None:
    start = workspace.snapshot(0, "start")
    edit(workspace.root)
    folder = workspace.root / ".git"
    before = {path: path.lstat().st_mtime_ns for path in folder.rglob("*")}
    workspace.changes(start.tree)
    assert {path: path.lstat().st_mtime_ns for path in folder.rglob("*")} == before


def test_changes_before_any_snapshot(workspace: GitWorkspace) -> None:
    head = subprocess.run(
        ["git", "rev-parse", "HEAD^{tree}"],
        cwd=workspace.root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    names = [change.path for change in workspace.changes(head)]
    assert names == ["app.py", "gone.toml", "logo.bin", "tests/test_app.py"]


def test_what_is_not_held_is_no_change(workspace: GitWorkspace) -> None:
    nested = workspace.root / "nested"
    nested.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=nested, check=True)
    start = workspace.snapshot(0, "start")
    (nested / "x.py").write_text("x\n")
    own = workspace.root / ".aiwg" / "ralph"
    own.mkdir(parents=True)
    (own / "run.json").write_text("{}")
    assert workspace.changes(start.tree) == ()


def test_diff_is_git_own_text(workspace: GitWorkspace) -> None:
    start = workspace.snapshot(0, "start")
    edit(workspace.root)
    (workspace.root / ":(top)x").write_text("odd\n")
    end = workspace.snapshot(1, "end")
    assert "+three\n" in workspace.diff(start.tree, end.tree)
    only = workspace.diff(start.tree, end.tree, ":(top)x")
    assert "+odd\n" in only
    assert "test_app" not in only
