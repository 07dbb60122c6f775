"""The runs that another tool recorded in a worktree, and their rows in a list.

Rule: both read states and names of files, no transcript, and follow no path that stands inside of
one. Standard library only: lists are quick.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ralph_tui.adapters.records.listing import RunRow
from ralph_tui.importers import earlier, external, internal, state_file
from ralph_tui.importers.imported_run import ImportedRun

FINDERS = (
    (external.FOLDER, external.find),
    (external.FOLDER, earlier.find),
    (internal.FOLDER, internal.find),
)
"""Each yields the runs of its forms below an ``.aiwg``, with the folder that they lie in."""
ROWS = {
    **dict.fromkeys("ABCD", external.row_of),
    "F": earlier.row_of,
    **dict.fromkeys("GH", internal.row_of),
}
"""By the letter of a form."""
SIGNS = {external.FOLDER: (state_file.STATE,), internal.FOLDER: (internal.HOOK, internal.REGISTRY)}
"""Files that tell such a folder where it has another name."""
DEEPEST = 6
"""Folders above a file in which the run that it belongs to is looked for."""


def find_imported(root: Path) -> list[ImportedRun]:
    """All of a worktree, each by a name of its own; no order is promised."""
    base = root / ".aiwg"
    return list(_told_apart(run for name, find in FINDERS for run in find(base, name)))


def imported_at(path: Path) -> ImportedRun | None:
    """The run whose file or folder this is, or that it belongs to; of several the newest.

    The folder may have been copied out of its ``.aiwg``, and have another name.
    """
    here = path.absolute()
    for folder in [here, *here.parents][:DEEPEST]:
        finders = [f for name, f in FINDERS if folder.name == name or _looks_like(name, folder)]
        found = list(_told_apart(run for f in finders for run in f(folder.parent, folder.name)))
        exact = [run for run in found if here in (run.path, run.folder)]
        within = [run for run in found if here in run.path.parents or here == folder]
        around = [run for run in found if run.folder in here.parents]
        if chosen := [run for run in exact if here == run.path] or exact or within or around:
            return max(chosen, key=lambda run: run.changed)
    return None


def _looks_like(name: str, folder: Path) -> bool:
    """Whether a folder holds what lies in one of this name."""
    return any((folder / file).is_file() for file in SIGNS[name])


def row_of(run: ImportedRun) -> RunRow:
    """What its state says."""
    return ROWS[run.form](run)


def _told_apart(runs: Iterator[ImportedRun]) -> Iterator[ImportedRun]:
    """Two of one name get numbers behind it."""
    taken: dict[str, int] = {}
    for run in runs:
        count = taken[run.name] = taken.get(run.name, 0) + 1
        yield run if count == 1 else replace(run, name=f"{run.name}-{count}")
