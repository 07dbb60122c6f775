"""Compare a loop's clone with ``git worktree add`` in the same repository.

The clone is the fleet's own: hard-linked objects, the committer, no remote, and the commit's files
on a separate branch. The worktree is made by a plain ``git worktree add -b``.

Rounds alternate and the best of each counts, because a busy disk slows either several times. All of
them stay until the end, because a large deletion slows a disk for minutes.
"""

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from bench.machine import load
from bench.places import clean_environment, repository
from bench.result import Result, Scale, in_turns, ms, seconds_of
from ralph_tui.adapters.clones.making import Origin, make_clone
from ralph_tui.adapters.clones.sources import source_of
from ralph_tui.adapters.workspace.repository import open_repository

FILES = 20_000
ALLOWED = 1.5

Make = Callable[[Path, str], object]
"""Makes a clone or worktree at a path, with a branch of this name."""


def against_worktrees(scale: Scale) -> Iterator[Result]:
    """Yield the ratio of both times."""
    with tempfile.TemporaryDirectory(prefix="ralph-bench-") as scratch:
        place = Path(scratch)
        root = repository(place / "repo", FILES)
        source = source_of(open_repository(root), "HEAD")
        origin = Origin(root, users=True)
        numbers = count()

        def timed(make: Make) -> Callable[[], float]:
            def one() -> float:
                name = f"tree-{next(numbers)}"
                return seconds_of(lambda: make(place / name, f"bench/{name}"))

            return one

        clones, worktrees = in_turns(
            scale.of(6, 3),
            timed(lambda tree, branch: make_clone(tree, origin, source, branch)),
            timed(lambda tree, branch: _worktree(root, tree, branch)),
        )
    clone, worktree = min(clones), min(worktrees)
    ratio = clone / worktree
    yield Result(
        f"a loop's clone at {FILES:,} files against git worktree add",
        f"{ratio:.2f}x ({ms(clone)} : {ms(worktree)}; load {load()})",
        f"<= {ALLOWED}x",
        ratio <= ALLOWED,
        {"ratio": ratio, "seconds": clone, "worktree_seconds": worktree},
    )


def _worktree(root: Path, tree: Path, branch: str) -> None:
    subprocess.run(
        ["git", "worktree", "add", "--quiet", "-b", branch, str(tree)],
        cwd=root,
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
