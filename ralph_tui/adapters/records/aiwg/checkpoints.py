"""Checkpoints within a session, a JSON file each; the caller says when one is due.

``results/iter-001/checkpoints/001-checkpoint.json``, camelCase. What git or the file system refuses
to tell is written into the checkpoint; only a checkpoint that cannot be written is an error.
"""

from collections.abc import Callable
from pathlib import Path
from threading import Lock

from ralph_tui.adapters.records.aiwg.forms import MOST_FILES, Camel, GitFacts, Timestamp, aiwg_files
from ralph_tui.adapters.records.files import write_json
from ralph_tui.errors import RalphError, why, workspace_error
from ralph_tui.events.text import Line
from ralph_tui.ports import CheckpointFacts, Clock

MOST_MODIFIED = 10_000
"""Names of all files that a session has modified."""


class GitState(Camel):
    """Paths relative to the repository, at most `MOST_FILES` in a list."""

    branch: Line = ""
    modified: list[Line] = []
    untracked: list[Line] = []
    staged: list[Line] = []
    omitted: dict[str, int] | None = None
    """How many more there are, by list."""
    error: Line | None = None


class AiwgState(Camel):
    """Files below ``.aiwg``, relative to it, without ralph-tui's own records."""

    files: list[Line] = []
    sizes: dict[Line, int] = {}
    """Bytes."""
    error: Line | None = None


class Memory(Camel):
    """Of the agent's process tree since the checkpoint before, in bytes."""

    heap_used: int = 0
    """0: an agent does not tell."""
    rss: int = 0
    """At most, as sampled."""


class CheckpointData(Camel):
    """One checkpoint."""

    number: int
    timestamp: Timestamp
    duration: int
    """Milliseconds since the session's start."""
    session_id: Line = "unknown"
    git_status: GitState = GitState()
    aiwg_state: AiwgState = AiwgState()
    files_modified: list[Line] = []
    """All that were ever seen modified or staged in this session."""
    memory: Memory = Memory()


class CheckpointManager:
    """Takes the checkpoints of one session; its calls block and may come from any thread."""

    def __init__(
        self,
        folder: Path,
        root: Path,
        clock: Clock,
        *,
        read_git: Callable[[], GitFacts],
        session_id: str = "unknown",
    ) -> None:
        """`folder` is the iteration's; `read_git` raises ``RalphError`` when git cannot tell."""
        self.folder = folder
        self.session_id = session_id
        self._root = root
        self._clock = clock
        self._read_git = read_git
        self._modified: dict[str, None] = {}
        self._lock = Lock()

    def capture(self, facts: CheckpointFacts) -> CheckpointData:
        """Take a checkpoint.

        Raises ``WorkspaceError`` when it cannot be written, ``NoRoomError`` when the disk is full.
        """
        with self._lock:
            git = self._git()
            self._modified |= dict.fromkeys((*git.modified, *git.staged))
            data = CheckpointData(
                number=facts.number,
                timestamp=self._clock.now(),
                duration=round(1000 * facts.duration_s),
                session_id=self.session_id,
                git_status=git,
                aiwg_state=scan_aiwg(self._root),
                files_modified=sorted(self._modified)[:MOST_MODIFIED],
                memory=Memory(rss=facts.memory_bytes),
            )
            path = checkpoint_path(self.folder, facts.number)
            try:
                write_json(path, data.as_json())
            except OSError as error:
                raise workspace_error(
                    f"cannot write the checkpoint {path}: "
                    f"{why(error, 'free some space or make the folder writable')}",
                    error,
                ) from error
        return data

    def _git(self) -> GitState:
        try:
            git = self._read_git()
        except RalphError as error:
            return GitState(error=str(error))
        return GitState(
            branch=git.branch,
            modified=git.unstaged[:MOST_FILES],
            untracked=git.untracked[:MOST_FILES],
            staged=git.staged[:MOST_FILES],
            omitted=git.omitted or None,
        )


def checkpoint_path(folder: Path, number: int) -> Path:
    """Of an iteration's folder."""
    return folder / "checkpoints" / f"{number:03}-checkpoint.json"


def scan_aiwg(root: Path) -> AiwgState:
    """What ``.aiwg`` holds."""
    problems: list[str] = []
    found = aiwg_files(root, problems.append)
    sizes = {name: facts.st_size for name, facts in sorted(found.items())[:MOST_FILES]}
    return AiwgState(files=[*sizes], sizes=sizes, error=problems[0] if problems else None)
