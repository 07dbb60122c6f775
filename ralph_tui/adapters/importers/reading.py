"""A run of another tool as a `Recording`: the same events in which our own runs are recorded."""

from typing import TYPE_CHECKING

from ralph_tui.adapters.importers.imported_run import ImportedRun

if TYPE_CHECKING:
    from ralph_tui.adapters.records.journal import Recording


def read_imported(run: ImportedRun) -> "Recording":
    """Read it whole, whatever state its files are in; what is of no use is told in notes."""
    # Lists of runs are quick: what knows the events is loaded when one is read.
    from ralph_tui.adapters.importers import earlier_told, external_told, internal_told  # noqa: PLC0415
    from ralph_tui.adapters.importers.telling import recording_of  # noqa: PLC0415

    readers = {"F": earlier_told, "G": internal_told, "H": internal_told}
    reader = readers.get(run.form, external_told)
    return recording_of(run, *reader.told_of(run))
