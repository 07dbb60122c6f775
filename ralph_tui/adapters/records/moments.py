"""What is kept of a session beside the journal: its checkpoints, and readings before and after it.

Both are for people and other tools; the run itself never reads them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ralph_tui.adapters.records.checkpoints import CheckpointManager, checkpoint_path
from ralph_tui.adapters.records.present import Repository
from ralph_tui.adapters.records.readings import (
    PresentReading,
    diff,
    read_present,
    write_diff,
    write_reading,
)
from ralph_tui.errors import NO_ROOM, NoRoomError, WorkspaceError
from ralph_tui.ports import Clock, Moment, Records


@dataclass(frozen=True)
class Sources:
    """Where what is written down is looked up; all raise ``WorkspaceError``."""

    read_git: Callable[[], Repository]
    count_tests: Callable[[], int]
    commits_between: Callable[[str, str], list[str]]
    rss: Callable[[], int]


class SessionMoments:
    """`ralph_tui.ports.Moments` in an attempt's folder."""

    def __init__(
        self, records: Records, root: Path, clock: Clock, sources: Sources, plan: str, command: str
    ) -> None:
        """`plan` and the files that `command` names are key files."""
        self._records = records
        self._root = root
        self._clock = clock
        self._sources = sources
        self._plan = plan or None
        self._command = command
        self._manager: CheckpointManager | None = None
        self._before: tuple[int, PresentReading] | None = None
        """The iteration, and the reading before its first session."""

    def path(self, iteration: int, number: int) -> str:
        """See `Moments`."""
        return f"results/iter-{iteration:03}/" + checkpoint_path(Path(), number).as_posix()

    def capture(self, moment: Moment) -> None:
        """See `Moments`."""
        folder = self._records.iteration_folder(moment.iteration)
        try:
            if moment.trigger == "start" and self._iteration_read != moment.iteration:
                self._before = (moment.iteration, self._read())
                write_reading(folder, "pre", self._before[1])
            self._write(folder, moment)
            if moment.trigger == "end":
                self._compare(folder, moment)
        except OSError as error:
            kind = NoRoomError if error.errno in NO_ROOM else WorkspaceError
            raise kind(
                f"cannot write to {folder}: {error.strerror}; free some space or make it writable"
            ) from error

    @property
    def _iteration_read(self) -> int:
        return self._before[0] if self._before else 0

    def _write(self, folder: Path, moment: Moment) -> None:
        manager = self._manager
        fresh = manager is None or manager.folder != folder
        if manager is None or fresh or manager.session_id != moment.session_id:
            manager = self._manager = CheckpointManager(
                folder,
                self._root,
                self._clock,
                read_git=self._sources.read_git,
                session_id=moment.session_id,
                rss=self._sources.rss,
            )
        if moment.trigger == "start":
            manager.start(moment.number)
        else:
            manager.capture(moment.number)

    def _compare(self, folder: Path, moment: Moment) -> None:
        after = self._read()
        write_reading(folder, "post", after)
        if self._before is None or self._before[0] != moment.iteration:
            return  # the run was resumed in the middle of the session
        before = self._before[1]
        commits: list[str] = []
        if before.git.commit and after.git.commit and before.git.commit != after.git.commit:
            commits = self._sources.commits_between(before.git.commit, after.git.commit)
        write_diff(folder, diff(before, after, changes=moment.changes, commits=commits))

    def _read(self) -> PresentReading:
        return read_present(
            self._root,
            self._clock.now(),
            read_git=self._sources.read_git,
            count_tests=self._sources.count_tests,
            plan=self._plan,
            command=self._command,
        )
