"""Events about the user's files: snapshots, checkpoints, changes, restores."""

from typing import Literal

from ralph_tui.events.base import Event, Fact, Row
from ralph_tui.events.text import Line, Plain
from ralph_tui.text.format import count, with_lines
from ralph_tui.text.terms import sender_label

__all__ = [
    "CheckpointCaptured",
    "FilesChanged",
    "FilesChangedAway",
    "JournalRestored",
    "RestoreBegan",
    "SnapshotTaken",
    "WorktreeRestored",
]

MAX_PATHS = 20
"""Maximum number of changed paths named in an event."""
MAX_KEPT = 200
"""Maximum number of untouched paths named in an event; each may be someone's work."""

Category = Literal["source", "test", "config", "docs", "aiwg", "other"]
Trigger = Literal["start", "timer", "key", "rollover", "end"]
ChangeStatus = Literal["added", "modified", "deleted"]


class FileChange(Fact):
    """One path that changed since the iteration's start."""

    path: Line
    status: ChangeStatus
    category: Category
    added: int = 0
    """Number of lines; 0 for binary files."""
    removed: int = 0


class CategoryTotal(Fact):
    """All changed files of one category."""

    category: Category
    files: int
    added: int = 0
    removed: int = 0


class SnapshotTaken(Event):
    """The worktree was saved as a git tree on a hidden ref."""

    kind: Literal["snapshot_taken"] = "snapshot_taken"
    iteration: int
    number: int
    ref: Line
    commit: Line
    tree: Line
    reason: Line = ""
    missing: list[Line] = []
    """Paths left out because of size or number, at most 20."""
    missing_count: int = 0


class CheckpointCaptured(Event):
    """A checkpoint was saved: a snapshot and a JSON file."""

    durable = True
    kind: Literal["checkpoint_captured"] = "checkpoint_captured"
    iteration: int
    number: int
    """Counts from 1 within the iteration."""
    trigger: Trigger
    snapshot: int | None = None
    """Number of the snapshot; None if it could not be taken."""
    path: Line = ""
    session_id: Line = ""
    """The running session; empty between sessions."""
    duration_s: float = 0.0
    """Seconds since the session's start; 0 between sessions."""
    memory_bytes: int = 0
    """Sampled peak memory of the agent's processes since the last checkpoint; 0 if unknown."""
    files: int = 0
    """Number of files that the iteration has changed so far."""
    modified: list[Line] = []
    """The first of these files (at most 20)."""
    interval_s: float = 0.0
    """At a session's start: time between automatic checkpoints; 0 in older journals."""
    note: Plain = ""
    error: Plain = ""
    by: Line = ""
    """Who requested it; empty if no one did, and in older journals."""

    def line(self) -> str | None:
        if self.trigger not in ("timer", "key"):
            return None
        asked = f", requested by {sender_label(self.by)}" if self.by else ""
        if self.snapshot is None:
            return f"warn    the checkpoint failed{asked}: {self.error}"
        named = checkpoint_name(self.snapshot)
        return f"saved   {named}{asked}{f': {self.note}' if self.note else ''}"


def checkpoint_name(snapshot: int | None) -> str:
    """Return a checkpoint's name for users, with the number that restores it if it has one."""
    return "checkpoint" if snapshot is None else f"snapshot {snapshot}"


class FilesChanged(Event):
    """Changes since the iteration's start, while it runs (`live`) or after it."""

    kind: Literal["files_changed"] = "files_changed"
    iteration: int
    live: bool
    totals: list[CategoryTotal]
    changes: list[FileChange] = []
    """At most 200."""
    latest: Line | None = None
    """The path that changed last, if known."""
    unknown: bool = False
    """True if the changes are unknown because a snapshot to compare with is missing."""

    def line(self) -> str | None:
        if self.live:
            return None
        totals = (
            with_lines(f"{one.category} {one.files}", one.added, one.removed) for one in self.totals
        )
        none = "changes unknown" if self.unknown else "nothing changed"
        return f"files   {', '.join(totals) or none}"


class FilesChangedAway(Event):
    """Files changed after a run ended and before it resumed: the next gain's cause is unknown."""

    kind: Literal["files_changed_away"] = "files_changed_away"
    iteration: int
    """The last iteration before the end."""
    files: int

    def row(self) -> Row:
        changed = f"{count(self.files, 'file')} changed while nothing ran"
        return Row("log", "LOG", f"{changed}; they are kept, and not counted as work")


class RestoreBegan(Event):
    """A restore begins: the current state is saved; `WorktreeRestored` marks the end."""

    durable = True
    kind: Literal["restore_began"] = "restore_began"
    iteration: int
    snapshot: int
    """Number of the snapshot to restore."""
    present: int
    """Number of the snapshot with the state before the restore."""
    by: Line = "you"


class WorktreeRestored(Event):
    """The files were restored to a snapshot; their previous state is saved in another one."""

    durable = True
    kind: Literal["worktree_restored"] = "worktree_restored"
    iteration: int
    snapshot: int
    """Number of the restored snapshot."""
    present: int
    """Number of the snapshot with the previous state: restoring it undoes this restore."""
    tree: Line
    files: int = 0
    """Number of files written or deleted."""
    paths: list[Line] = []
    """The first `MAX_PATHS` of them."""
    kept: list[Line] = []
    """Paths not restored, which still differ from the snapshot; at most `MAX_KEPT`."""
    reasons: list[Line] = []
    """The reason for each path in `kept`, as a sentence fragment."""
    kept_count: int = 0
    """Number of paths not restored; 0 in journals that have only `kept`."""
    by: Line = "you"

    @property
    def left_alone(self) -> int:
        """Number of paths that were not restored."""
        return max(self.kept_count, len(self.kept))

    @property
    def left_alone_rows(self) -> list[str]:
        """Each named path with its reason."""
        reasons = [*self.reasons, *[""] * len(self.kept)]
        rows = [f"{p}: {why}" if why else p for p, why in zip(self.kept, reasons, strict=False)]
        more = self.left_alone - len(rows)
        return [*rows, f"and {more:,} more"] if more else rows

    def row(self) -> Row:
        kept = f", {self.left_alone:,} left alone" if self.kept else ""
        detail = [*self.paths, *(f"left alone: {row}" for row in self.left_alone_rows)]
        text = (
            f"{count(self.files, 'file')} to snapshot {self.snapshot}{kept}, "
            f"by {sender_label(self.by)}; previous files saved as snapshot {self.present}"
        )
        return Row("owner", "RESTORED", text, "\n".join(detail))


class JournalRestored(Event):
    """The journal's file had been deleted (``git clean``, ``rm``) and was written again."""

    kind: Literal["journal_restored"] = "journal_restored"
    path: Line

    def row(self) -> Row:
        text = "the journal was deleted and has been written again"
        return Row("warn", "RECORD", text, self.path)

    def line(self) -> str:
        return f"warn    {self.row().text}"
