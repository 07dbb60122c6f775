"""The worktrees of a repository, and a lock for changing them."""

import errno
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ralph_tui.adapters.clones.git import clone_git
from ralph_tui.base.errors import WorkspaceError, why, workspace_error
from ralph_tui.base.file_lock import holder_of, locked
from ralph_tui.base.git_config import ensure_folder
from ralph_tui.text.sanitize import one_line

WAIT_S = 60.0
"""Timeout for the lock in seconds; each holder needs only a moment."""
LOCK = "worktrees-lock"
"""File in ralph-tui's folder in the common Git directory."""


@contextmanager
def lock_worktrees(repository: Path) -> Iterator[None]:
    """Hold the lock on the worktrees, which keeps out other ralph-tui processes.

    Git reads all worktrees when it adds or lists them, and fails if one is incomplete or gone.
    Raises ``WorkspaceError``.
    """
    asked = ("rev-parse", "--path-format=absolute", "--git-common-dir")
    common_dir = Path(clone_git(repository, *asked, source=repository).line)
    lock = common_dir / "ralph-tui" / LOCK
    with ExitStack() as held:
        try:
            ensure_folder(lock.parent)
            held.enter_context(locked(lock, WAIT_S))
        except OSError as error:
            raise _lock_error(repository, lock, error) from error
        yield


def list_worktrees(repository: Path) -> dict[Path, str]:
    """Return the worktrees and their checked-out refs, empty if detached.

    The caller must hold `lock_worktrees`. Raises ``WorkspaceError``.
    """
    listing = clone_git(repository, "worktree", "list", "--porcelain", source=repository)
    found, where = {}, Path()
    for line in listing.lines:
        key, _, value = line.partition(" ")
        if key == "worktree":
            where = Path(value)
            found[where] = ""
        elif key == "branch":
            found[where] = value
    return found


def checked_out(repository: Path) -> dict[str, str]:
    """Return the folders of all worktrees by the ref checked out in each.

    Raises ``WorkspaceError``.
    """
    with lock_worktrees(repository):
        found = list_worktrees(repository)
    return {ref: str(where) for where, ref in found.items() if ref}


def _lock_error(repository: Path, lock: Path, error: OSError) -> WorkspaceError:
    where = f"the worktrees of {one_line(str(repository))}"
    if error.errno == errno.EAGAIN:
        return WorkspaceError(
            f"process {holder_of(lock)} has been changing {where} for {WAIT_S:.0f} s; end it, and "
            "try again"
        )
    return workspace_error(f"cannot lock {where}: {why(error, 'make it writable')}", error)
