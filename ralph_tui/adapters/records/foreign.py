"""Runs recorded by other tools: the interface between the core and their readers."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ralph_tui.base.extensions import (
    FOREIGN_PLACES,
    FOREIGN_RUNS,
    HOOKED_LOOPS,
    is_installed,
    load_object,
)

if TYPE_CHECKING:
    from ralph_tui.adapters.records.journal import Recording
    from ralph_tui.ports.runs import RunRow


class ForeignRun(Protocol):
    """A run of another tool that has been found but not read."""

    @property
    def name(self) -> str:
        """The name on the command line, such as ``TOOL/1a2b3c4d``."""

    @property
    def path(self) -> Path:
        """The file that identifies the run."""

    @property
    def folder(self) -> Path:
        """The folder that contains the run's files."""

    @property
    def changed(self) -> float:
        """When the run's file was last written, in seconds since the epoch; 0 if it is gone."""

    @property
    def stamp(self) -> str:
        """A value that changes when one of the run's files is written, created or deleted."""


class ForeignRuns(Protocol):
    """A reader of foreign runs. `find` and `row_of` are quick, `read` is slow."""

    tool: str
    """Name of the tool; empty if nothing reads foreign runs."""

    def find(self, root: Path) -> Sequence[ForeignRun]:
        """Return all runs of a worktree, in no particular order."""

    def find_at(self, path: Path) -> ForeignRun | None:
        """Return the run that this file or folder belongs to; the newest if there are several."""

    def remains(self, root: Path) -> Sequence[str]:
        """Return a sentence for each place in a worktree whose run cannot be listed."""

    def row_of(self, run: ForeignRun) -> "RunRow":
        """Return the row of a run that `find` returned."""

    def read(self, run: ForeignRun) -> "Recording":
        """Return the events of a run that `find` returned."""


def track_hooked_loops(root: Path, *, again: bool = False) -> frozenset[str]:
    """Add ended loops that hooks recorded, as attempts of tasks; `again` rewrites existing ones.

    Fast if nothing is new. A later call retries what could not be written. Returns the names of
    the loops that have an attempt.
    """
    if (root / ".aiwg" / "ralph" / "hooks").is_dir() and is_installed(HOOKED_LOOPS):
        tracked: frozenset[str] = load_object(HOOKED_LOOPS)(root, again=again)
        return tracked
    return frozenset()


class NoForeignRuns:
    """A reader that finds nothing."""

    tool = ""

    def find(self, root: Path) -> Sequence[ForeignRun]:
        return ()

    def find_at(self, path: Path) -> ForeignRun | None:
        return None

    def remains(self, root: Path) -> Sequence[str]:
        return ()

    def row_of(self, run: ForeignRun) -> "RunRow":
        raise NotImplementedError

    def read(self, run: ForeignRun) -> "Recording":
        raise NotImplementedError


def foreign_runs(root: Path | None = None) -> ForeignRuns:
    """Return the reader of foreign runs, which finds nothing if its extension is missing.

    With `root`, the extension is loaded only if that worktree may have foreign runs.
    """
    if root is not None and not any((root / ".aiwg" / place).exists() for place in FOREIGN_PLACES):
        return NoForeignRuns()
    if not is_installed(FOREIGN_RUNS):
        return NoForeignRuns()
    found: ForeignRuns = load_object(FOREIGN_RUNS)()
    return found
