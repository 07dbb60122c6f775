"""The newest fleet of a repository, as home tells it in a line."""

from pathlib import Path
from time import monotonic

from ralph_tui.fleet.records.folders import FleetFolder, find_fleets
from ralph_tui.fleet.sources.whole import Fleet
from ralph_tui.fleet.wording import cost_words, fleet_sentence
from ralph_tui.ports.runs import FleetGlance
from ralph_tui.sources.listed import FleetGlances
from ralph_tui.text.sanitize import one_line


class FollowedFleet(FleetGlances):
    """Folds the fleet's own journal alone, as it grows; called in a thread, one call at a time."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folder: FleetFolder | None = None
        self._fleet: Fleet | None = None

    def glance(self) -> FleetGlance | None:
        """See `FleetGlances`."""
        newest = next(reversed(find_fleets(self._root)), None)
        if newest != self._folder or self._fleet is None:
            if self._fleet is not None:
                self._fleet.close()
            self._folder = newest
            self._fleet = Fleet(newest) if newest is not None else None
        fleet = self._fleet
        if fleet is None:
            return None
        state = fleet.poll(monotonic())
        if state.started is None:
            return None
        loops = state.loops.values()
        return FleetGlance(
            name=fleet.folder.name,
            title=one_line(state.plan.name),
            objectives=len({loop.spec.tries_at or loop.spec.id for loop in loops}),
            sentence=one_line(fleet_sentence(state, fleet.clock(), lost=fleet.lost)),
            cost=cost_words(state),
            live=fleet.live,
            asking=fleet.live and any(loop.question for loop in loops),
        )
