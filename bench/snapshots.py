"""A snapshot of the worktree against ``git status --porcelain`` in the same place."""

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from statistics import median

from bench.places import clean_environment, repository
from bench.result import Result, Scale, in_turns, ms, seconds_of
from ralph_tui.workspace.repository import open_repository
from ralph_tui.workspace.snapshots import GitWorkspace

BUDGETS = {1_000: 2.7, 20_000: 1.8}
"""The ratio allowed by the number of files."""
CHANGED = 5
"""Files edited before each measurement, besides one new file."""


def against_status(scale: Scale) -> Iterator[Result]:
    """The second and later snapshots; the first, which hashes everything, has no budget."""
    sizes = list(BUDGETS)[: scale.of(2, 1)]
    for files in sizes:
        with tempfile.TemporaryDirectory(prefix="ralph-bench-") as scratch:
            root = repository(Path(scratch) / "repo", files)
            yield from _compare(root, files, scale.of(11, 7))


def _compare(root: Path, files: int, rounds: int) -> Iterator[Result]:
    workspace = GitWorkspace(open_repository(root), "0d4f2a51-4a54-4fbb-9f0e-3f4f7d5a1f11")
    numbers = count(1)

    def snapshot() -> None:
        workspace.snapshot(next(numbers), "bench")

    first = seconds_of(snapshot)
    edit = _editor(root)
    status_times, snapshot_times = in_turns(
        rounds, lambda: _timed(edit, lambda: _status(root)), lambda: _timed(edit, snapshot)
    )
    status, later = median(status_times), median(snapshot_times)
    ratio = later / status
    yield Result(
        f"snapshot at {files:,} files",
        f"{ratio:.2f}x ({ms(later)} : {ms(status)}; the first took {ms(first)})",
        f"<= {BUDGETS[files]}x git status --porcelain",
        ratio <= BUDGETS[files],
        {
            "seconds": later,
            "status_seconds": status,
            "ratio": ratio,
            "first_seconds": first,
        },
    )


def _timed(before: Callable[[], None], work: Callable[[], None]) -> float:
    before()
    return seconds_of(work)


def _status(root: Path) -> None:
    subprocess.run(
        ["git", "status", "--porcelain"],
        cwd=root,
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )


def _editor(root: Path) -> Callable[[], None]:
    """Each call edits a few files and makes one."""
    paths = sorted(root.glob("src/*/*.py"))
    turns = count()

    def edit() -> None:
        turn = next(turns)
        for number in range(CHANGED):
            path = paths[(turn * 7919 + number * 131) % len(paths)]
            with path.open("a") as file:
                file.write(f"changed = {turn}\n")
        (root / "src" / f"new{turn:03}.py").write_text(f"made = {turn}\n")

    return edit
