"""The user's files: the completion command, snapshots, commits, and a watcher for changes."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ralph_tui.events.workspace import FileChange

if TYPE_CHECKING:
    from ralph_tui.layers.sensor.gate import GateResult


class Gate(Protocol):
    """Runs the completion command under the keeper."""

    def run(self, log: Path) -> "GateResult":
        """Run it until it ends or times out, with output to `log`. Blocks, so run it as a job."""

    def cancel(self) -> None:
        """Cancel a running command and its processes; the blocked `run` then returns."""


@dataclass(frozen=True)
class Snapshot:
    """The worktree captured as a git tree."""

    number: int
    ref: str
    commit: str
    tree: str
    missing: tuple[str, ...] = ()
    missing_count: int = 0


@dataclass(frozen=True)
class LeftAlone:
    """A path that differs from the restored snapshot."""

    path: str
    why: str
    """Reason as a sentence fragment."""


@dataclass(frozen=True)
class Restored:
    """Result of a restore."""

    changed: tuple[str, ...]
    """Files written or deleted."""
    kept: tuple[LeftAlone, ...]
    """All remaining differences from the snapshot; empty if the restore is exact."""


class Workspace(Protocol):
    """The user's repository. All calls block, so run them as jobs."""

    root: Path

    def snapshot(self, number: int, message: str) -> Snapshot:
        """Save the worktree as a tree on a hidden ref, without touching index, branch or stash."""

    def changes(self, since: str, until: str | None = None) -> tuple[FileChange, ...]:
        """Return the files changed between two trees, or between a tree and the worktree."""

    def excerpt(self, since: str, until: str, limit: int) -> str:
        """Return a diff of two trees, cut to `limit` characters and redacted; untrusted."""

    def restore(self, tree: str) -> Restored:
        """Restore the worktree to a snapshot's tree; the caller has captured the current files."""

    def newest(self) -> int:
        """Return the number of this run's newest snapshot, recorded or not; 0 if there are none."""

    def conflicts(self) -> tuple[str, ...]:
        """Return paths with unresolved git conflicts."""


@dataclass(frozen=True)
class Committed:
    """A commit on the user's branch."""

    commit: str
    """Empty if all changed files were left out."""
    files: int
    left_out: tuple[str, ...] = ()
    """Paths that already had changes before the session."""


class Commits(Protocol):
    """Commits the changes made by a session."""

    def commit(self, since: str, until: str, message: str) -> Committed | None:
        """Commit the difference of two trees; None if they are equal. Blocks, so run it as a job.

        Raises ``WorkspaceError`` if that is impossible or would interfere with the user's work.
        """

    def cancel(self) -> None:
        """Cancel a commit in progress; the blocked call then raises."""


class Watcher(Protocol):
    """Watches the worktree and puts `FilesChanged` and `Noticed` into the inbox."""

    def follow(self, iteration: int, tree: str) -> None:
        """Start counting changes relative to this tree."""

    def stop(self) -> None:
        """Stop watching. Returns once the thread has ended."""
