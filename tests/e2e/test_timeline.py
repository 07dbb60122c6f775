"""The timeline in a real terminal: walked, a diff read, a point restored, the restore undone."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cli import here
from tests.e2e.test_cockpit import journal, kinds
from tests.e2e.tmux import Terminal
from tests.waiting import until

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

OUTSIDE = (".git", ".aiwg/ralph", ".aiwg/knowledge")
"""Paths outside every snapshot."""


@pytest.fixture
def paused(tmp_path: Path) -> Iterator[tuple[Terminal, Path]]:
    """A demo that holds after one of its first iterations, and its folder."""
    root = tmp_path / "kept"
    screen = Terminal(["demo", "--fast", "--keep", str(root)], tmp_path, width=100, height=30)
    try:
        screen.shows("agent")
        until(lambda: recorded(root, "iteration_started"))
        screen.press("p")
        until(lambda: "paused" in kinds(root))
        yield screen, root
        screen.press("Escape", "Escape")
        screen.press("C-c", "C-c")
        until(lambda: "run_finished" in kinds(root))
    finally:
        screen.close()


def recorded(root: Path, kind: str) -> bool:
    """True if the journal has such an event; false if there is no journal yet."""
    return any(f'"{kind}"' in path.read_text() for path in root.rglob("events.jsonl"))


def git(root: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True).stdout


def held(root: Path, tree: str) -> dict[str, tuple[str, bytes]]:
    """Mode and bytes of every path of a tree."""
    rows = (row.split(b"\t") for row in git(root, "ls-tree", "-r", "-z", tree).split(b"\0") if row)
    found = {}
    for head, path in rows:
        mode, _, blob = head.decode().split()
        found[path.decode()] = (mode, git(root, "cat-file", "blob", blob))
    return found


def present(root: Path) -> dict[str, tuple[str, bytes]]:
    """The same of the worktree."""
    found = {}
    for folder, folders, names in os.walk(root):
        inside = Path(folder)
        links = [name for name in folders if (inside / name).is_symlink()]
        keep = [f for f in folders if str((inside / f).relative_to(root)) not in OUTSIDE]
        folders[:] = [name for name in keep if name != "__pycache__" and name not in links]
        for name in [*names, *links]:
            path = inside / name
            if path.is_symlink():
                entry = ("120000", os.fsencode(path.readlink()))
            else:
                mode = "100755" if path.stat().st_mode & 0o100 else "100644"
                entry = (mode, path.read_bytes())
            found[str(path.relative_to(root))] = entry
    return found


def snapshots(root: Path) -> dict[int, str]:
    """The tree of each snapshot."""
    return {e["number"]: e["tree"] for e in journal(root) if e["kind"] == "snapshot_taken"}


def restores(root: Path) -> list[dict[str, Any]]:
    return [event for event in journal(root) if event["kind"] == "worktree_restored"]


def press_until(screen: Terminal, key: str, done: Callable[[], object]) -> None:
    """A dialog takes no key typed within its first moment; each press gets its time to work."""
    for _ in range(20):
        screen.press(key)
        with contextlib.suppress(AssertionError):
            until(done, timeout=0.7)
            return
    raise AssertionError(f"{key} does not do it:\n{screen.screen}")


def assert_restore_is_explained(screen: Terminal, root: Path) -> None:
    """Going back to the last snapshot must announce that it undoes later manual changes."""
    mine = present(root)
    screen.press("3", "End")
    press_until(screen, "r", lambda: "Restore snapshot" in screen.screen)
    screen.shows("would change 4 files", "(2 deleted)", "README.link")
    press_until(screen, "n", lambda: "Restore snapshot" not in screen.screen)
    assert present(root) == mine


def test_a_point_is_looked_at_restored_and_the_restore_undone(
    paused: tuple[Terminal, Path],
) -> None:
    screen, root = paused
    start = snapshots(root)[1]
    source, victim = "abacus/lexer.py", "abacus/__init__.py"

    # What the owner does meanwhile: no snapshot holds it yet.
    (root / "notes of mine.txt").write_bytes(b"untracked\r\n\xff\n")
    (root / "README.link").symlink_to("nowhere/at all")
    (root / source).chmod(0o755)
    (root / victim).unlink()
    mine = present(root)
    index = (root / ".git/index").read_bytes()
    branch = git(root, "rev-parse", "HEAD", "--symbolic-full-name", "HEAD")

    # The question is about the current files, not those of the last snapshot.
    assert_restore_is_explained(screen, root)

    # Walk the line, and read what the iteration changed.
    screen.press("3")
    screen.press("Home")
    screen.shows("before iteration 1", "at the start")
    screen.press("Right")
    screen.shows("iteration 1", "+8 points  48 → 56 %", "1 file +5")
    screen.press("Enter")
    screen.shows("changes of iteration 1", "all ", source, "@@")
    press_until(screen, "Right", lambda: "▸" in screen.screen)
    diff = screen.shows(source)
    assert any(line.strip("│ ").startswith("+") for line in diff.splitlines())
    press_until(screen, "Escape", lambda: "@@" not in screen.screen)

    # Two points: the marked one and another.
    screen.press("v")
    screen.shows("‹", "›")
    screen.press("Home")
    screen.shows("the start", "→")
    screen.press("Enter")
    screen.shows("the start → iteration 1", "@@")
    press_until(screen, "Escape", lambda: "@@" not in screen.screen)
    screen.press("Escape")
    until(lambda: "‹" not in screen.screen)

    # Back to the baseline.
    press_until(screen, "r", lambda: "Restore snapshot" in screen.screen)
    screen.shows("would change", source)
    press_until(screen, "y", lambda: restores(root))
    screen.shows("undoes it")
    until(lambda: list(snapshots(root))[-1] > restores(root)[0]["present"])
    assert present(root) == held(root, start)
    back = restores(root)[0]
    assert held(root, snapshots(root)[back["present"]]) == mine
    assert {victim, "notes of mine.txt", "README.link"} <= set(back["paths"])

    # And undone, at the point of the rollback, which is the last one.
    screen.press("End")
    press_until(screen, "r", lambda: "Undo the restore" in screen.screen)
    screen.shows("Undo the restore", "would change", "README.link")
    press_until(screen, "y", lambda: len(restores(root)) == 2)
    assert restores(root)[1]["snapshot"] == back["present"]
    assert present(root) == mine
    assert (root / source).stat().st_mode & 0o111
    assert not (root / victim).exists()
    assert (root / ".git/index").read_bytes() == index
    assert git(root, "rev-parse", "HEAD", "--symbolic-full-name", "HEAD") == branch


def test_a_replay_whose_snapshots_are_gone_says_so(git_repo: Path, tmp_path: Path) -> None:
    agent = ("--agent", "command", "--agent-command", "cat >/dev/null; date +%N >>notes.txt")
    here("run", "x", "-c", "false", *agent, "--headless", "--max-iterations", "1", cwd=git_repo)
    attempt = git_repo / ".aiwg/ralph/tasks/task-001/attempts/001"
    copied = tmp_path / "elsewhere"
    shutil.copytree(attempt, copied)
    screen = Terminal(["replay", str(copied)], tmp_path, width=80, height=24)
    try:
        screen.shows("REPLAY")
        screen.press("End", "3", "Enter")
        screen.shows("git init")
        press_until(screen, "Escape", lambda: "changes of" not in screen.screen)
        press_until(screen, "r", lambda: "r restore: use ralph-tui restore" in screen.screen)
        screen.press("q")
        assert screen.exit_code() == 0
    finally:
        screen.close()
