"""The workspace of a run: snapshots on hidden refs, and their uses.

A snapshot is a commit below ``refs/ralph/<run>/``. The user's index, branch, stash and
configuration are never changed.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import PurePosixPath
from threading import Lock

from ralph_tui.adapters.workspace import changes
from ralph_tui.adapters.workspace.changes import file_change, live_changes_by_path, preview_restore
from ralph_tui.adapters.workspace.excerpt import excerpt
from ralph_tui.adapters.workspace.ignored import ignored_paths
from ralph_tui.adapters.workspace.obstacles import covered, explain_unsaved, obstacle
from ralph_tui.adapters.workspace.private_repository import PrivateRepository
from ralph_tui.adapters.workspace.repository import Repository
from ralph_tui.adapters.workspace.restore import Target, outcome, restore, special_unignored
from ralph_tui.adapters.workspace.snapshot_commits import SnapshotCommits
from ralph_tui.adapters.workspace.staging import (
    MAX_FILE,
    OTHERS,
    Staged,
    Staging,
    split,
    untracked_paths,
)
from ralph_tui.base.errors import GitEndedError, NoRoomError, WorkspaceError
from ralph_tui.events.workspace import FileChange
from ralph_tui.ports.worktree import Restored, Snapshot
from ralph_tui.text.sanitize import one_line, spelled_name


def predict_restore(
    private: PrivateRepository, tree: str, missing: frozenset[str], not_in_tree: frozenset[str]
) -> tuple[tuple[FileChange, str], ...]:
    """Predict the effect of a restore on each file, with the reason if it will be left alone.

    It reads and changes nothing; `restore.outcome` reports the actual result. `missing` are paths
    that no snapshot contains now, `not_in_tree` those that the tree could not contain; folders end
    in ``/``.
    """
    root = private.repository.root
    changes = live_changes_by_path(private, tree, missing, unsaved=True)
    to_delete = {path for path, change in changes.items() if change.status == "added"}
    ignored = ignored_paths(private, sorted(changes.keys() - to_delete))
    rows: dict[str, tuple[FileChange, str]] = {}
    for path, change in changes.items():
        why = ""
        if path in missing and change.status == "modified":
            why = explain_unsaved(root, path)
        elif path not in to_delete:
            held = change.status == "modified" and path not in ignored
            why = obstacle(root, path, held=held, to_delete=to_delete)
        for back in preview_restore((change,)):
            rows[path] = back, why
    others = untracked_paths(private.git(*OTHERS))
    large = {path for path in others if not path.endswith("/") and _size(private, path) > MAX_FILE}
    written = rows.keys() - to_delete
    gives_way = {str(parent) for path in written for parent in PurePosixPath(path).parents}
    for path in large.union(special_unignored(private, others)) - rows.keys() - gives_way:
        if not covered(path, not_in_tree):
            rows[path] = (file_change(path, "deleted", 0, 0), explain_unsaved(root, path))
    return tuple(rows[path] for path in sorted(rows))


def _size(private: PrivateRepository, path: str) -> int:
    try:
        return (private.repository.root / path).lstat().st_size
    except OSError:
        return 0


SHOWN_MISSING = 20
"""Maximum number of missing paths that a snapshot names."""


class GitWorkspace:
    """`ralph_tui.ports.Workspace` on a Git repository; any thread may call it."""

    def __init__(self, repository: Repository, run_id: str) -> None:
        self.repository = repository
        self.root = repository.root
        self._refs = f"refs/ralph/{run_id}"
        self._private = PrivateRepository(repository, run_id)
        self._staging = Staging(self._private)
        self._commits = SnapshotCommits(self._private, self._refs)
        self._lock = Lock()
        self._missing: frozenset[str] = frozenset()
        self._conflicts: tuple[str, ...] = ()
        self._index: tuple[int, int, int] | None = None
        """Inode, size and time of the user's index in which the conflicts were found."""
        self._recalled = False
        """True once the missing paths from an earlier process are known."""
        self._full = False
        """True if the last snapshot found the disk full."""

    def snapshot(self, number: int, message: str) -> Snapshot:
        """Write the worktree as a tree on a hidden ref.

        Raises ``WorkspaceError`` if Git fails, ``NoRoomError`` if the disk is full.
        """
        ref = f"{self._refs}/{number:03d}"
        with self._lock:
            began = time.time()
            try:
                staged, commit = self._take(message, ref)
            except NoRoomError:
                self._full = True
                self.repository.clear_pieces(began)
                raise
            self._full = False
        named = tuple(spelled_name(path) for path in staged.missing[:SHOWN_MISSING])
        return Snapshot(number, ref, commit, staged.tree, named, len(staged.missing))

    def close(self) -> None:
        """End the commands that stay open between snapshots; a later snapshot restarts them."""
        self.hurry()
        with self._lock:
            self._commits.close()
            self.repository.calls.dismiss_guard()

    def hurry(self) -> None:
        """Limit every Git command to a few seconds, because the run is about to end."""
        self.repository.calls.hurry()

    def changes(self, since: str, until: str | None = None) -> tuple[FileChange, ...]:
        if until is not None:
            return changes.between(self._private, since, until)
        if not self._private.has_index:
            with self._lock:
                self._capture()
        return changes.live(self._private, since, self._missing)

    def paths_between(self, since: str, until: str) -> set[str]:
        """Return the paths on disk that differ between two trees or commits."""
        return set(changes.diff_trees(self._private, since, until))

    def preview_restore(self, tree: str) -> tuple[tuple[FileChange, str], ...]:
        """Predict what `restore` would do to each file, with a reason where it would do nothing."""
        if not self._private.has_index:
            with self._lock:
                self._capture()
        missing, _ = self._commits.recorded(tree)
        return predict_restore(self._private, tree, self._missing, missing)

    def diff(self, since: str, until: str, path: str | None = None) -> str:
        """Return the unified diff between two trees, for one or all paths; untrusted text."""
        options = ("-p", "-r", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")
        limit = () if path is None else ("--", path)
        result = self._private.git("diff-tree", *options, since, until, *limit)
        return result.out.decode("utf-8", "replace")

    def excerpt(self, since: str, until: str, limit: int) -> str:
        return excerpt(self._private, since, until, limit)

    def restore(self, tree: str) -> Restored:
        with self._lock:
            name = f"{tree}^{{tree}}"
            result = self.repository.git("rev-parse", "--verify", "--quiet", name, accept=None)
            if result.status != 0:
                raise WorkspaceError(
                    f"the snapshot {one_line(tree)} is no longer in {one_line(str(self.root))}; "
                    "choose another one"
                )
            missing, commits = self._commits.recorded(result.line)
            gone = partial(self._commits.deleted_before, commits)
            target = Target(result.line, missing, gone)
            present = self._capture()
            why = restore(self._private, present, target)
            self._staging.include(changes.diff_trees(self._private, present.tree, target.tree))
            return outcome(self._private, present, self._capture(), target, why)

    def newest(self) -> int:
        layout = ("--sort=-version:refname", "--count=1", "--format=%(refname:lstrip=3)")
        name = self.repository.git("for-each-ref", *layout, self._refs + "/").line
        return int(name) if name.isdigit() else 0

    def conflicts(self) -> tuple[str, ...]:
        with suppress(OSError):
            seen = (self.repository.git_dir / "index").stat()
            stamp = (seen.st_ino, seen.st_size, seen.st_mtime_ns)
            if stamp != self._index:
                self._conflicts, self._index = self._unmerged(), stamp
            return self._conflicts
        return self._unmerged()

    def _unmerged(self) -> tuple[str, ...]:
        result = self.repository.git("ls-files", "--unmerged", "-z", accept=None)
        paths = (entry.partition("\t")[2] for entry in split(result.out))
        return tuple(dict.fromkeys(spelled_name(path) for path in paths if path))

    def ignored(self, paths: list[str]) -> set[str]:
        """Return the paths that Git ignores and no snapshot contains. Raises ``WorkspaceError``."""
        return ignored_paths(self._private, paths) if self._private.has_index else set()

    def _capture(self, meanwhile: Callable[[], object] | None = None) -> Staged:
        self.repository.calls.guard()
        staged = self._staging.capture(meanwhile)
        self._missing = frozenset(staged.missing)
        return staged

    def _take(self, message: str, ref: str) -> tuple[Staged, str]:
        # On a full disk, each failed Git command briefly takes space from the journal.
        if self._full and not self.repository.has_room():
            raise NoRoomError(f"no disk space for a snapshot in {one_line(str(self.root))}")
        if not self._recalled:
            self._staging.unlisted.recall(self._commits.missing_of_newest())
            self._recalled = True
        staged = self._capture(self._commits.begin)
        try:
            return staged, self._commits.commit(staged, message, ref)
        except (NoRoomError, GitEndedError):
            raise
        except WorkspaceError:  # the agent's own Git may have pruned its objects
            staged = self._staging.rebuild()
            return staged, self._commits.commit(staged, message, ref)
