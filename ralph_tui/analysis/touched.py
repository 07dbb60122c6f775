"""Which files a run is known to have changed, and which of them decide what its tests say. Pure."""

from collections.abc import Iterable

from ralph_tui.layers.sensor.categories import categorize
from ralph_tui.layers.sensor.tampering import gate_files, named_files
from ralph_tui.state import RunState


def touched_by(state: RunState) -> dict[str, list[int]]:
    """Every path that is known to have been changed, and the iterations that did it."""
    found: dict[str, list[int]] = {}
    for span in state.timeline.spans:
        for change in span.files.changes if span.files else ():
            found.setdefault(change.path, []).append(span.number)
    return found


def deciding(paths: Iterable[str], command: str | None) -> tuple[list[str], list[str]]:
    """Of these paths the tests, and what configures them; `command` measures."""
    paths = list(paths)
    config = gate_files(paths, named_files(command)) if command else []
    return [path for path in paths if path not in config and categorize(path) == "test"], config
