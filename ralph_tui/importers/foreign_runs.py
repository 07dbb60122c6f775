"""Runs of other tools for the core: find, list and read them, and report unreadable remains.

Finding and listing read only states and file names, no transcripts, and follow no path inside them.
Standard library only, to keep lists fast.
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
"""Functions that find runs below an ``.aiwg``, by the name of the runs' folder."""
ROWS = {
    **dict.fromkeys("ABCD", external.row_of),
    "F": external.earlier_row_of,
    **dict.fromkeys("GH", internal.row_of),
}
"""Functions that create list rows, by the letter of the form."""
SIGNS = {external.FOLDER: (external.STATE,), internal.FOLDER: (internal.HOOK, internal.REGISTRY)}
"""Files by which a folder of runs is recognised even under another name."""
MAX_DEPTH = 6
"""Maximum number of parent folders of a file that are searched for its run."""
WORK_FOLDERS = ("prompts", "outputs", "analysis", "iterations")
"""Folders in which an external run leaves files."""


class ImportedRuns(ForeignRuns):
    """Implements `ForeignRuns`; every run it finds is an `ImportedRun`."""

    tool = TOOL

    def find(self, root: Path) -> list[ImportedRun]:
        """Find all runs below `root`, and give each a unique name."""
        base = root / ".aiwg"
        return _number_names([run for name, find in FINDERS.items() for run in find(base, name)])

    def find_at(self, path: Path) -> ImportedRun | None:
        """Find the run at a path; its folder may be a copy with another name."""
        here = path.absolute()
        for folder in [here, *here.parents][:MAX_DEPTH]:
            found = _number_names(
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
        """Describe unreadable remains.

        A run with a broken state file is listed instead, and its row reports the problem.
        """
        base = root / ".aiwg"
        lost = (
            *_external_remains(RunFiles(base / external.FOLDER, base)),
            *_internal_remains(RunFiles(base / internal.FOLDER, base)),
        )
        return [
            f"{one_line(f'.aiwg/{where}')} holds a run of {TOOL} {what}: its {file} is missing; "
            "put it back"
            for where, what, file in lost
        ]

    def row_of(self, run: ForeignRun) -> "RunRow":
        assert isinstance(run, ImportedRun)
        return ROWS[run.form](run)

    def read(self, run: ForeignRun) -> "Recording":
        """Read the run, whatever state its files are in; notes report unusable parts."""
        assert isinstance(run, ImportedRun)
        # Imported late: lists of runs must be fast and need no events.
        from ralph_tui.importers import external_run, internal_run  # noqa: PLC0415
        from ralph_tui.importers.conversion import build_recording  # noqa: PLC0415

        readers = {"F": external_run.read_earlier_run, **dict.fromkeys("GH", internal_run.read_run)}
        files = run.files
        return build_recording(run, readers.get(run.form, external_run.read_run)(run, files), files)


def _number_names(runs: list[ImportedRun]) -> list[ImportedRun]:
    """Append a number to repeated names."""
    taken: dict[str, int] = {}
    found = []
    for run in runs:
        nth = taken[run.name] = taken.get(run.name, 0) + 1
        found.append(run if nth == 1 else replace(run, name=f"{run.name}-{nth}"))
    return found


def _external_remains(files: RunFiles) -> list[tuple[str, str, str]]:
    """Return each place with remains, a phrase that describes them, and the missing file."""
    if any(files.exists(name) for name in (external.STATE, f"{external.STATE}.bak")):
        return []
    if not any(
        files.numbers(folder, "") or files.names(folder, folders=True) for folder in WORK_FOLDERS
    ):
        return []
    known = any(name.endswith(".json") for name in files.names("analytics"))
    what = "that is unreadable, except perhaps its analytics" if known else "that cannot be read"
    return [(external.FOLDER, what, external.STATE)]


def _internal_remains(files: RunFiles) -> list[tuple[str, str, str]]:
    found = []
    has_files = any(name.startswith("iteration-") for name in files.names("iterations"))
    if has_files and not files.exists(internal.HOOK):
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
