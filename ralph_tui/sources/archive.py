"""The runs of a repository, looked back at: searched, and opened at a moment."""

from collections.abc import Sequence
from pathlib import Path

from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.records.runs import resolve_run
from ralph_tui.adapters.search.query import search
from ralph_tui.errors import UsageError
from ralph_tui.ports.search import Found
from ralph_tui.ports.source import Source
from ralph_tui.sources.recorded import opened


class RecordedRuns:
    """See `ports.search.Archive`, which it implements."""

    def __init__(self, root: Path) -> None:
        """`root` is the worktree whose records are looked at."""
        self._root = root

    def search(self, query: str, limit: int = 50) -> Sequence[Found]:
        """See `Archive`."""
        return search(self._root, query, limit)

    def recorded(self, found: Found) -> Source:
        """See `Archive`."""
        if not found.run:
            raise UsageError("no run's record has this any more: it stands in the knowledge file")
        recording = read_journal(resolve_run(self._root, found.run).journal)
        return opened(recording, at=min(found.seq, len(recording.events)))
