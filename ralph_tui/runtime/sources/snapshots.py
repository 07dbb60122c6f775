"""A run's snapshots for its screen, read with git from its repository, which may be gone."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui.adapters.records.folders import worktree_root
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.events.workspace import FileChange
from ralph_tui.text.git_diff import parts_of
from ralph_tui.text.sanitize import one_line, spelled_name

if TYPE_CHECKING:
    from ralph_tui.adapters.workspace.snapshots import GitWorkspace


class RecordedFiles:
    """A run's `Files`; opens the repository on first use.

    Callable from any thread. Methods raise ``WorkspaceError`` or ``UsageError`` if there is no
    repository around the attempt's folder, or if it lacks the snapshots.
    """

    def __init__(self, folder: Path) -> None:
        """`folder` is the attempt's."""
        self._folder = folder
        self._opened: GitWorkspace | None = None
        self._lock = threading.Lock()

    def changes(self, since: str, until: str) -> tuple[FileChange, ...]:
        return self._workspace_with(since, until).changes(since, until)

    def from_present(self, tree: str) -> tuple[FileChange, ...]:
        workspace = self._workspace_with(tree)
        from ralph_tui.adapters.workspace.private_repository import PrivateRepository

        # Only the run makes its index: another process would interfere.
        if not PrivateRepository(workspace.repository).has_index:
            raise WorkspaceError(
                f"{one_line(str(workspace.root))} has no index of the run to compare files with; "
                "the next snapshot creates one"
            )
        from ralph_tui.adapters.workspace.changes import preview_restore

        return preview_restore(workspace.changes(tree))

    def diff(self, since: str, until: str, path: str | None = None) -> str:
        workspace = self._workspace_with(since, until)
        found = workspace.diff(since, until, path)
        if found or path is None:
            return found
        # `path` is a name as displayed; git may know the file by another.
        parts = parts_of(workspace.diff(since, until))
        return "".join(part for name, part in parts if one_line(spelled_name(name)) == path)

    def _workspace_with(self, *trees: str) -> "GitWorkspace":
        """Return the workspace, after checking that it has these trees."""
        with self._lock:
            if self._opened is None or not self._opened.repository.git_dir.is_dir():
                self._opened = self._open()
        repository = self._opened.repository
        names = "".join(f"{tree}^{{tree}}\n" for tree in trees).encode()
        found = repository.git("cat-file", "--batch-check", stdin=names).out.splitlines()
        if any(line.split()[1:2] != [b"tree"] for line in found):
            raise WorkspaceError(
                f"{one_line(str(repository.root))} no longer has the snapshots of this run; "
                "they were deleted, or this is a new clone"
            )
        return self._opened

    def _open(self) -> "GitWorkspace":
        from ralph_tui.adapters.workspace.repository import open_repository
        from ralph_tui.adapters.workspace.snapshots import GitWorkspace

        root = worktree_root(self._folder)
        if not root.is_dir():
            raise WorkspaceError(f"{one_line(str(root))} was deleted, and its snapshots with it")
        return GitWorkspace(open_repository(root), "looked-at")
