"""A fleet that lives in another process: found by its lock, commanded through its socket."""

import socket
from dataclasses import dataclass
from pathlib import Path

from ralph_tui.adapters.fleet.records.folders import FleetFolder, find_fleet, fleets_folder
from ralph_tui.adapters.records.folders import worktree_root
from ralph_tui.adapters.records.lock import Owner, worker
from ralph_tui.adapters.remote.client import PATIENCE_S, request
from ralph_tui.errors import RalphError, UsageError

ALL = "all"
"""In the place of a loop: each of them that is not over."""


@dataclass(frozen=True)
class LiveFleet:
    """A fleet whose process is there."""

    folder: FleetFolder
    owner: Owner

    def request(self, loop: str, name: str, **fields: object) -> int:
        """Give a loop a command, or (loop empty) the fleet; the number of the first event of it.

        Raises ``RalphError`` with the reason, or when it cannot be reached.
        """
        if self.owner.host != socket.gethostname():
            raise RalphError(
                f"{self.folder.name} lives on {self.owner.host}; command it from there"
            )
        if not self.owner.socket:
            raise RalphError(
                f"{self.folder.name} has no command socket (its log {self.folder.log} says why)"
            )
        return request(
            Path(self.owner.socket),
            {"name": name, **fields},
            PATIENCE_S,
            lambda: self.folder.owner() is not None,
            loop,
        )


def find_live_fleet() -> LiveFleet:
    """The fleet that runs in this repository; raises ``UsageError`` where none does."""
    root = worktree_root(Path.cwd())
    owner = worker(fleets_folder(root) / "lock")
    if owner is None:
        find_fleet(root)  # says so where there never was one
        raise UsageError(
            f"no fleet runs in {root}; start one with 'ralph-tui fleet run', or go on with the "
            "last one with 'ralph-tui fleet resume'"
        )
    if not owner.run:
        raise UsageError("a fleet is just starting here; try again in a second")
    return LiveFleet(FleetFolder(fleets_folder(root) / owner.run), owner)
