"""The files of a session beside the journal: checkpoints, an inventory before it and after it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ralph_tui.adapters.records.aiwg.checkpoints import CheckpointManager, checkpoint_path
from ralph_tui.adapters.records.aiwg.forms import GitFacts
from ralph_tui.adapters.records.aiwg.inventory import (
    Inventory,
    diff,
    take_inventory,
    write_diff,
    write_inventory,
)
from ralph_tui.errors import why, workspace_error
from ralph_tui.ports import CheckpointFacts, Clock, Records


@dataclass(frozen=True)
class Probes:
    """What is asked for the facts of a checkpoint or inventory; all raise ``WorkspaceError``."""

    read_git: Callable[[], GitFacts]
    count_tests: Callable[[], int]
    commits_between: Callable[[str, str], list[str]]


class AiwgCheckpointFiles:
    """`ralph_tui.ports.CheckpointFiles` in an attempt's folder."""

    def __init__(
        self, records: Records, root: Path, clock: Clock, probes: Probes, plan: str, command: str
    ) -> None:
        """`plan` and the files that `command` names are key files."""
        self._records = records
        self._root = root
        self._clock = clock
        self._probes = probes
        self._plan = plan or None
        self._command = command
        self._manager: CheckpointManager | None = None
        self._before: tuple[int, Inventory] | None = None
        """The iteration, and the inventory before its first session."""

    def path(self, iteration: int, number: int) -> str:
        """See `CheckpointFiles`."""
        return f"results/iter-{iteration:03}/" + checkpoint_path(Path(), number).as_posix()

    def capture(self, facts: CheckpointFacts) -> None:
        """See `CheckpointFiles`."""
        folder = self._records.iteration_folder(facts.iteration)
        try:
            if facts.trigger == "start" and self._iteration_begun != facts.iteration:
                self._before = (facts.iteration, self._inventory())
                write_inventory(folder, "pre", self._before[1])
            self._write(folder, facts)
            if facts.trigger == "end":
                self._compare(folder, facts)
        except OSError as error:
            raise workspace_error(
                f"cannot write to {folder}: {why(error, 'free some space or make it writable')}",
                error,
            ) from error

    @property
    def _iteration_begun(self) -> int:
        return self._before[0] if self._before else 0

    def _write(self, folder: Path, facts: CheckpointFacts) -> None:
        manager = self._manager
        fresh = manager is None or manager.folder != folder
        if manager is None or fresh or manager.session_id != (facts.session_id or "unknown"):
            manager = self._manager = CheckpointManager(
                folder,
                self._root,
                self._clock,
                read_git=self._probes.read_git,
                session_id=facts.session_id or "unknown",
            )
        manager.capture(facts)

    def _compare(self, folder: Path, facts: CheckpointFacts) -> None:
        after = self._inventory()
        write_inventory(folder, "post", after)
        if self._before is None or self._before[0] != facts.iteration:
            return  # the run was resumed in the middle of the session
        before = self._before[1]
        commits: list[str] = []
        if before.git.commit and after.git.commit and before.git.commit != after.git.commit:
            commits = self._probes.commits_between(before.git.commit, after.git.commit)
        write_diff(folder, diff(before, after, changes=facts.changes, commits=commits))

    def _inventory(self) -> Inventory:
        return take_inventory(
            self._root,
            self._clock.now(),
            read_git=self._probes.read_git,
            count_tests=self._probes.count_tests,
            plan=self._plan,
            command=self._command,
        )
