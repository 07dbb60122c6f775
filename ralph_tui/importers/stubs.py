"""Entries of an external list of loops without an iteration: a longer name for a run, its end.

A stub belongs to the run with the same objective that began within a second of it. Standard library
only.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from ralph_tui.importers.folder import RunFiles
from ralph_tui.importers.glance import Glance, glance

PLACES = ("loops", "archive")
MOST = 2_000
"""Of one place that are looked at."""


@dataclass(frozen=True)
class Stub:
    """One of them."""

    slug: str
    objective: str
    started: datetime | None
    pid: int
    max_iterations: int
    """0: not known."""
    updated: datetime | None
    status: str
    """Empty unless it was archived: until then it says what was when it was made."""

    def joins(self, objective: str, started: datetime | None) -> bool:
        """Whether it belongs to a run."""
        if self.started is None or started is None or self.objective != objective:
            return False
        return abs((self.started - started).total_seconds()) <= 1


def listed(files: RunFiles) -> Iterator[tuple[str, Glance]]:
    """What the list has: folder of each, relative to the run's, and its state."""
    for place in PLACES:
        for name in files.names(place, folders=True)[:MOST]:
            folder = f"{place}/{name}"
            state = glance(files, folder)
            if state is not None:
                yield folder, state


def stub_of(files: RunFiles, objective: str, started: datetime | None) -> Stub | None:
    """The one that belongs to a run; an archived one first."""
    found = [
        stub
        for folder, state in listed(files)
        if state.empty
        for stub in [_stub(folder, state)]
        if stub.joins(objective, started)
    ]
    return max(found, key=lambda stub: bool(stub.status), default=None)


def _stub(folder: str, state: Glance) -> Stub:
    archived = folder.startswith("archive/")
    return Stub(
        state.loop_id or folder.rpartition("/")[2],
        state.objective,
        state.started,
        state.pid,
        state.max_iterations or 0,
        state.updated if archived else None,
        state.status if archived else "",
    )
