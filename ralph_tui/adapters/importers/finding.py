"""The runs that another tool recorded in a worktree, and their rows in a list.

Rule: both read states and names of files, no transcript, and follow no path that stands inside of
one. Standard library only: lists are quick.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ralph_tui.adapters.importers import external
from ralph_tui.adapters.importers.imported_run import ImportedRun
from ralph_tui.adapters.records.listing import RunRow

FINDERS = (external.find,)
"""Each yields the runs of its forms below an ``.aiwg``."""
ROWS = {**dict.fromkeys("ABCD", external.row_of)}
"""By the letter of a form."""


def find_imported(root: Path) -> list[ImportedRun]:
    """All of a worktree, each by a name of its own; no order is promised."""
    return list(_told_apart(run for find in FINDERS for run in find(root / ".aiwg")))


def row_of(run: ImportedRun) -> RunRow:
    """What its state says."""
    return ROWS[run.form](run)


def _told_apart(runs: Iterator[ImportedRun]) -> Iterator[ImportedRun]:
    """Two of one name get numbers behind it."""
    taken: dict[str, int] = {}
    for run in runs:
        count = taken[run.name] = taken.get(run.name, 0) + 1
        yield run if count == 1 else replace(run, name=f"{run.name}-{count}")
