"""Checkpoints within a session, a JSON file each; the caller says when one is due.

``results/iter-001/checkpoints/001-checkpoint.json``, camelCase. What git or the file system refuses
to tell is written into the checkpoint; only a checkpoint that cannot be written is an error.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Lock

from pydantic import ValidationError

from ralph_tui.adapters.records.aiwg.forms import MOST_FILES, Camel, GitFacts, Timestamp, aiwg_files
from ralph_tui.adapters.records.files import write_json
from ralph_tui.errors import RalphError, workspace_error
from ralph_tui.events.text import Line
from ralph_tui.ports import Clock

MOST_MODIFIED = 10_000
"""Names of all files that a session has modified."""

_NAME = re.compile(r"(\d{3,})-checkpoint\.json")


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
    """Of the agent's process tree, in bytes."""

    heap_used: int = 0
    """0: an agent does not tell."""
    rss: int = 0


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


class GitCounts(Camel):
    """Numbers of paths."""

    modified: int
    staged: int
    untracked: int


class CheckpointLine(Camel):
    """One checkpoint within a summary."""

    number: int
    timestamp: Timestamp
    duration: int
    files_modified: int
    git_status: GitCounts
    aiwg_files: int


class CheckpointSummary(Camel):
    """All checkpoints of a session; `total_duration` in milliseconds."""

    total: int
    total_duration: int
    files_modified: list[Line]
    checkpoints: list[CheckpointLine]


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
        rss: Callable[[], int] = lambda: 0,
        on_checkpoint: Callable[[CheckpointData, Path], None] = lambda _data, _path: None,
    ) -> None:
        """`folder` is the iteration's; `read_git` raises ``RalphError`` when git cannot tell."""
        self.folder = folder
        self.session_id = session_id
        self._root = root
        self._clock = clock
        self._read_git = read_git
        self._rss = rss
        self._on_checkpoint = on_checkpoint
        self._began = clock.monotonic()
        self._number = 0
        self._modified: dict[str, None] = {}
        self._lock = Lock()

    def start(self, number: int = 1) -> CheckpointData:
        """Begin to count the session's time, and take the first checkpoint.

        An iteration may need several sessions: the numbers of a later one go on.
        """
        self._began = self._clock.monotonic()
        return self.capture(number)

    def capture(self, number: int | None = None) -> CheckpointData:
        """Take a checkpoint, by default the next.

        Raises ``WorkspaceError`` when it cannot be written, ``NoRoomError`` when the disk is full.
        """
        with self._lock:
            number = self._number + 1 if number is None else number
            git = self._git()
            self._modified |= dict.fromkeys((*git.modified, *git.staged))
            data = CheckpointData(
                number=number,
                timestamp=self._clock.now(),
                duration=round(1000 * (self._clock.monotonic() - self._began)),
                session_id=self.session_id,
                git_status=git,
                aiwg_state=scan_aiwg(self._root),
                files_modified=sorted(self._modified)[:MOST_MODIFIED],
                memory=Memory(rss=self._rss()),
            )
            path = checkpoint_path(self.folder, number)
            try:
                write_json(path, data.as_json())
            except OSError as error:
                raise workspace_error(
                    f"cannot write the checkpoint {path}: {error.strerror}; "
                    "free some space or make the folder writable",
                    error,
                ) from error
            self._number = max(self._number, number)
        self._on_checkpoint(data, path)
        return data

    def stop(self, number: int | None = None) -> CheckpointSummary:
        """Take the last checkpoint; what the session came to."""
        self.capture(number)
        return summary(self.all())

    def all(self) -> list[CheckpointData]:
        """Every readable checkpoint of this session, by number."""
        return [
            data for data in read_checkpoints(self.folder) if data.session_id == self.session_id
        ]

    @staticmethod
    def latest(folder: Path) -> CheckpointData | None:
        """The last readable checkpoint of an iteration's folder."""
        return next(reversed([*read_checkpoints(folder)]), None)

    @staticmethod
    def summarize(folder: Path) -> CheckpointSummary:
        """All checkpoints of an iteration's folder."""
        return summary([*read_checkpoints(folder)])

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


def read_checkpoints(folder: Path) -> Iterator[CheckpointData]:
    """Those of an iteration's folder in the order of their numbers; what is unreadable is not."""
    named = [(_NAME.fullmatch(path.name), path) for path in (folder / "checkpoints").glob("*")]
    for _, path in sorted((int(match[1]), path) for match, path in named if match):
        try:
            yield CheckpointData.model_validate_json(path.read_bytes())
        except (OSError, ValidationError):
            continue


def summary(checkpoints: Sequence[CheckpointData]) -> CheckpointSummary:
    """What many checkpoints say together; durations count within their sessions."""
    last_of = {data.session_id: data.duration for data in checkpoints}
    return CheckpointSummary(
        total=len(checkpoints),
        total_duration=sum(last_of.values()),
        files_modified=sorted({path for data in checkpoints for path in data.files_modified}),
        checkpoints=[
            CheckpointLine(
                number=data.number,
                timestamp=data.timestamp,
                duration=data.duration,
                files_modified=len(data.files_modified),
                git_status=GitCounts(
                    modified=len(data.git_status.modified),
                    staged=len(data.git_status.staged),
                    untracked=len(data.git_status.untracked),
                ),
                aiwg_files=len(data.aiwg_state.files),
            )
            for data in checkpoints
        ],
    )


def scan_aiwg(root: Path) -> AiwgState:
    """What ``.aiwg`` holds."""
    problems: list[str] = []
    found = aiwg_files(root, problems.append)
    sizes = {name: facts.st_size for name, facts in sorted(found.items())[:MOST_FILES]}
    return AiwgState(files=[*sizes], sizes=sizes, error=problems[0] if problems else None)
