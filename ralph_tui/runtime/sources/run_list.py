"""The runs of a worktree for a list on a screen, searched again only after a change.

A call once a second costs only a few checks of folders, however many runs there are.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Protocol

from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.adapters.records.listing import ListedRun, active_owner, list_runs, row_of
from ralph_tui.adapters.records.runs import HOOKED, SILENCE_S
from ralph_tui.base.extensions import FLEET_GLANCES, is_installed, load_object
from ralph_tui.ports.runs import FleetGlance, RunRow
from ralph_tui.text.sanitize import one_line

if TYPE_CHECKING:
    from ralph_tui.adapters.records.foreign import ForeignRun

_CHANGING = ("tasks", HOOKED, "index/tasks.json", "../ralph-external", "current-loop.json")
"""Paths that show changes: folders if a task or loop is new, files if a run has ended."""
AT_ONCE = 100
"""Number of newest tasks that the first call lists; listing ten thousand takes a while."""


class FleetGlances(Protocol):
    """The newest fleet of a worktree, checked repeatedly in a thread."""

    def glance(self) -> FleetGlance | None:
        """Return the fleet's status; None if there is no fleet or it has recorded nothing yet."""


class ListedRuns:
    """Implements `ports.runs.Runs` for a worktree."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._found: Mapping[str, ListedRun] = {}
        self._imported: Mapping[str, ForeignRun] = {}
        self._lost: Sequence[str] = ()
        self._fleet: FleetGlances | None = None
        self._first = True
        self._whole = False
        """True once the runs of other tools have also been searched."""
        self._stamp: object = None

    @property
    def place(self) -> str:
        home = os.path.expanduser("~")  # noqa: PTH111  a user without a home is not an error here
        text = str(self._root)
        return one_line(f"~{text[len(home) :]}" if text.startswith(f"{home}/") else text)

    def names(self) -> Sequence[str] | None:
        if self._first:
            self._first = False
            self._found = {listed.name: listed for listed in list_runs(self._root, AT_ONCE)}
            return list(self._found)
        stamp = tuple(map(self._changed, _CHANGING))
        working = self._working()
        if stamp != self._stamp or (working and working not in self._found):
            self._stamp, self._whole = None, False  # after an error, the next call tries again
            self._found = {listed.name: listed for listed in list_runs(self._root)}
            self._stamp = stamp
        elif self._whole:
            return None
        # The module that finds runs of other tools is slow to load.
        from ralph_tui.adapters.records.foreign import foreign_runs, track_hooked_loops  # noqa: PLC0415

        track_hooked_loops(self._root)
        foreign = foreign_runs(self._root)
        self._imported = {run.name: run for run in foreign.find(self._root)}
        self._lost = foreign.remains(self._root)
        self._whole = True
        when = {name: listed.written for name, listed in self._found.items()}
        when |= {name: run.changed for name, run in self._imported.items()}
        return sorted(when, key=when.__getitem__, reverse=True)

    def lost(self) -> Sequence[str]:
        return self._lost

    def fleet(self) -> FleetGlance | None:
        if self._fleet is None:
            # Few repositories have fleets, and the module for their journals is slow to load.
            have = os.path.lexists(ralph_folder(self._root) / "fleets")
            if not (have and is_installed(FLEET_GLANCES)):
                return None
            self._fleet = load_object(FLEET_GLANCES)(self._root)
        return self._fleet.glance()

    def live_names(self) -> Sequence[str]:
        working = self._working()
        return [*([working] if working in self._found else []), *self._recent_loops()]

    def read(self, names: Iterable[str]) -> Mapping[str, RunRow]:
        owner = active_owner(self._root)
        rows = {}
        for name in names:
            ours, imported = self._found.get(name), self._imported.get(name)
            if ours is not None and os.path.lexists(ours.journal):
                rows[name] = row_of(ours.run, owner)
            elif imported is not None:
                from ralph_tui.adapters.records.foreign import foreign_runs  # noqa: PLC0415

                rows[name] = foreign_runs().row_of(imported)
        return rows

    def _working(self) -> str:
        owner = active_owner(self._root)
        return owner.run if owner is not None else ""

    def _recent_loops(self) -> Iterator[str]:
        """Yield loops recorded by hooks that wrote an event recently."""
        oldest = time() - SILENCE_S
        for name, listed in self._found.items():
            if name.startswith(f"{HOOKED}/") and self._written(listed.journal) > oldest:
                yield name

    def _changed(self, name: str) -> float:
        return self._written(str(ralph_folder(self._root) / name))

    @staticmethod
    def _written(path: str) -> float:
        try:
            return os.lstat(path).st_mtime
        except OSError:
            return 0.0
