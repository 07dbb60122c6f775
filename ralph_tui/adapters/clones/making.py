"""Make a worktree or clone for a loop.

A clone with hard links is the default: a worktree shares `git stash`, branches, configuration and
hooks with the user and every other loop. Neither kind runs hooks or has files that Git ignores.
"""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ralph_tui.adapters.clones.git import WORKERS, clone_git
from ralph_tui.adapters.clones.places import TreeFolder, remove_folder
from ralph_tui.adapters.clones.worktrees import list_worktrees, lock_worktrees
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.base.errors import NoRoomError, WorkspaceError
from ralph_tui.ports.clones import Source
from ralph_tui.text.sanitize import one_line

_TRIES = 100
"""Maximum number of branch names to try if the requested one is taken."""
_ORIGIN = "+refs/remotes/origin/*:refs/remotes/origin/*"


@dataclass(frozen=True)
class Origin:
    """A repository on this machine that has the commit."""

    path: Path
    users: bool
    """True for the user's own repository, False for a copy that this host made for the fleet."""


def make_clone(tree: Path, origin: Origin, source: Source, branch: str) -> str:
    """Clone into `tree`, which must not exist, check out the commit, and return the branch.

    The clone's origin is the remote of the user's repository, if it has one. A push therefore never
    goes to the user's repository. Raises ``WorkspaceError``.
    """
    path = str(origin.path)
    who = {"user.name": source.user_name, "user.email": source.user_email}
    names = [part for name, value in who.items() if value for part in ("-c", f"{name}={value}")]
    try:
        _clone(tree, origin.path, "--local", *names)
    except NoRoomError:
        raise
    except WorkspaceError:
        # --local fails if the objects are links or on another disk.
        _clone(tree, origin.path, "--no-local", *names)
    clone_git(tree, "remote", "remove", "base")
    if source.remote:
        clone_git(tree, "remote", "add", "origin", source.remote)
        clone_git(tree, "fetch", "--quiet", path, _ORIGIN, source=origin.path)
    clone_git(tree, *WORKERS, "checkout", "--quiet", "--no-track", "-B", branch, source.commit)
    return branch


def make_worktree(tree: Path, origin: Origin, source: Source, branch: str) -> str:
    """Add a worktree at `tree` and return its new branch, numbered if the name is taken.

    If this raises ``WorkspaceError``, neither exists afterwards.
    """
    with lock_worktrees(origin.path):
        branch = _free_name(origin.path, branch)
        try:
            # Without files, because writing them would run the repository's own filters.
            clone_git(
                *(origin.path, "worktree", "add", "--quiet", "--no-checkout", "-b", branch),
                *(str(tree), source.commit),
                source=origin.path,
            )
        except WorkspaceError:
            with suppress(WorkspaceError):  # report instead why it was not added
                _forget(tree, origin.path, branch, source.commit)
            raise
    try:
        open_repository(tree).git(*WORKERS, "read-tree", "--reset", "-u", "HEAD")
    except WorkspaceError:
        remove_worktree(tree, origin.path, branch, source.commit)
        raise
    return branch


def remove_worktree(tree: Path, repository: Path, branch: str, commit: str) -> None:
    """Remove a worktree, and make the user's repository forget it.

    Its own `branch` is also removed if it is still at `commit` and checked out nowhere else. An
    empty `branch` means the one checked out in a worktree that was not completed. Raises
    ``WorkspaceError``.
    """
    remove_folder(tree)  # outside the lock, for which others would have to wait
    with lock_worktrees(repository):
        _forget(tree, repository, branch, commit)


def remove_tree(folder: TreeFolder) -> None:
    """Remove the folder of an attempt, and its worktree from the user's repository.

    Raises ``WorkspaceError``.
    """
    record = folder.read()
    if record is not None and record.worktree:
        source = record.place.source
        remove_worktree(folder.tree, Path(source.path), record.branch, source.commit)
    folder.remove()


def has_commit(repository: Path, commit: str) -> bool:
    """True if `repository` exists on this machine and has the commit."""
    try:
        found = clone_git(
            repository, "cat-file", "-e", f"{one_line(commit)}^{{commit}}",
            source=repository, accept=None,
        )  # fmt: skip
    except (WorkspaceError, ValueError):  # this process cannot name the path
        return False
    return found.status == 0


def _free_name(repository: Path, wanted: str) -> str:
    branch = wanted
    for number in range(2, _TRIES):
        taken = clone_git(
            *(repository, "show-ref", "--verify", "--quiet", f"refs/heads/{branch}"),
            source=repository,
            accept=(0, 1),
        )
        if taken.status:
            break
        branch = f"{wanted}-{number}"
    return branch


def _forget(tree: Path, repository: Path, branch: str, commit: str) -> None:
    """Make the repository forget a removed worktree; the caller must hold the worktrees' lock."""
    others = list_worktrees(repository)
    left = others.pop(tree.parent.resolve() / tree.name, None)
    if left is not None:
        force = ("--force", "--force")  # even if the agent has locked it
        clone_git(repository, "worktree", "remove", *force, str(tree), source=repository)
    ref = f"refs/heads/{branch}" if branch else left
    if ref and ref not in others.values():
        with suppress(WorkspaceError):  # the branch has moved
            clone_git(repository, "update-ref", "-d", ref, commit, source=repository)


def _clone(tree: Path, origin: Path, *how: str) -> None:
    quiet = ("--quiet", "--no-checkout", "--template=", "--origin", "base")
    clone_git(tree.parent, "clone", *how, *quiet, "--", str(origin), tree.name, source=origin)
