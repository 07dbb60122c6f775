"""Changed files of the current iteration, by category."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from ralph_tui.events import FilesChanged
from ralph_tui.events.workspace import CategoryTotal, FileChange


class FilesFold:
    """What the files pane shows."""

    def __init__(self) -> None:
        self.revision = 0
        self.live = False
        self.iteration = 0
        self.totals: list[CategoryTotal] = []
        self.changes: list[FileChange] = []
        self.latest: str | None = None
        self.latest_at: datetime | None = None

    def handlers(self) -> dict[str, Callable[[Any], None]]:
        """See `Fold`."""
        return {"files_changed": self._files_changed, "iteration_started": self._iteration_started}

    def _iteration_started(self, event: Any) -> None:
        self.revision += 1
        self.iteration = event.iteration
        self.totals, self.changes, self.latest, self.live = [], [], None, True

    def _files_changed(self, event: FilesChanged) -> None:
        if event.live and not self.live and event.iteration == self.iteration:
            return  # the watcher's last word comes late: what the session did is settled
        self.revision += 1
        self.live = event.live
        self.totals, self.changes = event.totals, event.changes
        if event.latest is not None:
            self.latest, self.latest_at = event.latest, event.at
