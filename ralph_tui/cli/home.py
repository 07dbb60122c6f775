"""The home screen: ``ralph-tui`` without a command, on a terminal.

Each action is an ordinary command: the screen closes, and the command runs as if it had been typed.
Home then reopens at the same place, and shows the error if the command failed.
"""

import gc
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui.adapters.records.folders import worktree_root
from ralph_tui.base.errors import RalphError
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.fronts import signals
from ralph_tui.cli.fronts.stage import Stage, ViewerFront
from ralph_tui.config.files import screen_settings
from ralph_tui.text.sanitize import one_line
from ralph_tui.tui.app import BaseScreen, SideScreen, SideScreens
from ralph_tui.tui.first_frame import ListFrame

if TYPE_CHECKING:
    from ralph_tui.ports.new_runs import NewRuns
    from ralph_tui.ports.source import Source
    from ralph_tui.runtime.sources.run_list import ListedRuns
    from ralph_tui.tui.home.table import Listing

START_COMMANDS = ("run", "demo")
"""Commands whose run becomes the newest."""


def show_home(dispatch: Callable[[Sequence[str]], int]) -> int:
    """Show home until the user leaves; `dispatch` runs a command line and raises its errors.

    A signal that ends a screen opened from home also ends home.
    """
    root = worktree_root(Path.cwd())
    home = Home(root)
    while True:
        code = Stage(
            home.load,
            screen_settings(root, os.environ),
            left=ExitCode.COMPLETED,
            opening=partial(ListFrame, "home", "runs", "ralph-tui", "looking for runs…"),
        ).show()
        command = home.take_command()
        if not command or signals.RECEIVED:
            return code
        try:
            code = dispatch(command)
            if command[0] == "run":
                # The run has already loaded this module.
                from ralph_tui.adapters.records.drafts import delete_draft  # noqa: PLC0415

                delete_draft(root)
        except RalphError as error:
            home.message, code = one_line(str(error)), error.exit_code
        if signals.RECEIVED:
            return code


class Home(ViewerFront):
    """The `Front` of home, reused each time it opens, so that it remembers the selected run."""

    beside: SideScreens

    def __init__(self, root: Path) -> None:
        self.message = ""
        """The error of the last command."""
        self._root = root
        self._listing: Listing | None = None
        self._runs: ListedRuns | None = None
        self._command: Sequence[str] = ()
        self.beside = SideScreens(self._search, self._open_recorded)

    def load(self, stage: Stage) -> "Home":
        """Prepare to be shown; called behind the first frame."""
        from ralph_tui.tui.home.table import Listing  # noqa: PLC0415

        self._stage = stage
        self._listing = self._listing or Listing()
        return self

    def take_command(self) -> Sequence[str]:
        """Return the command line the user chose; empty if the user left home."""
        command, self._command = self._command, ()
        if self._listing is not None and command and command[0] in START_COMMANDS:
            # The new run will be at the top, and selected.
            self._listing.names, self._listing.selected, self._listing.loaded = (), 0, False
        return command

    def screen(self) -> BaseScreen:
        from ralph_tui.runtime.sources.run_list import ListedRuns  # noqa: PLC0415 - behind the first frame
        from ralph_tui.tui.home.screen import HomeScreen  # noqa: PLC0415
        from ralph_tui.tui.home.table import Listing  # noqa: PLC0415

        message, self.message = self.message, ""
        listing = self._listing or Listing()
        self._runs = self._runs or ListedRuns(self._root)
        return HomeScreen(
            self._runs, listing, self._on_chosen, new_runs=self._new_runs, message=message
        )

    def begin(self) -> None:
        gc.enable()

    def _on_chosen(self, command: Sequence[str]) -> None:
        self._command = command

    def _new_runs(self) -> "NewRuns":
        # This loads git, agents and settings.
        from ralph_tui.runtime.new_runs import FolderNewRuns  # noqa: PLC0415

        return FolderNewRuns(self._root)

    def _search(self) -> SideScreen:
        # An index and a cockpit take long to import, and searches from home are rare.
        from ralph_tui.runtime.sources.archive import ArchivedRuns  # noqa: PLC0415
        from ralph_tui.tui.search.screen import SearchScreen  # noqa: PLC0415

        return SearchScreen(ArchivedRuns(lambda: self._root))

    @staticmethod
    def _open_recorded(source: "Source") -> SideScreen:
        from ralph_tui.tui.cockpit.recorded import RecordedScreen  # noqa: PLC0415 - as above

        return RecordedScreen(source)
