"""A tree of its own for a loop: a clone with hard links, or a worktree of the user's repository.

A clone is the default: in a worktree `git stash`, branches, configuration and hooks are shared with
the user and with every other loop. Neither runs a hook; what git ignores is not in them.
"""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ralph_tui.adapters.fleet.trees.git import WORKERS, own_git
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.errors import NoRoomError, WorkspaceError
from ralph_tui.ports.fleet import Source
from ralph_tui.text.sanitize import one_line

_TRIES = 100
"""Names of a branch that are tried, where the wanted one is taken."""
_ORIGIN = "+refs/remotes/origin/*:refs/remotes/origin/*"


@dataclass(frozen=True)
class Origin:
    """A repository on this machine that has the commit."""

    path: Path
    users: bool
    """The user's own; else a copy that this host has made for the fleet."""


def make_clone(tree: Path, origin: Origin, source: Source, branch: str) -> str:
    """Clone into `tree`, which is not there yet, with the commit checked out; gives the branch.

    Its origin is the remote of the user's repository, or there is none: whoever pushes from it
    does not push into the user's repository. Raises ``WorkspaceError``.
    """
    path = str(origin.path)
    who = {"user.name": source.user_name, "user.email": source.user_email}
    names = [part for name, told in who.items() if told for part in ("-c", f"{name}={told}")]
    try:
        _clone(tree, origin.path, "--local", *names)
    except NoRoomError:
        raise
    except WorkspaceError:
        # Its objects are links, or on another disk.
        _clone(tree, origin.path, "--no-local", *names)
    own_git(tree, "remote", "remove", "base")
    if source.remote:
        own_git(tree, "remote", "add", "origin", source.remote)
        own_git(tree, "fetch", "--quiet", path, _ORIGIN, source=origin.path)
    own_git(tree, *WORKERS, "checkout", "--quiet", "--no-track", "-B", branch, source.commit)
    return branch


def make_worktree(tree: Path, origin: Origin, source: Source, branch: str) -> str:
    """Add a worktree at `tree`; gives the new branch's name, numbered where the name is taken.

    Raises ``WorkspaceError``.
    """
    wanted = branch
    for number in range(2, _TRIES):
        taken = own_git(
            origin.path, "show-ref", "--verify", "--quiet", f"refs/heads/{branch}",
            source=origin.path, accept=(0, 1),
        )  # fmt: skip
        if taken.status:
            break
        branch = f"{wanted}-{number}"
    # Without its files: to write them the repository's own filters would run.
    own_git(
        origin.path, "worktree", "add", "--quiet", "--no-checkout", "-b", branch, str(tree),
        source.commit, source=origin.path,
    )  # fmt: skip
    try:
        open_repository(tree).git(*WORKERS, "read-tree", "--reset", "-u", "HEAD")
    except WorkspaceError:
        remove_worktree(tree, origin.path, branch, source.commit)
        raise
    return branch


def remove_worktree(tree: Path, repository: Path, branch: str = "", commit: str = "") -> None:
    """Let the user's repository forget a worktree, before its folder is removed.

    `branch` goes, too, as long as it stands at `commit`; empty: it stays. Raises
    ``WorkspaceError``.
    """
    try:
        own_git(
            repository, "worktree", "remove", "--force", "--force", str(tree), source=repository
        )
    except WorkspaceError:
        own_git(repository, "worktree", "prune", source=repository)
    if branch:
        with suppress(WorkspaceError):  # where somebody has moved it
            ref = f"refs/heads/{branch}"
            own_git(repository, "update-ref", "-d", ref, commit, source=repository)


def has_commit(repository: Path, commit: str) -> bool:
    """Whether there is such a repository on this machine, with that commit."""
    try:
        found = own_git(
            repository, "cat-file", "-e", f"{one_line(commit)}^{{commit}}",
            source=repository, accept=None,
        )  # fmt: skip
    except WorkspaceError:
        return False
    return found.status == 0


def _clone(tree: Path, origin: Path, *how: str) -> None:
    quiet = ("--quiet", "--no-checkout", "--template=", "--origin", "base")
    own_git(tree.parent, "clone", *how, *quiet, "--", str(origin), tree.name, source=origin)
