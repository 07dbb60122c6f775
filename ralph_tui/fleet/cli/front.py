"""The fleet's screen on a fleet that lives in another process, or is over; its loops beside it."""

from ralph_tui.cli.fronts.garbage import collect_garbage_again
from ralph_tui.cli.fronts.stage import Looking, Stage
from ralph_tui.fleet.sources.loop import opened_loop
from ralph_tui.fleet.sources.whole import Fleet
from ralph_tui.fleet.tui.screen import FleetScreen
from ralph_tui.tui.app import BaseScreen, SideScreen, SideScreens
from ralph_tui.tui.cockpit.recorded import LoopScreen, RecordedScreen


class FleetFront(Looking):
    """See `Front`, which it implements."""

    def __init__(self, fleet: Fleet, stage: Stage, *, loop: str = "") -> None:
        """`loop`: the one that is opened at once; empty: none."""
        self.beside = SideScreens(self._search, RecordedScreen)
        self._fleet, self._stage, self._loop = fleet, stage, loop

    def screen(self) -> BaseScreen:
        return FleetScreen(self._fleet, self._open, at_once=self._loop)

    def begin(self) -> None:
        collect_garbage_again()

    def _open(self, loop: str) -> SideScreen:
        return LoopScreen(opened_loop(self._fleet, self._fleet.state.loops[loop]))

    def _search(self) -> SideScreen:
        # A text field and an index take long to import, and the first paint waits for neither.
        from ralph_tui.runtime.sources.archive import ArchivedRuns, worktree_of  # noqa: PLC0415
        from ralph_tui.tui.search.screen import SearchScreen  # noqa: PLC0415

        return SearchScreen(ArchivedRuns(lambda: worktree_of(self._fleet.folder.path)))
