"""A clone as a loop gets it, against ``git worktree add`` of the same repository.

The clone is the fleet's own, with all that it does for it: objects as hard links, who commits, no
remote that leads back, the files of the commit on a branch of its own. The worktree is that of
whoever types ``git worktree add -b``. Both are made in turns, and of each the best counts: a busy
disk makes either several times slower. All stay until the end: behind a large deletion a disk is
slow for minutes.
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
"""Makes a tree at a path, with a branch of a name."""


def against_worktrees(scale: Scale) -> Iterator[Result]:
    """The ratio of both times."""
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
