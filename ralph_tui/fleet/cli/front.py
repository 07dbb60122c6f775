"""Show a fleet's screen when the fleet runs in another process or has ended."""

from ralph_tui.cli.fronts.garbage import enable_garbage_collector
from ralph_tui.cli.fronts.stage import Stage, ViewerFront
from ralph_tui.fleet.sources.fleet import Fleet
from ralph_tui.fleet.sources.loop import open_loop
from ralph_tui.fleet.tui.screen import FleetScreen
from ralph_tui.tui.app import BaseScreen, SideScreen, SideScreens
from ralph_tui.tui.cockpit.recorded import LoopScreen, RecordedScreen


class FleetFront(ViewerFront):
    """Implements `Front` for a fleet."""

    def __init__(self, fleet: Fleet, stage: Stage, *, loop: str = "") -> None:
        """`loop` is the loop whose screen is opened at once; empty for none."""
        self.beside = SideScreens(self._search, RecordedScreen)
        self._fleet, self._stage, self._loop = fleet, stage, loop

    def screen(self) -> BaseScreen:
        return FleetScreen(self._fleet, self._open, at_once=self._loop)

    def begin(self) -> None:
        enable_garbage_collector()

    def _open(self, loop: str) -> SideScreen:
        return LoopScreen(open_loop(self._fleet, self._fleet.state.loops[loop]))

    def _search(self) -> SideScreen:
        # A text field and an index take long to import; the first paint must not wait for them.
        from ralph_tui.runtime.sources.archive import ArchivedRuns, worktree_of  # noqa: PLC0415
        from ralph_tui.tui.search.screen import SearchScreen  # noqa: PLC0415

        return SearchScreen(ArchivedRuns(lambda: worktree_of(self._fleet.folder.path)))
