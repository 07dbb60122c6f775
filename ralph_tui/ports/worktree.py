"""The user's files: the completion command, snapshots, and who watches them change."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ralph_tui.events.workspace import FileChange

if TYPE_CHECKING:
    from ralph_tui.layers.sensor import GateResult


class Gate(Protocol):
    """Runs the completion command under the keeper."""

    def run(self, log: Path) -> "GateResult":
        """Run it to its end or its timeout, output to `log`; blocking, a job."""

    def cancel(self) -> None:
        """End a running command and all it started; the blocked `run` then returns."""


@dataclass(frozen=True)
class Snapshot:
    """The worktree as a git tree."""

    number: int
    ref: str
    commit: str
    tree: str
    missing: tuple[str, ...] = ()
    missing_count: int = 0


@dataclass(frozen=True)
class LeftAlone:
    """A path that is not as a restored snapshot has it."""

    path: str
    why: str
    """Half a sentence."""


@dataclass(frozen=True)
class Restored:
    """What a restore did."""

    changed: tuple[str, ...]
    """Written or deleted."""
    kept: tuple[LeftAlone, ...]
    """All that is otherwise than the snapshot has it: the restore is exact when there is none."""


class Workspace(Protocol):
    """The user's repository. All calls block and are jobs."""

    root: Path

    def snapshot(self, number: int, message: str) -> Snapshot:
        """Write the worktree as a tree on a hidden ref; index, branch and stash stay untouched."""

    def changes(self, since: str, until: str | None = None) -> tuple[FileChange, ...]:
        """Changed files between two trees, or a tree and the worktree as it is now."""

    def excerpt(self, since: str, until: str, limit: int) -> str:
        """A unified diff of two trees, cut to `limit` characters, without secrets; untrusted."""

    def restore(self, tree: str) -> Restored:
        """Bring the worktree to a snapshot's tree; whoever calls it has held the present."""

    def newest(self) -> int:
        """Number of this run's newest snapshot, recorded or not; 0 when there is none."""

    def conflicts(self) -> tuple[str, ...]:
        """Paths with unresolved git conflicts."""


@dataclass(frozen=True)
class Committed:
    """A commit of the owner's branch."""

    commit: str
    """Empty: all that had changed was left out."""
    files: int
    left_out: tuple[str, ...] = ()
    """Paths that had changes before."""


class Commits(Protocol):
    """Makes commits of what a session changed."""

    def commit(self, since: str, until: str, message: str) -> Committed | None:
        """Commit what two trees have differently; None where nothing; blocking, a job.

        Raises ``WorkspaceError`` where that would be in the owner's way, or cannot be.
        """

    def cancel(self) -> None:
        """End one that is being made; the blocked call then raises."""


class Watcher(Protocol):
    """Follows the worktree; puts `FilesChanged` and `Noticed` into the inbox."""

    def follow(self, iteration: int, tree: str) -> None:
        """From now on changes are counted against this tree."""

    def stop(self) -> None:
        """End it; returns when its thread is gone."""
