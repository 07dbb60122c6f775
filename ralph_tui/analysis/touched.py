"""Which files a run is known to have changed, and which of them decide what its tests say. Pure."""

from collections.abc import Iterable

from ralph_tui.layers.sensor.tampering import Deciding, deciding, named_files
from ralph_tui.state import RunState


def touched_by(state: RunState) -> dict[str, list[int]]:
    """Every path that is known to have been changed, and the iterations that did it."""
    found: dict[str, list[int]] = {}
    for span in state.timeline.spans:
        for change in span.files.changes if span.files else ():
            found.setdefault(change.path, []).append(span.number)
    return found


def to_check(paths: Iterable[str], command: str | None) -> Deciding:
    """Which of these paths decide; without a completion command the tests alone."""
    found = deciding(paths, named_files(command or ""))
    return found if command else Deciding([], found.tests, [])
