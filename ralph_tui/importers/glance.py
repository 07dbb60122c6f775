"""What a list shows of an external state. A night's state takes a second to read, so that is kept.

Standard library only: lists of runs are quick.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from ralph_tui.adapters.agents.json_fields import as_list, as_map, as_text
from ralph_tui.adapters.records.listing import COMPLETIONS
from ralph_tui.importers.analysis import analysed
from ralph_tui.importers.fields import Json, as_ordinal, as_when
from ralph_tui.importers.folder import RunFiles
from ralph_tui.importers.numbering import recorded
from ralph_tui.importers.salvage import salvaged
from ralph_tui.importers.state_file import (
    STATE,
    ExternalState,
    Loop,
    number_of,
    read_state,
)

ACTING = ("redirect", "pause", "abort")
KEPT = 512
"""States that are remembered."""
Stamp = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class GlancedLoop:
    """One of the loops of a state."""

    session: str
    """Empty for the loop that the state is about."""
    iterations: int
    """The highest number."""
    completions: tuple[float, ...]
    """Fractions; a held reading repeats the one before it."""
    interventions: int


@dataclass(frozen=True, slots=True)
class Glance:
    """A state without its iterations."""

    loop_id: str
    objective: str
    status: str
    pid: int
    max_iterations: int | None
    current: int
    started: datetime | None
    updated: datetime | None
    loops: tuple[GlancedLoop, ...]
    empty: bool
    """No iteration was recorded."""
    whole: bool
    """It was read; else it is made up of the files beside it."""


def glance(files: RunFiles, folder: str = "") -> Glance | None:
    """Of the state in a folder, relative to the run's; None where none can be read."""
    found, notes = _glance(files.folder, files.base, folder, _stamp(files.folder / folder))
    files.notes += [note for note in notes if note not in files.notes]
    return found


@lru_cache(maxsize=KEPT)
def _glance(
    root: Path, base: Path, folder: str, _written: Stamp
) -> tuple[Glance | None, tuple[str, ...]]:
    files = RunFiles(root, base)
    read = read_state(files, folder)
    state = salvaged(files) if read is None and not folder else read
    beside = RunFiles(root / folder, base)
    found = _of(state, beside, whole=read is not None) if state is not None else None
    return found, tuple(files.notes)


def _stamp(folder: Path) -> Stamp:
    """Of both files: one that was written again has another."""
    found = []
    for name in (STATE, f"{STATE}.bak"):
        try:
            about = os.lstat(folder / name)
            found.append((about.st_ino, about.st_mtime_ns, about.st_size))
        except (OSError, ValueError):
            found.append((0, 0, -1))
    return tuple(found)


def _of(state: ExternalState, files: RunFiles, *, whole: bool) -> Glance:
    fields = state.fields
    return Glance(
        loop_id=state.loop_id,
        objective=as_text(fields.get("objective")),
        status=as_text(fields.get("status")),
        pid=as_ordinal(fields.get("currentPid")) or 0,
        max_iterations=as_ordinal(fields.get("maxIterations")),
        current=state.current,
        started=as_when(fields.get("startTime")),
        updated=as_when(fields.get("lastUpdate")),
        loops=tuple(_loop(loop, files) for loop in state.loops),
        empty=not state.entries,
        whole=whole,
    )


def _loop(loop: Loop, files: RunFiles) -> GlancedLoop:
    found = recorded(loop.entries)
    entries = [one.entry for one in found if one.entry is not None]
    highest = max((one.number for one in found), default=0)
    acted = sum(map(_acted, entries))
    return GlancedLoop(loop.session, highest, _completions(entries, files), acted)


def _completions(entries: Sequence[Json], files: RunFiles) -> tuple[float, ...]:
    readings: list[float] = []
    for entry in entries[-COMPLETIONS:]:
        found = analysed(entry, number_of(entry) or 0, files).completion
        readings.append(found / 100 if found is not None else readings[-1] if readings else 0.0)
    return tuple(readings)


def _acted(entry: Json) -> int:
    made = as_list(as_map(entry.get("healthReport")).get("interventions"))
    return sum(as_text(as_map(one).get("level")).lower() in ACTING for one in made)
