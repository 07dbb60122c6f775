"""Git's report on a run's snapshots and the current files."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ralph_tui.base.errors import RalphError
from ralph_tui.runtime.sources.snapshots import RecordedFiles
from ralph_tui.tui.draw.diff import rows_of
from tests.tui.fake_files import CHANGES
from tests.workspaces import workspace_of


def change_files(root: Path) -> None:
    """Delete a file, add a text file, and add one that is not plain text."""
    (root / "README.md").unlink()
    (root / "tool").write_text("#!/bin/sh\n")
    (root / "tool").chmod(0o755)
    (root / "link").symlink_to("tool")
    (root / "ünï code.bin").write_bytes(b"\0\1\2")


@pytest.fixture
def recorded(git_repo: Path) -> tuple[Path, tuple[str, str]]:
    """An attempt's folder in a repository, and the trees of two snapshots."""
    workspace = workspace_of(git_repo, "5a4f0d51-4a54-4fbb-9f0e-3f4f7d5a1f11")
    first = workspace.snapshot(1, "one").tree
    change_files(git_repo)
    second = workspace.snapshot(2, "two").tree
    attempt = git_repo / ".aiwg/ralph/tasks/task-001/attempts/001"
    attempt.mkdir(parents=True)
    return attempt, (first, second)


def test_recorded_files_tell_changes_and_diffs(recorded: tuple[Path, tuple[str, str]]) -> None:
    attempt, trees = recorded
    files = RecordedFiles(attempt)
    changes = {change.path: change.status for change in files.changes(*trees)}
    assert changes == {
        "README.md": "deleted", "tool": "added", "link": "added", "ünï code.bin": "added",
    }  # fmt: skip
    heads = {path: rows_of(files.diff(*trees, path))[0] for path in changes}
    assert "deleted file" in heads["README.md"][2][0]
    assert "new executable" in heads["tool"][2][0]
    assert "new symbolic link" in heads["link"][2][0]
    assert "binary" in heads["ünï code.bin"][2][0]
    assert len(files.diff(*trees).split("diff --git")) == 5
    assert files.changes(trees[0], trees[0]) == ()


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def cloned_anew(root: Path) -> None:
    """The records are there, and a repository, but no snapshot in it."""
    shutil.rmtree(root / ".git")
    git(root, "init", "-q")


def refs_deleted(root: Path) -> None:
    for number in ("001", "002"):
        git(root, "update-ref", "-d", f"refs/ralph/5a4f0d51-4a54-4fbb-9f0e-3f4f7d5a1f11/{number}")
    shutil.rmtree(root / ".git/ralph-tui")
    git(root, "prune", "--expire=now")


def unpacked_elsewhere(root: Path) -> None:
    shutil.rmtree(root / ".git")


@pytest.mark.parametrize(
    ("happens", "says"),
    [
        (cloned_anew, "no longer has the snapshots"),
        (refs_deleted, "no longer has the snapshots"),
        (unpacked_elsewhere, "not inside a git repository"),
        (shutil.rmtree, "gone"),
    ],
)
def test_what_is_gone_is_told(
    recorded: tuple[Path, tuple[str, str]], git_repo: Path, happens: object, says: str
) -> None:
    attempt, trees = recorded
    opened, unopened = RecordedFiles(attempt), RecordedFiles(attempt)
    assert opened.changes(*trees)
    assert callable(happens)
    happens(git_repo)
    for files in (opened, unopened):
        with pytest.raises(RalphError, match=says):
            files.changes(*trees)
        with pytest.raises(RalphError, match=says):
            files.diff(*trees)


def test_private_folder_that_is_gone_is_made_again(
    recorded: tuple[Path, tuple[str, str]], git_repo: Path
) -> None:
    attempt, trees = recorded
    shutil.rmtree(git_repo / ".git/ralph-tui")
    assert len(RecordedFiles(attempt).changes(*trees)) == len(CHANGES)


# the current files --------------------------------------------------------------------------------


