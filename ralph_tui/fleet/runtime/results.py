"""Handle the loops' work in the user's repository: branches, conflicts, verification of a winner.

Everything here blocks, so the engine uses a separate thread. Failures of git or the disk become
events.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

from ralph_tui.adapters.clones.checking import Check, FreshCheck
from ralph_tui.adapters.clones.conflicts import ConflictTable
from ralph_tui.adapters.clones.filling import read_copied
from ralph_tui.adapters.clones.places import TreeFolder
from ralph_tui.adapters.clones.receiving import receive
from ralph_tui.adapters.clones.sources import base_bundle
from ralph_tui.adapters.workspace.repository import Repository
from ralph_tui.base.errors import RalphError
from ralph_tui.fleet.events import (
    AttemptKept,
    CollectionFailed,
    ConflictsFound,
    FleetEvent,
    FleetStarted,
    ResultCollected,
    WinnerVerified,
)
from ralph_tui.fleet.host.preparing import fleet_environment, take_block
from ralph_tui.fleet.loop_state import LoopState
from ralph_tui.fleet.records import FleetFolder, fleets_folder
from ralph_tui.ports.clones import Collected, Earlier

NO_COMMAND = "a person judged it; there is no command to run again"


class CollectedWork:
    """The work of one fleet's loops; implements `Results`."""

    def __init__(self, repository: Repository, start: FleetStarted, trees: Path) -> None:
        """`trees` is the folder for verification clones."""
        self._repository = repository
        self._start = start
        self._trees = trees
        self._check: FreshCheck | None = None
        self._conflicts = ConflictTable(repository)

    @cached_property
    def copied(self) -> dict[str, str]:
        """Files that every clone gets, as they were at the first access.

        Raises ``UsageError``.
        """
        return read_copied(self._repository.root, self._start.plan.copied)

    def receive(
        self, collected: Collected, run_id: str, earlier: Earlier | None
    ) -> Sequence[FleetEvent]:
        loop = collected.loop
        try:
            made = receive(self._repository, collected, self._start.commit, run_id, earlier)
        except RalphError as error:
            return [CollectionFailed(loop=loop, reason=str(error))]
        result = ResultCollected(
            loop=loop,
            branch=made.branch,
            commit=made.commit,
            files=made.files,
            changed_lines=made.changed_lines,
            record=self._record(loop, collected.attempt) if made.snapshots else "",
        )
        if not made.kept or earlier is None:
            return [result]
        kept = AttemptKept(
            loop=loop,
            attempt=earlier.attempt,
            host=earlier.host,
            branch=made.kept,
            files=earlier.files,
        )
        return [kept, result]

    def _record(self, loop: str, attempt: int) -> str:
        """Return the path of the run's record, relative to the repository's root."""
        root = Path(self._start.root)
        folder = FleetFolder(fleets_folder(root) / self._start.name)
        return folder.mirror(loop, attempt).relative_to(root).as_posix()

    def keep(self, collected: Collected, host: str, run_id: str) -> AttemptKept:
        """Make a separate branch for a replaced attempt's work, named after loop and attempt.

        Raises ``RalphError``; then its clone must stay.
        """
        number = collected.attempt
        beside = collected.model_copy(update={"branch": f"{collected.branch}-attempt-{number}"})
        made = receive(self._repository, beside, self._start.commit, run_id)
        return AttemptKept(
            loop=collected.loop, attempt=number, host=host, branch=made.branch, files=made.files
        )

    def conflicts(self, loops: Sequence[LoopState]) -> Sequence[ConflictsFound]:
        """Return an event for each branch with its conflicts. Raises ``RalphError``.

        Attempts at one objective are not compared, because only one of them will be merged. The
        current base is compared too, as the user may have added commits to it.
        """
        base = self._start.plan.base
        named = ("rev-parse", "--quiet", "--verify", "--end-of-options", f"{base}^{{commit}}")
        now = self._repository.git(*named, accept=None).line
        moved_on = {base: now} if now and now != self._start.commit else {}
        found = []
        for loop in loops:
            rest = {one.branch: one.commit for one in loops if _may_merge_both(loop, one)}
            conflict = self._conflicts.of(loop.commit, rest | moved_on)
            found.append(
                ConflictsFound(branch=loop.branch, others=conflict.others, unknown=conflict.unknown)
            )
        return found

    def verify(self, loop: LoopState) -> WinnerVerified:
        name = loop.spec.id
        if loop.spec.command is None:
            return WinnerVerified(loop=name, passed=True, reason=NO_COMMAND)
        try:
            check = self._run_check(loop, loop.spec.command)
        except RalphError as error:
            return WinnerVerified(loop=name, passed=False, reason=str(error))
        finally:
            self._check = None
        return WinnerVerified(loop=name, passed=check.passed, reason=check.reason)

    def _run_check(self, loop: LoopState, command: str) -> Check:
        """Run the check in a slot and a block of ports that no loop on this machine uses."""
        start, name = self._start, loop.spec.id
        plan = start.plan
        folder = TreeFolder.of(self._trees, start.fleet_id, f"check-{name}", 1)
        with ExitStack() as held:
            block = take_block(plan.ports)
            if block is not None:
                held.callback(block.release)
            ports = None if block is None else block.range
            named = (start.fleet_id, start.name, name, loop.attempt)
            variables = fleet_environment(*named, plan.agents, ports)
            self._check = FreshCheck(
                folder,
                self._repository.root,
                command,
                variables,
                setup=plan.setup,
                copied=self.copied,
            )
            return self._check.run(loop.commit)

    def bundle_base(self, commit: str) -> bytes:
        return base_bundle(self._repository, commit)

    def cancel(self) -> None:
        if (check := self._check) is not None:
            check.cancel()


def _may_merge_both(one: LoopState, other: LoopState) -> bool:
    """True if the user may merge both."""
    alike = bool(one.spec.tries_at) and one.spec.tries_at == other.spec.tries_at
    return one is not other and not alike
