"""Screens that open beside a run's screen: the search, and the runs it finds."""

from ralph_tui.ports.source import Source
from ralph_tui.tui.app import SideScreen, SideScreens


def side_screens(source: Source) -> SideScreens:
    """Return the side screens for the worktree of the run in `source`."""

    def search() -> SideScreen:
        # A text field and an index take long to import, so the first frame does not wait for them.
        from ralph_tui.runtime.sources.archive import ArchivedRuns, worktree_of  # noqa: PLC0415
        from ralph_tui.tui.search.screen import SearchScreen  # noqa: PLC0415

        return SearchScreen(ArchivedRuns(lambda: worktree_of(source.folder)))

    def recorded(source: Source) -> SideScreen:
        from ralph_tui.tui.cockpit.recorded import RecordedScreen  # noqa: PLC0415 - as above

        return RecordedScreen(source)

    return SideScreens(search, recorded)
