"""The past runs of a repository: search them, or open one at an event.

A run named by the index is opened only if it is among the runs found here. No other path is opened.
"""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from ralph_tui.adapters.records.folders import worktree_around, worktree_root
from ralph_tui.adapters.records.foreign import ForeignRun, foreign_runs
from ralph_tui.adapters.records.runs import find_hooked, find_runs
from ralph_tui.adapters.search.documents import KINDS
from ralph_tui.adapters.search.index import OtherRun
from ralph_tui.adapters.search.query import ignore_sentence, search
from ralph_tui.base.errors import UsageError
from ralph_tui.ports.search import Found
from ralph_tui.ports.source import Source
from ralph_tui.runtime.sources.find_run import AnyRun, read_run, to_replay
from ralph_tui.runtime.sources.recorded import opened


def worktree_of(attempt: Path | None) -> Path:
    """Return the worktree that contains an attempt's folder, else that of the current directory."""
    around = None if attempt is None else worktree_around(attempt)
    return worktree_root(Path.cwd()) if around is None else around


def search_all(
    root: Path,
    query: str,
    limit: int = 50,
    *,
    kinds: Collection[str] = KINDS,
    report: Callable[[str], None] = ignore_sentence,
) -> list[Found]:
    """Search the runs of a worktree, whichever tool recorded them, with `query.search`."""
    others = [_other_run(run) for run in foreign_runs().find(root)]
    return search(root, query, limit, kinds=kinds, others=others, report=report)


def _other_run(run: ForeignRun) -> OtherRun:
    return OtherRun(run.name, run.stamp, run.folder, lambda: read_run(run).events)


class ArchivedRuns:
    """Implements `ports.search.Archive` for a worktree."""

    def __init__(self, root: Callable[[], Path]) -> None:
        """`root` returns the worktree, which is not known yet when a new run begins."""
        self._root = root

    def search(self, query: str, limit: int = 50) -> Sequence[Found]:
        return search_all(self._root(), query, limit)

    def recorded(self, found: Found) -> Source:
        if not found.run:
            raise UsageError("no run's record contains this any more; it is in the knowledge file")
        root = self._root()
        there: tuple[AnyRun, ...] = (
            *find_runs(root),
            *find_hooked(root),
            *foreign_runs().find(root),
        )
        run = next((run for run in there if run.name == found.run), None)
        if run is None:
            raise UsageError(f"{found.run} no longer exists; open another run")
        replay = opened(to_replay(run))
        replay.seek(found.seq)
        return replay
