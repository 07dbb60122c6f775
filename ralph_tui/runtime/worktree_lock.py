"""Take a worktree's lock, even if a dead run's keepers were suspended while holding it."""

from datetime import UTC, datetime
from pathlib import Path

from ralph_tui.adapters.processes.sweep import continue_keepers
from ralph_tui.adapters.records.lock import Lock, acquire


def acquire_worktree_lock(path: Path, run: str = "", run_id: str = "") -> Lock:
    """Acquire the lock at `path`. Raises the same exceptions as `acquire`.

    The keepers of a dead run hold the lock until all their processes have ended. In case the agent
    suspended them, they receive SIGCONT repeatedly during the wait.
    """
    since = datetime.now(UTC).astimezone().isoformat(sep=" ", timespec="seconds")
    # The lock is the worktree's .aiwg/ralph/lock.
    return acquire(path, run, run_id, since, hurry=lambda: continue_keepers(path.parents[2]))
