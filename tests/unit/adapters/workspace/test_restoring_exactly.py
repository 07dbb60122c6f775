"""A restore is exact, or names each path it leaves alone, with the reason."""

import os
import socket
from pathlib import Path

import pytest

from ralph_tui.ports.worktree import Restored
from tests.property.random_trees import git, state_of
from tests.workspaces import workspace_of


def named(restored: Restored) -> dict[str, str]:
    return {one.path: one.why for one in restored.kept}


def forced(root: Path, name: str) -> Path:
    """A file that is tracked although ignored."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("tracked\n")
    git(root, "add", "-f", name, check=True)
    return path


def test_tracked_though_ignored_and_moved_away_and_back(git_repo: Path) -> None:
    (git_repo / ".gitignore").write_text("build/\n")
    forced(git_repo, "build/one")
    workspace = workspace_of(git_repo)
    first, before = workspace.snapshot(0, "there"), state_of(git_repo)
    (git_repo / "build").rename(git_repo / "elsewhere")
    second, moved = workspace.snapshot(1, "away"), state_of(git_repo)
    (git_repo / "elsewhere").rename(git_repo / "build")
    assert workspace.snapshot(2, "back").tree == first.tree
    for tree, state in ((second.tree, moved), (first.tree, before), (second.tree, moved)):
        assert named(workspace.restore(tree)) == {}
        assert state_of(git_repo) == state


def test_held_although_ignored_and_untracked_since(git_repo: Path) -> None:
    """A saved file stays in snapshots until it is gone, also after a restore."""
    (git_repo / "notes.log").write_text("1\n")
    workspace = workspace_of(git_repo)
    first = workspace.snapshot(0, "there")
    (git_repo / ".gitignore").write_text("*.log\n")
    second, before = workspace.snapshot(1, "ignored"), state_of(git_repo)
    (git_repo / "notes.log").unlink()
    third = workspace.snapshot(2, "gone")
    assert named(workspace.restore(second.tree)) == {}
    assert state_of(git_repo) == before
    assert workspace.snapshot(3, "back").tree == second.tree
    assert named(workspace.restore(third.tree)) == {}
    assert not (git_repo / "notes.log").exists()
    assert named(workspace.restore(first.tree)) == {}
    (git_repo / ".git" / "ralph-tui" / "info" / "attributes").unlink()  # the index is rebuilt
    workspace.restore(second.tree)
    workspace._staging.rebuild()
    assert workspace.snapshot(4, "anew").tree == second.tree


@pytest.mark.parametrize("inner", [b"own.log\n", b"\xff\xfe", b"build/deep"])
def test_a_folder_in_a_files_place(git_repo: Path, inner: bytes) -> None:
    """A folder that replaced a file is removed with its content, whatever the rules say."""
    (git_repo / ".gitignore").write_text("build/\n*.log*\nplace\n")
    forced(git_repo, "place")
    workspace = workspace_of(git_repo)
    first, before = workspace.snapshot(0, "file"), state_of(git_repo)
    (git_repo / ".gitignore").unlink()
    (git_repo / "place").unlink()
    path = git_repo / "place" / os.fsdecode(inner)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"new\n")
    (git_repo / "beside").write_text("new\n")
    second, after = workspace.snapshot(1, "folder"), state_of(git_repo)
    assert second.missing == ()
    assert named(workspace.restore(first.tree)) == {}
    assert state_of(git_repo) == before
    assert named(workspace.restore(second.tree)) == {}
    assert state_of(git_repo) == after


def test_what_came_to_light_is_named(git_repo: Path) -> None:
    workspace = workspace_of(git_repo)
    first = workspace.snapshot(0, "no rules")
    (git_repo / ".gitignore").write_text("new/\n")
    (git_repo / "new").mkdir()
    (git_repo / "new" / "file\n").write_text("1\n")
    workspace.snapshot(1, "ignored")
    why = "git ignored it until now, so no snapshot contains it"
    assert named(workspace.restore(first.tree)) == {"new/file\n": why}


def test_specials_are_named(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (git_repo / ".gitignore").write_text("*.sock\n")
    workspace = workspace_of(git_repo)
    first = workspace.snapshot(0, "first")
    (git_repo / "README.md").unlink()
    os.mkfifo(git_repo / "README.md")
    (git_repo / "folder").mkdir()
    monkeypatch.chdir(git_repo / "folder")
    for name in ("listening", "ignored.sock"):
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(name)
    assert [row.path for row in workspace.changes(first.tree)] == ["README.md"]
    workspace.snapshot(1, "second")
    fields = {"folder/listening": "it is a socket, which no snapshot contains"}
    shown = {row.path: why for row, why in workspace.preview_restore(first.tree)}
    assert shown == {"README.md": "", **fields}
    restored = workspace.restore(first.tree)
    assert (restored.changed, named(restored)) == (("README.md",), fields)
    assert {row.path: why for row, why in workspace.preview_restore(first.tree)} == fields


def test_a_file_that_was_ignored_before_any_snapshot_stays(git_repo: Path) -> None:
    """Snapshots do not include the user's own commits: files they deleted may exist, ignored."""
    forced(git_repo, "secret.env")
    git(git_repo, "commit", "-qm", "by mistake", check=True)
    (git_repo / ".gitignore").write_text("secret.env\n")
    git(git_repo, "rm", "-q", "--cached", "secret.env", check=True)
    git(git_repo, "commit", "-qm", "mended", check=True)
    workspace = workspace_of(git_repo)
    first = workspace.snapshot(0, "ignored")
    (git_repo / ".gitignore").unlink()
    workspace.snapshot(1, "without rules")
    restored = workspace.restore(first.tree)
    why = "the snapshot's ignore rules exclude it, so it may have existed"
    assert named(restored) == {"secret.env": why}
    assert (git_repo / "secret.env").read_text() == "tracked\n"


