"""Runs of other tools, as the core asks for them: found, listed, read, and what is left of others.

Rule: to find and to list reads states and names of files, no transcript, and follows no path that
stands inside of one. Standard library only: lists are quick.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui.adapters.records.foreign import ForeignRun, ForeignRuns
from ralph_tui.importers import external, internal
from ralph_tui.importers.records import TOOL, ImportedRun, RunFiles
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import one_line

if TYPE_CHECKING:
    from ralph_tui.adapters.records.journal import Recording
    from ralph_tui.adapters.records.listing import RunRow

FINDERS = {external.FOLDER: external.find, internal.FOLDER: internal.find}
"""Each gives the runs of its forms below an ``.aiwg``, by the folder that they lie in."""
ROWS = {
    **dict.fromkeys("ABCD", external.row_of),
    "F": external.earlier_row_of,
    **dict.fromkeys("GH", internal.row_of),
}
"""By the letter of a form."""
SIGNS = {external.FOLDER: (external.STATE,), internal.FOLDER: (internal.HOOK, internal.REGISTRY)}
"""Files that tell such a folder where it has another name."""
DEEPEST = 6
"""Folders above a file in which the run that it belongs to is looked for."""
LEFT = ("prompts", "outputs", "analysis", "iterations")
"""Folders in which an external run leaves something."""


class ImportedRuns(ForeignRuns):
    """Implements it: every run that it finds is an `ImportedRun`."""

    tool = TOOL

    def find(self, root: Path) -> list[ImportedRun]:
        """See `ForeignRuns`: each has a name of its own."""
        base = root / ".aiwg"
        return _told_apart([run for name, find in FINDERS.items() for run in find(base, name)])

    def find_at(self, path: Path) -> ImportedRun | None:
        """See `ForeignRuns`. The folder may have been copied from elsewhere, under another name."""
        here = path.absolute()
        for folder in [here, *here.parents][:DEEPEST]:
            found = _told_apart(
                [
                    run
                    for name, find in FINDERS.items()
                    if folder.name == name or any((folder / one).is_file() for one in SIGNS[name])
                    for run in find(folder.parent, folder.name)
                ]
            )
            exact = [run for run in found if here in (run.path, run.folder)]
            within = [run for run in found if here in run.path.parents or here == folder]
            around = [run for run in found if run.folder in here.parents]
            if chosen := [run for run in exact if here == run.path] or exact or within or around:
                return max(chosen, key=lambda run: run.changed)
        return None

    def remains(self, root: Path) -> list[str]:
        """See `ForeignRuns`. A run whose file is there and broken is listed: its row says so."""
        base = root / ".aiwg"
        lost = (
            *_external_remains(RunFiles(base / external.FOLDER, base)),
            *_internal_remains(RunFiles(base / internal.FOLDER, base)),
        )
        return [
            f"{one_line(f'.aiwg/{where}')} holds a run of {TOOL} {what}: its {file} is missing, "
            "put it back"
            for where, what, file in lost
        ]

    def row_of(self, run: ForeignRun) -> "RunRow":
        assert isinstance(run, ImportedRun)
        return ROWS[run.form](run)

    def read(self, run: ForeignRun) -> "Recording":
        """See `ForeignRuns`: whatever state its files are in, notes tell what is of no use."""
        assert isinstance(run, ImportedRun)
        # Lists of runs are quick: what knows the events is loaded when one is read.
        from ralph_tui.importers import external_told, internal_told  # noqa: PLC0415
        from ralph_tui.importers.telling import recording_of  # noqa: PLC0415

        readers = {"F": external_told.earlier_told_of, **dict.fromkeys("GH", internal_told.told_of)}
        files = run.files
        return recording_of(run, readers.get(run.form, external_told.told_of)(run, files), files)


def _told_apart(runs: list[ImportedRun]) -> list[ImportedRun]:
    """Two of one name get numbers behind it."""
    taken: dict[str, int] = {}
    found = []
    for run in runs:
        nth = taken[run.name] = taken.get(run.name, 0) + 1
        found.append(run if nth == 1 else replace(run, name=f"{run.name}-{nth}"))
    return found


def _external_remains(files: RunFiles) -> list[tuple[str, str, str]]:
    """Where something is left, what it is good for, which file is missing."""
    if any(files.lies(name) for name in (external.STATE, f"{external.STATE}.bak")):
        return []
    if not any(files.numbers(folder, "") or files.names(folder, folders=True) for folder in LEFT):
        return []
    known = any(name.endswith(".json") for name in files.names("analytics"))
    what = "of which at most the analytics can be read" if known else "that cannot be read"
    return [(external.FOLDER, what, external.STATE)]


def _internal_remains(files: RunFiles) -> list[tuple[str, str, str]]:
    """As `_external_remains`."""
    found = []
    told = any(name.startswith("iteration-") for name in files.names("iterations"))
    if told and not files.lies(internal.HOOK):
        found.append((internal.FOLDER, "that cannot be read", internal.HOOK))
    known = {run.path.parent for run in internal.find(files.base)}
    lost = [
        f"{place}/{slug}"
        for place in internal.LOOPS
        for slug in files.names(place, folders=True)
        if files.folder / place / slug not in known and files.names(f"{place}/{slug}")
    ]
    if lost:
        more = f" (and of {count(len(lost) - 1, 'other')})" if len(lost) > 1 else ""
        where = f"{internal.FOLDER}/{lost[0]}{more}"
        found.append((where, "that cannot be read", internal.STATE))
    return found
