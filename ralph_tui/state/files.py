"""Changed files of the current iteration, by category."""

from datetime import datetime

from ralph_tui.events import FilesChanged, IterationStarted
from ralph_tui.events.workspace import CategoryTotal, FileChange
from ralph_tui.state.fold import Fold


class FilesFold(Fold):
    """State of the files pane."""

    def __init__(self) -> None:
        self.live = False
        self.unknown = False
        """True if the changes cannot be determined."""
        self.iteration = 0
        self.totals: list[CategoryTotal] = []
        self.changes: list[FileChange] = []
        self.latest: str | None = None
        self.latest_at: datetime | None = None

    def on_iteration_started(self, event: IterationStarted) -> None:
        self.iteration = event.iteration
        self.totals, self.changes, self.latest, self.live = [], [], None, True
        self.unknown = False

    def on_files_changed(self, event: FilesChanged) -> bool:
        if event.live and not self.live and event.iteration == self.iteration:
            return False  # the watcher reports late: the session's changes are already settled
        self.live, self.unknown = event.live, event.unknown
        self.totals, self.changes = event.totals, event.changes
        if event.latest is not None:
            self.latest, self.latest_at = event.latest, event.at
        return True
