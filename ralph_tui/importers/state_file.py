"""``session-state.json`` of an external run: what counts of it and its ``.bak``, and its loops.

Standard library only: lists of runs are quick.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ralph_tui.adapters.agents.json_fields import as_list, as_map, as_text
from ralph_tui.importers.fields import Json, as_ordinal
from ralph_tui.importers.folder import RunFiles

STATE = "session-state.json"


@dataclass(frozen=True)
class Loop:
    """The iterations of one loop, in the order in which they were recorded."""

    session: str
    """Its id; empty for the loop that the file itself is about."""
    entries: tuple[Json, ...]


@dataclass(frozen=True)
class ExternalState:
    """Both files as one."""

    fields: Json
    """Of the main file, or of the other one where that is of no use."""
    entries: tuple[Json, ...]

    @property
    def loop_id(self) -> str:
        """A uuid; a slug where nothing but a list of loops was kept."""
        return as_text(self.fields.get("loopId"))

    @property
    def current(self) -> int:
        """The iteration it was in when it was written last; 0 for none."""
        return as_ordinal(self.fields.get("currentIteration")) or 0

    @property
    def loops(self) -> list[Loop]:
        """The one that the file is about first, then others whose iterations stand mixed in."""
        return split(self.entries, as_text(self.fields.get("sessionId")))


def read_state(files: RunFiles, folder: str = "") -> ExternalState | None:
    """Of the same loop the longer list of iterations counts, and all else of the main file.

    `folder`: where they lie, relative to the run's. None where neither can be read.
    """
    name = f"{folder}/{STATE}" if folder else STATE
    main, kept = files.json(name), files.json(f"{name}.bak")
    if main is None or not main:
        return None if kept is None else ExternalState(kept, _entries(kept))
    entries = _entries(main)
    if kept is not None and kept.get("loopId") == main.get("loopId"):
        older = _entries(kept)
        entries = older if len(older) > len(entries) else entries
    return ExternalState(main, entries)


def number_of(entry: Json) -> int | None:
    """The number of a recorded iteration, from 1."""
    return as_ordinal(entry.get("number")) or None


def split(entries: Sequence[Json], session: str) -> list[Loop]:
    """Entries whose numbers go back are those of two loops, told apart by their sessions.

    `session` is that of the file: its loop comes first.
    """
    numbers = [number for entry in entries if (number := number_of(entry)) is not None]
    sessions = list(dict.fromkeys(as_text(entry.get("sessionId")) for entry in entries))
    rising = all(a <= b for a, b in pairwise(numbers))
    if rising or len(sessions) < 2:
        return [Loop("", tuple(entries))]
    own = session if session in sessions else sessions[-1]
    loops = [
        Loop("" if one == own else one, tuple(e for e in entries if e.get("sessionId", "") == one))
        for one in sorted(sessions, key=lambda one: one != own)
    ]
    return [loop for loop in loops if loop.entries]


def _entries(fields: Json) -> tuple[Json, ...]:
    return tuple(as_map(entry) for entry in as_list(fields.get("iterations")) if as_map(entry))
