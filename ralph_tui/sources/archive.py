"""The runs of a repository, looked back at: searched, and opened at a moment.

Rule: what an index names is looked for among the runs that are there; it opens no other path.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from ralph_tui.adapters.records.folders import worktree_around, worktree_root
from ralph_tui.adapters.records.runs import find_runs
from ralph_tui.adapters.search.query import search
from ralph_tui.errors import UsageError
from ralph_tui.ports.search import Found
from ralph_tui.ports.source import Source
from ralph_tui.sources.recorded import opened


def worktree_of(attempt: Path | None) -> Path:
    """The worktree whose records an attempt's folder is part of, else the one we are in."""
    around = None if attempt is None else worktree_around(attempt)
    return worktree_root(Path.cwd()) if around is None else around


class ArchivedRuns:
    """See `ports.search.Archive`, which it implements."""

    def __init__(self, root: Callable[[], Path]) -> None:
        """`root` names the worktree whose records are looked at; a new run has it after a while."""
        self._root = root

    def search(self, query: str, limit: int = 50) -> Sequence[Found]:
        """See `Archive`."""
        return search(self._root(), query, limit)

    def recorded(self, found: Found) -> Source:
        """See `Archive`."""
        if not found.run:
            raise UsageError("no run's record has this any more: it stands in the knowledge file")
        run = next((run for run in find_runs(self._root()) if run.name == found.run), None)
        if run is None:
            raise UsageError(f"{found.run} is there no more: open another")
        replay = opened(run.journal)
        replay.seek(found.seq)
        return replay