@pytest.mark.parametrize("gone", ["sub/a.py", ""])
def test_a_folder_that_became_a_repository_is_named(git_repo: Path, gone: str) -> None:
    """Its files are restored; the nested repository itself is left alone and reported."""
    (git_repo / "sub" / "deep").mkdir(parents=True)
    for name in ("sub/a.py", "sub/deep/b.py"):
        (git_repo / name).write_text("1\n")
    workspace = workspace_of(git_repo)
    first, before = workspace.snapshot(0, "a folder"), state_of(git_repo)
    if gone:
        (git_repo / gone).unlink()
    (git_repo / "sub" / "c.py").write_text("new\n")
    git(git_repo / "sub", "init", "-q", check=True)
    git(git_repo / "sub", "add", "-A", check=True)
    second = workspace.snapshot(1, "a repository")
    assert second.missing == ("sub/.git/",)
    fields = {"sub/.git/": "it is a repository of its own, or cannot be read"}
    seen = {row.path: why for row, why in workspace.preview_restore(first.tree) if why}
    assert seen == fields
    restored = workspace.restore(first.tree)
    assert named(restored) == fields
    assert {path: state for path, state in state_of(git_repo).items() if ".git" not in path} == (
        before
    )
    # A restore to the current state reports nothing.
    assert named(workspace.restore(second.tree)) == {}
    assert named(workspace_of(git_repo).restore(second.tree)) == {}
    assert workspace_of(git_repo).snapshot(0, "another run").missing == ("sub/.git/",)


@pytest.mark.parametrize(("place", "kind"), [("notes", "socket"), ("folder", "pipe")])
def test_what_holds_nothing_gives_way(
    git_repo: Path, place: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe or a socket that replaced a file or its folder, alone and beside others."""
    for name in ("notes", "folder/file"):
        (git_repo / name).parent.mkdir(exist_ok=True)
        (git_repo / name).write_text("1\n")
    workspace = workspace_of(git_repo)
    first, before = workspace.snapshot(0, "files"), state_of(git_repo)
    path = git_repo / place
    if path.is_dir():
        (path / "file").unlink()
        path.rmdir()
    else:
        path.unlink()
    monkeypatch.chdir(git_repo)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(place)
    back = "notes" if place == "notes" else "folder/file"
    assert [(row.path, why) for row, why in workspace.preview_restore(first.tree)] == [(back, "")]
    second = workspace.snapshot(1, "in its place")
    assert second.missing == (place,)
    restored = workspace.restore(first.tree)
    assert (restored.changed, restored.kept) == ((back,), ())
    assert state_of(git_repo) == before
    # It cannot come back: a snapshot holds files.
    not_held = {back: "the snapshot could not save it"}
    assert named(workspace.restore(second.tree)) == not_held
    assert state_of(git_repo) == before


def test_what_gave_way_is_told_by_every_snapshot_since(git_repo: Path) -> None:
    """Also by snapshots of another process, which has never seen the file."""
    (git_repo / "notes").write_text("1\n")
    run = workspace_of(git_repo, "a-run")
    first, before = run.snapshot(0, "a file"), state_of(git_repo)
    (git_repo / "notes").unlink()
    os.mkfifo(git_repo / "notes")
    run.snapshot(1, "a pipe")
    assert run.snapshot(2, "still a pipe").missing == ("notes",)
    run.close()
    later = workspace_of(git_repo, "a-run")
    third = later.snapshot(3, "before restoring")
    assert third.missing == ("notes",)
    assert later.restore(first.tree).kept == ()
    assert later.snapshot(4, "a file again").missing == ()
    assert named(later.restore(third.tree)) == {"notes": "the snapshot could not save it"}
    assert state_of(git_repo) == before
