"""A tree of its own for a loop: a clone with hard links, or a worktree of the user's repository.

A clone is the default: in a worktree `git stash`, branches, configuration and hooks are shared with
the user and with every other loop. Neither runs a hook; what git ignores is not in them.
"""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ralph_tui.adapters.clones.git import WORKERS, own_git
from ralph_tui.adapters.clones.places import TreeFolder, remove_folder
from ralph_tui.adapters.clones.worktrees import list_worktrees, worktrees_held
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.base.errors import NoRoomError, WorkspaceError
from ralph_tui.ports.clones import Source
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

    Raises ``WorkspaceError``; then neither is there.
    """
    with worktrees_held(origin.path):
        branch = _free_name(origin.path, branch)
        try:
            # Without its files: to write them the repository's own filters would run.
            own_git(
                *(origin.path, "worktree", "add", "--quiet", "--no-checkout", "-b", branch),
                *(str(tree), source.commit),
                source=origin.path,
            )
        except WorkspaceError:
            with suppress(WorkspaceError):  # why it was not added is what counts
                _forget(tree, origin.path, branch, source.commit)
            raise
    try:
        open_repository(tree).git(*WORKERS, "read-tree", "--reset", "-u", "HEAD")
    except WorkspaceError:
        remove_worktree(tree, origin.path, branch, source.commit)
        raise
    return branch


def remove_worktree(tree: Path, repository: Path, branch: str, commit: str) -> None:
    """Take a worktree away, and let the user's repository forget it.

    Its own `branch` goes, too, where nothing came of it: as long as it stands at `commit` and is
    checked out nowhere else. Empty: that which is checked out in the worktree, which was not made
    to its end. Raises ``WorkspaceError``.
    """
    remove_folder(tree)  # here, for others wait for what git does
    with worktrees_held(repository):
        _forget(tree, repository, branch, commit)


def remove_tree(folder: TreeFolder) -> None:
    """Take the folder of an attempt away, and what the user's repository knows of its worktree.

    Raises ``WorkspaceError``.
    """
    record = folder.read()
    if record is not None and record.worktree:
        source = record.place.source
        remove_worktree(folder.tree, Path(source.path), record.branch, source.commit)
    folder.remove()


def has_commit(repository: Path, commit: str) -> bool:
    """Whether there is such a repository on this machine, with that commit."""
    try:
        found = own_git(
            repository, "cat-file", "-e", f"{one_line(commit)}^{{commit}}",
            source=repository, accept=None,
        )  # fmt: skip
    except (WorkspaceError, ValueError):  # no path that this process can name
        return False
    return found.status == 0


def _free_name(repository: Path, wanted: str) -> str:
    branch = wanted
    for number in range(2, _TRIES):
        taken = own_git(
            *(repository, "show-ref", "--verify", "--quiet", f"refs/heads/{branch}"),
            source=repository,
            accept=(0, 1),
        )
        if taken.status:
            break
        branch = f"{wanted}-{number}"
    return branch


def _forget(tree: Path, repository: Path, branch: str, commit: str) -> None:
    """As `remove_worktree`, of a tree that is not there any more, by whoever holds them."""
    others = list_worktrees(repository)
    left = others.pop(tree.parent.resolve() / tree.name, None)
    if left is not None:
        force = ("--force", "--force")  # also where the agent has locked it
        own_git(repository, "worktree", "remove", *force, str(tree), source=repository)
    ref = f"refs/heads/{branch}" if branch else left
    if ref and ref not in others.values():
        with suppress(WorkspaceError):  # where somebody has moved it
            own_git(repository, "update-ref", "-d", ref, commit, source=repository)


def _clone(tree: Path, origin: Path, *how: str) -> None:
    quiet = ("--quiet", "--no-checkout", "--template=", "--origin", "base")
    own_git(tree.parent, "clone", *how, *quiet, "--", str(origin), tree.name, source=origin)
