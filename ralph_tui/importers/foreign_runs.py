"""Runs of other tools, as the core asks for them: see `sources.foreign.ForeignRuns`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui.importers.finding import find_imported, imported_at, row_of
from ralph_tui.importers.imported_run import TOOL, ImportedRun
from ralph_tui.importers.reading import read_imported
from ralph_tui.importers.remains import remains
from ralph_tui.sources.foreign import ForeignRun, ForeignRuns

if TYPE_CHECKING:
    from ralph_tui.adapters.records.journal import Recording
    from ralph_tui.analysis.run_row import RunRow


class ImportedRuns(ForeignRuns):
    """Implements it: every run that it finds is an `ImportedRun`."""

    tool = TOOL

    def find(self, root: Path) -> Sequence[ForeignRun]:
        """See `ForeignRuns`."""
        return find_imported(root)

    def find_at(self, path: Path) -> ForeignRun | None:
        """See `ForeignRuns`."""
        return imported_at(path)

    def remains(self, root: Path) -> Sequence[str]:
        """See `ForeignRuns`."""
        return remains(root)

    def row_of(self, run: ForeignRun) -> "RunRow":
        """See `ForeignRuns`."""
        assert isinstance(run, ImportedRun)
        return row_of(run)

    def read(self, run: ForeignRun) -> "Recording":
        """See `ForeignRuns`."""
        assert isinstance(run, ImportedRun)
        return read_imported(run)
