"""Import of a loop's work into the user's repository, as a new branch.

Rule: the user's own work does not change. No branch is overwritten, a taken name gets a number, and
HEAD, index and files are not touched. Only the branch from an earlier collection of the same loop
moves, if it is where we left it and is not checked out anywhere.

The import does not trust what a bundle says about itself. Only the reported commit becomes a
branch, and only snapshots of the loop's own run become refs.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import uuid4

from ralph_tui.adapters.clones.collecting import changed_between
from ralph_tui.adapters.clones.worktrees import checked_out
from ralph_tui.adapters.workspace.repository import Repository
from ralph_tui.base.errors import WorkspaceError, why, workspace_error
from ralph_tui.base.plain_files import write_whole
from ralph_tui.ports.clones import Collected, Earlier
from ralph_tui.text.sanitize import one_line

BELOW = "ralph/"
"""Prefix of fleets' branches."""
_TRIES = 100
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True)
class Received:
    """A loop's work in the user's repository."""

    branch: str
    """Empty if nothing has changed and therefore no branch was created."""
    commit: str
    files: int = 0
    """Number of files changed since the base."""
    changed_lines: int = 0
    """Lines added and removed since the base."""
    kept: str = ""
    """The branch that keeps the earlier collection if this work does not build on it."""
    snapshots: int = 0
    """Number of snapshots from the loop's run that are now in the repository."""


def receive(
    repository: Repository,
    collected: Collected,
    base: str,
    run_id: str,
    earlier: Earlier | None = None,
) -> Received:
    """Import a collection; if this raises ``WorkspaceError``, no branch has been made.

    `earlier` is the previous collection of the loop.
    """
    commit = collected.commit
    if not _ID.fullmatch(commit) or not collected.branch.startswith(BELOW):
        raise WorkspaceError("the host's answer has no commit or no fleet branch")
    if not collected.bundle:
        if commit != base:
            raise WorkspaceError("the host sent no bundle with its commit")
        return Received("", commit)
    refs = _unbundle(repository, collected.bundle)
    if refs.get("HEAD", base) != commit:
        raise WorkspaceError(f"the bundle of loop {collected.loop} contains another commit")
    if commit == base:
        return Received("", commit, snapshots=_keep_snapshots(repository, refs, run_id))
    _check_history(repository, commit, collected.loop)
    changed = changed_between(repository, base, commit)
    branch, kept = _make_branch(repository, collected.branch, commit, earlier)
    snapshots = _keep_snapshots(repository, refs, run_id)
    return Received(branch, commit, len(changed), sum(changed.values()), kept, snapshots)


def _unbundle(repository: Repository, bundle: bytes) -> dict[str, str]:
    """Unpack the bundle's objects into the repository and return its refs."""
    file = repository.ensure_folder() / f"{uuid4().hex}.bundle"
    try:
        write_whole(file, bundle, durable=False)
        unbundled = repository.git("bundle", "unbundle", str(file))
    except OSError as error:
        raise workspace_error(
            f"the bundle cannot be saved in {one_line(str(repository.folder))}: {why(error, '')}",
            error,
        ) from error
    finally:
        file.unlink(missing_ok=True)
    lines = (line.partition(" ") for line in unbundled.lines)
    return {name: commit for commit, _, name in lines if _ID.fullmatch(commit)}


def _check_history(repository: Repository, commit: str, loop: str) -> None:
    """Reject a shallow history, because a branch that lacks objects would break the repository."""
    walk = ("rev-list", "--objects", "--quiet", commit, "--not", "--all")
    if repository.git(*walk, accept=None).status:
        raise WorkspaceError(
            f"the bundle of loop {loop} lacks part of its history, as from a shallow clone; "
            "fetch its work by hand"
        )


def _make_branch(
    repository: Repository, wanted: str, commit: str, earlier: Earlier | None
) -> tuple[str, str]:
    """Make the branch; return it, and the earlier commit's branch if that is not an ancestor."""
    for number in range(1, _TRIES):
        branch = wanted if number == 1 else f"{wanted}-{number}"
        ref = f"refs/heads/{branch}"
        # The branch is created only if it is absent: Git compares and writes in one step. Git also
        # rejects invalid branch names and anything that is not a commit.
        made = repository.git("update-ref", ref, commit, "0" * len(commit), accept=None)
        if made.status == 0:
            return branch, ""
        there = repository.git("show-ref", "--verify", "--hash", ref, accept=None)
        if there.line == commit:
            return branch, ""
        if earlier is not None and (branch, there.line) == (earlier.branch, earlier.commit):
            kept = _move_branch(repository, earlier, commit)
            if kept is not None:
                return branch, kept
        if there.status:
            raise repository.error_of(made, ("update-ref",))
    raise WorkspaceError(f"{_TRIES} branches like {wanted} already exist; delete some")


def _move_branch(repository: Repository, earlier: Earlier, commit: str) -> str | None:
    """Move the branch from an earlier collection; return None if it must not move.

    If the new commit does not build on the earlier one, that one gets its own branch, which is
    returned.
    """
    ref = f"refs/heads/{earlier.branch}"
    if ref in checked_out(repository.root):
        return None
    is_ancestor = ("merge-base", "--is-ancestor", earlier.commit, commit)
    beside = ""
    lines = f"update {ref}\0{commit}\0{earlier.commit}\0"
    if repository.git(*is_ancestor, accept=None).status:
        beside = f"{earlier.branch}-attempt-{earlier.attempt}"
        lines = f"create refs/heads/{beside}\0{earlier.commit}\0{lines}"
    moved = repository.git("update-ref", "-z", "--stdin", stdin=lines.encode(), accept=None)
    return beside if moved.status == 0 else None


def _keep_snapshots(repository: Repository, refs: dict[str, str], run_id: str) -> int:
    """Make refs for the snapshots of this run and return their number."""
    ours = re.compile(rf"refs/ralph/{re.escape(run_id)}/\d{{1,9}}")
    wanted = {name: commit for name, commit in refs.items() if run_id and ours.fullmatch(name)}
    if wanted and not _create_refs(repository, wanted, accept=None):
        there = repository.git("for-each-ref", "--format=%(refname)", f"refs/ralph/{run_id}/")
        missing = {name: wanted[name] for name in wanted.keys() - set(there.lines)}
        if missing:
            _create_refs(repository, missing, accept=(0,))
    return len(wanted)


def _create_refs(
    repository: Repository, refs: Mapping[str, str], accept: Iterable[int] | None
) -> bool:
    """Create all refs or none, because one may already exist; return True if they were created."""
    lines = "".join(f"create {name}\0{commit}\0" for name, commit in refs.items())
    words = ("update-ref", "--no-deref", "-z", "--stdin")
    return repository.git(*words, stdin=lines.encode(), accept=accept).status == 0
