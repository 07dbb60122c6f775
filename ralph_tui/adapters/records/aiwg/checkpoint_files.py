"""A session's files next to the journal: checkpoints, and inventories before and after it."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock

from ralph_tui.adapters.records.aiwg.forms import MAX_FILES, Camel, GitFacts, Timestamp, aiwg_files
from ralph_tui.adapters.records.aiwg.inventory import (
    Inventory,
    diff,
    take_inventory,
    write_diff,
    write_inventory,
)
from ralph_tui.adapters.records.aiwg.write import write_record
from ralph_tui.adapters.records.files import read_json
from ralph_tui.base.errors import RalphError, why, workspace_error
from ralph_tui.events.text import Line
from ralph_tui.ports.host import Clock
from ralph_tui.ports.records import CheckpointFacts, Records

MAX_MODIFIED = 10_000
"""Maximum number of modified files to list."""


class GitState(Camel):
    """Git's status; paths are relative to the repository, at most `MAX_FILES` per list."""

    branch: Line = ""
    modified: list[Line] = []
    untracked: list[Line] = []
    staged: list[Line] = []
    omitted: dict[str, int] | None = None
    """Number of files that are not listed, by list."""
    error: Line | None = None

    @property
    def counts(self) -> "GitCounts":
        """The number of files in each list, including those that are not listed."""
        more = self.omitted or {}
        return GitCounts(
            modified=len(self.modified) + more.get("modified", 0),
            staged=len(self.staged) + more.get("staged", 0),
            untracked=len(self.untracked) + more.get("untracked", 0),
        )


class AiwgState(Camel):
    """Files below ``.aiwg``, relative to it, without ralph-tui's own records."""

    files: list[Line] = []
    sizes: dict[Line, int] = {}
    """Sizes in bytes."""
    omitted: int | None = None
    """Number of files that are not listed."""
    error: Line | None = None

    @property
    def count(self) -> int:
        """The number of files, including those that are not listed."""
        return len(self.files) + (self.omitted or 0)


class Memory(Camel):
    """Memory of the agent's process tree since the previous checkpoint, in bytes."""

    heap_used: int = 0
    """Always 0, because agents do not report it."""
    rss: int = 0
    """The highest sample."""


class CheckpointData(Camel):
    """The content of one checkpoint."""

    number: int
    timestamp: Timestamp
    duration: int
    """Milliseconds since the session's start."""
    session_id: Line = "unknown"
    git_status: GitState = GitState()
    aiwg_state: AiwgState = AiwgState()
    files_modified: list[Line] = []
    """The files modified or staged at any time in this session, at most `MAX_MODIFIED`."""
    memory: Memory = Memory()


class GitCounts(Camel):
    """Number of files in each list of Git's status."""

    modified: int
    staged: int
    untracked: int


class CheckpointRow(Camel):
    """One checkpoint in a summary."""

    number: int
    timestamp: Timestamp
    duration: int
    """Milliseconds since the session's start."""
    files_modified: int
    git_status: GitCounts
    aiwg_files: int


class CheckpointsSummary(Camel):
    """All checkpoints of one iteration."""

    total: int
    total_duration: int
    """Milliseconds, for all sessions together."""
    files_modified: list[Line]
    checkpoints: list[CheckpointRow]


def read_checkpoints(folder: Path) -> list[CheckpointData]:
    """Read the checkpoints of an iteration's folder, by number; damaged files are left out."""
    found = []
    for path in (folder / "checkpoints").glob("*-checkpoint.json"):
        with suppress(ValueError):
            found.append(CheckpointData.model_validate(read_json(path)))
    return sorted(found, key=lambda one: one.number)


def summarize(checkpoints: Sequence[CheckpointData]) -> CheckpointsSummary:
    """Summarise the checkpoints of an iteration."""
    lasted: dict[str, int] = {}
    for one in checkpoints:
        lasted[one.session_id] = max(one.duration, lasted.get(one.session_id, 0))
    return CheckpointsSummary(
        total=len(checkpoints),
        total_duration=sum(lasted.values()),
        files_modified=sorted({path for one in checkpoints for path in one.files_modified}),
        checkpoints=[
            CheckpointRow(
                number=one.number,
                timestamp=one.timestamp,
                duration=one.duration,
                files_modified=len(one.files_modified),
                git_status=one.git_status.counts,
                aiwg_files=one.aiwg_state.count,
            )
            for one in checkpoints
        ],
    )


