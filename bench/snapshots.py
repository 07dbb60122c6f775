"""Compare a snapshot of the worktree with ``git status --porcelain`` in the same place."""

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median

from bench.places import clean_environment, repository
from bench.result import Result, Scale, in_turns, ms, per_call, seconds_of
from ralph_tui.adapters.workspace.git import run_git
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.adapters.workspace.snapshots import GitWorkspace
from ralph_tui.ports.worktree import Snapshot

BUDGETS = {1_000: 2.5, 20_000: 1.8}
"""Allowed ratio by the number of files."""
CHANGED = 5
"""Files edited before each measurement of the state with that name."""
AGE = 60.0
"""Age in seconds of the edited files."""
LOOK = 0.1
"""Allowed seconds for the difference of two snapshots."""


def against_status(scale: Scale) -> Iterator[Result]:
    """Yield results for all snapshots but the first, which hashes everything and has no budget."""
    sizes = list(BUDGETS)[: scale.of(2, 1)]
    # Keep everything until the end. After a large deletion, ext4 skips the freed places one by one
    # for minutes, and creating a file takes up to twenty times as long.
    with tempfile.TemporaryDirectory(prefix="ralph-bench-") as scratch:
        for files in sizes:
            root = repository(Path(scratch) / f"repo-{files}", files)
            for number in range(256):  # as after hours of work: creating these takes long
                (root / ".git" / "objects" / f"{number:02x}").mkdir(exist_ok=True)
            yield from _compare(root, files, scale.of(21, 7))


def _compare(root: Path, files: int, rounds: int) -> Iterator[Result]:
    workspace = GitWorkspace(open_repository(root), "0d4f2a51-4a54-4fbb-9f0e-3f4f7d5a1f11")
    taken: list[Snapshot] = []

    def snapshot() -> None:
        taken.append(workspace.snapshot(len(taken), "bench"))

    first = seconds_of(snapshot)
    os.sync()  # keep pending writes out of the measurements
    states = {
        "nothing changed": lambda: None,
        f"{CHANGED} files changed": _editor(root),
        "1 new file": _maker(root),
    }
    for state, change in states.items():
        status_times, snapshot_times = in_turns(
            rounds,
            partial(_timed, change, partial(_status, root)),
            partial(_timed, change, snapshot),
        )
        status, later = median(status_times), median(snapshot_times)
        ratio = later / status
        yield Result(
            f"snapshot at {files:,} files, {state}",
            f"{ratio:.2f}x ({ms(later)} : {ms(status)}; the first took {ms(first)})",
            f"<= {BUDGETS[files]}x git status --porcelain",
            ratio <= BUDGETS[files],
            {"seconds": later, "status_seconds": status, "ratio": ratio, "first_seconds": first},
        )
    yield from _looks(workspace, taken, files)
    yield _floor(root, files)


def _looks(workspace: GitWorkspace, taken: list[Snapshot], files: int) -> Iterator[Result]:
    """Yield the time of differences as in the timeline: first to last, and one step."""
    trees = list(dict.fromkeys(snapshot.tree for snapshot in taken))
    pairs = {"first to last": (trees[0], trees[-1]), "one step": (trees[1], trees[2])}
    for name, (since, until) in pairs.items():
        changed = workspace.changes(since, until)
        listing = per_call(partial(workspace.changes, since, until), calls=3)
        one = per_call(partial(workspace.diff, since, until, changed[0].path), calls=3)
        yield Result(
            f"difference at {files:,} files, {name}",
            f"{ms(listing)} for the list of {len(changed)}, {ms(one)} for the text of one",
            f"<= {ms(LOOK)} each",
            max(listing, one) <= LOOK,
            {"seconds": listing, "text_seconds": one, "changed": len(changed)},
        )


def _floor(root: Path, files: int) -> Result:
    """Measure what no snapshot can avoid: starting git, and writing a file per object."""
    start = per_call(partial(run_git, root, "version"), calls=5)
    objects = root / ".git" / "objects"
    turns = count()

    def store() -> None:
        turn = next(turns)
        (objects / f"{turn * 97 % 256:02x}" / f"bench{turn}").write_bytes(bytes(200))

    stored = per_call(store, calls=15)
    return Result(
        f"floor at {files:,} files",
        f"{ms(start)} for one start of git, {ms(stored)} for the file of one object",
        "",
        None,
        {"start_seconds": start, "object_seconds": stored},
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
    """Return a function that edits a few files per call."""
    paths = sorted(root.glob("src/*/*.py"))
    turns = count()

    def edit() -> None:
        turn = next(turns)
        for number in range(CHANGED):
            path = paths[(turn * 7919 + number * 131) % len(paths)]
            with path.open("a") as file:
                file.write(f"changed = {turn}\n")
            _date(path)

    return edit


def _maker(root: Path) -> Callable[[], None]:
    """Return a function that makes a file per call."""
    turns = count()

    def make() -> None:
        path = root / "src" / f"new{next(turns):03}.py"
        path.write_text("made = True\n")
        _date(path)

    return make


def _date(path: Path) -> None:
    """Make a file older than git's index, as at a checkpoint; git rereads younger files."""
    then = time.time() - AGE
    os.utime(path, (then, then))
