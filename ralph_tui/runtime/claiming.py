"""A worktree's lock is taken here, also from a dead run whose keeper was stopped before it died."""

from datetime import UTC, datetime
from pathlib import Path

from ralph_tui.adapters.processes.sweep import continue_keepers
from ralph_tui.adapters.records.lock import Lock, acquire


def claim(path: Path, run: str = "", run_id: str = "") -> Lock:
    """The lock at `path`, held from now on; raises as `acquire` does.

    The keepers of a dead run hold it until all that they keep has ended, and its agent may have
    stopped them: they are told to go on, again and again while the lock is waited for.
    """
    since = datetime.now(UTC).astimezone().isoformat(sep=" ", timespec="seconds")
    # The lock is the worktree's .aiwg/ralph/lock.
    return acquire(path, run, run_id, since, hurry=lambda: continue_keepers(path.parents[2]))
