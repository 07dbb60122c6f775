"""Runs that other tools recorded, read-only: found, listed, and told in events of ours.

A form is found and listed by one module, told by another: what it reads becomes a `ToldRun`, and
`telling` makes of any of these the events that our own loop would have recorded.
"""

from ralph_tui.importers.finding import find_imported, row_of
from ralph_tui.importers.imported_run import ImportedRun
from ralph_tui.importers.reading import read_imported
from ralph_tui.importers.remains import remains

__all__ = ["ImportedRun", "find_imported", "read_imported", "remains", "row_of"]
