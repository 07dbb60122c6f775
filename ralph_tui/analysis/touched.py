"""Files that a run is known to have changed, and those that affect its test results. Pure."""

from collections.abc import Iterable

from ralph_tui.layers.sensor.tampering import DecidingFiles, deciding_files, named_files
from ralph_tui.state import RunState


def touched_by(state: RunState) -> dict[str, list[int]]:
    """Return every path known to have changed, with the iterations that changed it."""
    found: dict[str, list[int]] = {}
    for span in state.timeline.spans:
        for change in span.files.changes if span.files else ():
            found.setdefault(change.path, []).append(span.number)
    return found


def to_check(paths: Iterable[str], command: str | None) -> DecidingFiles:
    """Return the paths that affect test results; without a completion command, only tests."""
    found = deciding_files(paths, named_files(command or ""))
    return found if command else DecidingFiles([], found.tests, [])