class CheckpointManager:
    """Writer of one session's checkpoints. Its calls block; any thread may make them."""

    def __init__(
        self, folder: Path, root: Path, clock: Clock, *, session_id: str = "unknown"
    ) -> None:
        """`folder` is the folder of the iteration."""
        self.folder = folder
        self.session_id = session_id
        self._root = root
        self._clock = clock
        self._modified: dict[str, None] = {}
        self._lock = Lock()

    def capture(self, facts: CheckpointFacts, read_git: Callable[[], GitFacts]) -> CheckpointData:
        """Write a checkpoint; `read_git` raises ``RalphError`` if Git fails.

        If Git or the file system cannot report something, the checkpoint records that as `error`.
        Raises ``WorkspaceError`` if it cannot be written, ``NoRoomError`` if the disk is full.
        """
        with self._lock:
            git, changed = _git_state(read_git)
            self._modified |= dict.fromkeys(changed)
            data = CheckpointData(
                number=facts.number,
                timestamp=self._clock.now(),
                duration=round(1000 * facts.duration_s),
                session_id=self.session_id,
                git_status=git,
                aiwg_state=scan_aiwg(self._root),
                files_modified=sorted(self._modified)[:MAX_MODIFIED],
                memory=Memory(rss=facts.memory_bytes),
            )
            path = checkpoint_path(self.folder, facts.number)
            try:
                write_record(path, data.as_json())
            except OSError as error:
                raise workspace_error(
                    f"cannot write the checkpoint {path}: "
                    f"{why(error, 'free some space or make the folder writable')}",
                    error,
                ) from error
        return data


def _git_state(read_git: Callable[[], GitFacts]) -> tuple[GitState, list[str]]:
    """Return Git's status, and the files that are modified or staged now."""
    try:
        git = read_git()
    except RalphError as error:
        return GitState(error=str(error)), []
    omitted = {
        "modified" if name == "unstaged" else name: more for name, more in git.omitted.items()
    }
    state = GitState(
        branch=git.branch,
        modified=git.unstaged[:MAX_FILES],
        untracked=git.untracked[:MAX_FILES],
        staged=git.staged[:MAX_FILES],
        omitted=omitted or None,
    )
    return state, git.changed


def checkpoint_path(folder: Path, number: int) -> Path:
    """Return the path of a checkpoint in an iteration's folder."""
    return folder / "checkpoints" / f"{number:03}-checkpoint.json"


def scan_aiwg(root: Path) -> AiwgState:
    """List the files below ``.aiwg``; if that fails, `error` says why."""
    problems: list[str] = []
    found = aiwg_files(root, problems.append)
    sizes = {name: facts.st_size for name, facts in sorted(found.items())[:MAX_FILES]}
    return AiwgState(
        files=[*sizes],
        sizes=sizes,
        omitted=len(found) - len(sizes) or None,
        error=problems[0] if problems else None,
    )


@dataclass(frozen=True)
class Probes:
    """Functions that supply a checkpoint's facts; all raise ``WorkspaceError``."""

    read_git: Callable[[], GitFacts]
    count_tests: Callable[[], int]
    commits_between: Callable[[str, str], list[str]]


class AiwgCheckpointFiles:
    """Implementation of `ralph_tui.ports.CheckpointFiles` in an attempt's folder."""

    def __init__(
        self, records: Records, root: Path, clock: Clock, probes: Probes, plan: str, command: str
    ) -> None:
        """`plan` and the files named in `command` are key files in the inventories."""
        self._records = records
        self._root = root
        self._clock = clock
        self._probes = probes
        self._plan = plan or None
        self._command = command
        self._manager: CheckpointManager | None = None
        self._before: tuple[int, Inventory] | None = None
        """The iteration, and the inventory taken before its first session."""

    def path(self, iteration: int, number: int) -> str:
        return f"results/iter-{iteration:03}/" + checkpoint_path(Path(), number).as_posix()

    def capture(self, facts: CheckpointFacts) -> None:
        folder = self._records.iteration_folder(facts.iteration)
        read_git = cache(self._probes.read_git)  # run Git once for all files at this moment
        try:
            if facts.trigger == "start" and self._iteration_begun != facts.iteration:
                self._before = (facts.iteration, self._inventory(read_git))
                write_inventory(folder, "pre", self._before[1])
            self._manager_of(folder, facts.session_id or "unknown").capture(facts, read_git)
            if facts.trigger == "end":
                self._compare(folder, facts, self._inventory(read_git))
                summary = summarize(read_checkpoints(folder))
                write_record(folder / "checkpoint-summary.json", summary.as_json())
        except OSError as error:
            raise workspace_error(
                f"cannot write to {folder}: {why(error, 'free some space or make it writable')}",
                error,
            ) from error

    @property
    def _iteration_begun(self) -> int:
        return self._before[0] if self._before else 0

    def _manager_of(self, folder: Path, session_id: str) -> CheckpointManager:
        manager = self._manager
        if manager is None or (manager.folder, manager.session_id) != (folder, session_id):
            manager = CheckpointManager(folder, self._root, self._clock, session_id=session_id)
            self._manager = manager
        return manager

    def _compare(self, folder: Path, facts: CheckpointFacts, after: Inventory) -> None:
        write_inventory(folder, "post", after)
        if self._before is None or self._before[0] != facts.iteration:
            return  # the run was resumed in the middle of the session
        before = self._before[1]
        commits: list[str] = []
        if before.git.commit and after.git.commit and before.git.commit != after.git.commit:
            commits = self._probes.commits_between(before.git.commit, after.git.commit)
        write_diff(folder, diff(before, after, changes=facts.changes, commits=commits))

    def _inventory(self, read_git: Callable[[], GitFacts]) -> Inventory:
        return take_inventory(
            self._root,
            self._clock.now(),
            read_git=read_git,
            count_tests=self._probes.count_tests,
            plan=self._plan,
            command=self._command,
        )
