"""Taking a worktree's lock, even from a dead run whose keeper was stopped before it died."""

from datetime import UTC, datetime
from pathlib import Path

from ralph_tui.adapters.processes.sweep import continue_keepers
from ralph_tui.adapters.records.lock import Lock, acquire


def claim(path: Path, run: str = "", run_id: str = "") -> Lock:
    """Take the lock at `path` and keep it; raises what `acquire` raises.

    The keepers of a dead run hold the lock until all their processes have ended. If its agent
    stopped the keepers, they are sent SIGCONT, repeatedly, while this waits.
    """
    since = datetime.now(UTC).astimezone().isoformat(sep=" ", timespec="seconds")
    # The lock is the worktree's .aiwg/ralph/lock.
    return acquire(path, run, run_id, since, hurry=lambda: continue_keepers(path.parents[2]))