def edited_by_hand(root: Path) -> None:
    """Whatever a person may do while a run holds; the second snapshot knows nothing of it."""
    (root / "tool").write_text("#!/bin/sh\nexit 1\n")
    (root / "README.md").write_text("mine again\n")
    (root / "link").unlink()
    (root / "link").symlink_to("elsewhere")
    (root / "ünï code.bin").unlink()
    (root / "notes of mine.txt").write_text("one\ntwo\n")
    (root / "new link").symlink_to("nowhere")


def whole(root: Path) -> dict[str, bytes]:
    """Every file of the user's git dir that is not an object, and the private index."""
    folder = root / ".git"
    paths = (path for path in folder.rglob("*") if path.is_file() and "objects" not in path.parts)
    return {str(path): path.read_bytes() for path in paths}


@pytest.mark.parametrize("stale", [False, True], ids=["fresh", "stale"])
def test_a_restore_is_told_by_the_files_as_they_are(git_repo: Path, *, stale: bool) -> None:
    workspace = workspace_of(git_repo, "5a4f0d51-4a54-4fbb-9f0e-3f4f7d5a1f11")
    index = git_repo / ".git/ralph-tui/index"
    workspace.snapshot(1, "one")
    old = index.read_bytes()
    change_files(git_repo)
    second = workspace.snapshot(2, "two").tree
    if stale:
        index.write_bytes(old)
    attempt = git_repo / ".aiwg/ralph/tasks/task-001/attempts/001"
    attempt.mkdir(parents=True)
    files = RecordedFiles(attempt)  # as another process looks
    assert files.from_present(second) == ()
    before = whole(git_repo)
    edited_by_hand(git_repo)
    fields = {c.path: (c.status, c.added, c.removed) for c in files.from_present(second)}
    assert fields == {
        "README.md": ("deleted", 0, 1),
        "link": ("modified", 1, 1),
        "new link": ("deleted", 0, 1),
        "notes of mine.txt": ("deleted", 0, 2),
        # What the index does not know is counted roughly.
        "tool": ("modified", 1, 2) if stale else ("modified", 0, 1),
        "ünï code.bin": ("added", 0, 0),
    }
    assert whole(git_repo) == before
    workspace.snapshot(3, "present")
    done = workspace.restore(second)
    assert set(done.changed) == set(fields)
    assert files.from_present(second) == ()


def test_without_the_runs_index_nothing_is_told_and_nothing_made(
    recorded: tuple[Path, tuple[str, str]], git_repo: Path
) -> None:
    attempt, trees = recorded
    index = git_repo / ".git/ralph-tui/index"
    index.unlink()
    with pytest.raises(RalphError, match="no index"):
        RecordedFiles(attempt).from_present(trees[1])
    assert not index.exists()


def test_the_diff_of_one_file_is_found_whatever_its_name(git_repo: Path) -> None:
    names = ("two\nlines", "a\tb", 'q"uo\\te', "\x1b[31mred", "ünï\udcff b/x")
    workspace = workspace_of(git_repo, "5a4f0d51-4a54-4fbb-9f0e-3f4f7d5a1f11")
    first = workspace.snapshot(1, "one").tree
    (git_repo / names[-1]).parent.mkdir()
    for number, name in enumerate(names):
        (git_repo / name).write_text(f"odd {number}\n")
    (git_repo / "plain").write_text("plain\n")
    second = workspace.snapshot(2, "two").tree
    attempt = git_repo / ".aiwg/ralph/tasks/task-001/attempts/001"
    attempt.mkdir(parents=True)
    files = RecordedFiles(attempt)
    shown = [c.path for c in files.changes(first, second) if c.path != "plain"]
    found = set()
    for path in shown:
        text = files.diff(first, second, path)
        (added,) = re.findall(r"^\+(\w.*)$", text, re.MULTILINE)
        found.add(added)
        assert rows_of(text)[0][1] == (path, "strong")
    assert found == {f"odd {number}" for number in range(len(names))}
