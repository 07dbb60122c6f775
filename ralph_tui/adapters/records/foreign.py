"""Runs that other tools recorded: what the core needs of whoever reads them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ralph_tui.base.extensions import FOREIGN_PLACES, FOREIGN_RUNS, brought, is_there

if TYPE_CHECKING:
    from ralph_tui.adapters.records.journal import Recording
    from ralph_tui.ports.runs import RunRow


class ForeignRun(Protocol):
    """One of them, found and not read."""

    @property
    def name(self) -> str:
        """What the command line calls it: ``TOOL/1a2b3c4d``."""

    @property
    def path(self) -> Path:
        """The file that it is the run of."""

    @property
    def folder(self) -> Path:
        """What it left lies below it."""

    @property
    def changed(self) -> float:
        """When its file was written last, seconds since the epoch; 0 where it is gone."""

    @property
    def stamp(self) -> str:
        """Differs once one of its files was written, came or went."""


class ForeignRuns(Protocol):
    """Finds and reads them. To find one and to make its row is quick; to read one is not."""

    tool: str
    """What the runs are called by; empty: there are none."""

    def find(self, root: Path) -> Sequence[ForeignRun]:
        """All of a worktree, in no order."""

    def find_at(self, path: Path) -> ForeignRun | None:
        """The run whose file or folder this is, or that it belongs to; of several the newest."""

    def remains(self, root: Path) -> Sequence[str]:
        """A sentence for each place of a worktree whose run cannot be listed."""

    def row_of(self, run: ForeignRun) -> "RunRow":
        """For a list; the run is one that it found."""

    def read(self, run: ForeignRun) -> "Recording":
        """All of it as events; the run is one that it found."""


class NoForeignRuns:
    """Where nothing reads them."""

    tool = ""

    def find(self, root: Path) -> Sequence[ForeignRun]:
        """None."""
        return ()

    def find_at(self, path: Path) -> ForeignRun | None:
        """None."""
        return None

    def remains(self, root: Path) -> Sequence[str]:
        """Nothing."""
        return ()

    def row_of(self, run: ForeignRun) -> "RunRow":
        """Never called: none is found."""
        raise NotImplementedError

    def read(self, run: ForeignRun) -> "Recording":
        """Never called: none is found."""
        raise NotImplementedError


def foreign_runs(root: Path | None = None) -> ForeignRuns:
    """Return the reader of foreign runs; without its extension there are none.

    With `root`, the extension loads only if that worktree may have some.
    """
    if root is not None and not any((root / ".aiwg" / place).exists() for place in FOREIGN_PLACES):
        return NoForeignRuns()
    if not is_there(FOREIGN_RUNS):
        return NoForeignRuns()
    found: ForeignRuns = brought(FOREIGN_RUNS)()
    return found
