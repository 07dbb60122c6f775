"""The fleet of this repository whose process is there."""

from pathlib import Path

from ralph_tui.adapters.records.folders import worktree_root
from ralph_tui.adapters.records.lock import worker
from ralph_tui.errors import UsageError
from ralph_tui.fleet.records.folders import FleetFolder, find_fleet, fleets_folder


def find_live_fleet() -> FleetFolder:
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
        raise UsageError(
            f"a fleet is starting here (process {owner.pid}) and checks its completion commands "
            "first; try again once it runs"
        )
    return FleetFolder(fleets_folder(root) / owner.run)
