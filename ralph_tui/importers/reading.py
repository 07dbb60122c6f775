"""A run of another tool as a `Recording`: the same events in which our own runs are recorded."""

from typing import TYPE_CHECKING

from ralph_tui.importers.imported_run import ImportedRun

if TYPE_CHECKING:
    from ralph_tui.adapters.records.journal import Recording


def read_imported(run: ImportedRun) -> "Recording":
    """Read it whole, whatever state its files are in; what is of no use is told in notes."""
    # Lists of runs are quick: what knows the events is loaded when one is read.
    from ralph_tui.importers import (  # noqa: PLC0415
        earlier_told,
        external_told,
        internal_told,
    )
    from ralph_tui.importers.telling import recording_of  # noqa: PLC0415

    readers = {"F": earlier_told, "G": internal_told, "H": internal_told}
    reader = readers.get(run.form, external_told)
    return recording_of(run, *reader.told_of(run))
