"""A loop's work, taken into the user's repository as a new branch.

Rule: nothing of the user's changes. No branch is overwritten, and HEAD, index and files are not
touched; a name that is taken gets a number. Only the branch that an earlier collection of the same
loop has made goes on, as long as it stands where it was put and is checked out nowhere. What a
bundle says of itself is not believed: only the commit that was told is made a branch, only
snapshots of the loop's own run become refs.
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
"""Where branches of fleets are."""
_TRIES = 100
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True)
class Received:
    """A loop's work in the user's repository."""

    branch: str
    """Empty: nothing was changed, and no branch was made."""
    commit: str
    files: int = 0
    """Changed since the base."""
    changed_lines: int = 0
    """Added and removed since the base."""
    kept: str = ""
    """The branch of what was collected before, where this does not stand on that."""
    snapshots: int = 0
    """Of the loop's run that are here now."""


def receive(
    repository: Repository,
    collected: Collected,
    base: str,
    run_id: str,
    earlier: Earlier | None = None,
) -> Received:
    """Take it in; raises ``WorkspaceError``: then no branch was made.

    `earlier` is what was collected of the loop before.
    """
    commit = collected.commit
    if not _ID.fullmatch(commit) or not collected.branch.startswith(BELOW):
        raise WorkspaceError("what the host sent names no commit, or no branch of a fleet")
    if not collected.bundle:
        if commit != base:
            raise WorkspaceError("the host sent no bundle with its commit")
        return Received("", commit)
    refs = _unbundled(repository, collected.bundle)
    if refs.get("HEAD", base) != commit:
        raise WorkspaceError(f"the bundle of loop {collected.loop} holds another commit")
    if commit == base:
        return Received("", commit, snapshots=_keep_snapshots(repository, refs, run_id))
    _check_history(repository, commit, collected.loop)
    changed = changed_between(repository, base, commit)
    branch, kept = _made_branch(repository, collected.branch, commit, earlier)
    snapshots = _keep_snapshots(repository, refs, run_id)
    return Received(branch, commit, len(changed), sum(changed.values()), kept, snapshots)


def _unbundled(repository: Repository, bundle: bytes) -> dict[str, str]:
    """Its refs, when all its objects are in the repository."""
    file = repository.own_folder() / f"{uuid4().hex}.bundle"
    try:
        write_whole(file, bundle, durable=False)
        told = repository.git("bundle", "unbundle", str(file))
    except OSError as error:
        raise workspace_error(
            f"the bundle cannot be kept in {one_line(str(repository.folder))}: {why(error, '')}",
            error,
        ) from error
    finally:
        file.unlink(missing_ok=True)
    lines = (line.partition(" ") for line in told.lines)
    return {name: commit for commit, _, name in lines if _ID.fullmatch(commit)}


def _check_history(repository: Repository, commit: str, loop: str) -> None:
    """An agent's clone may be shallow: with a branch that lacks objects git works no more here."""
    walk = ("rev-list", "--objects", "--quiet", commit, "--not", "--all")
    if repository.git(*walk, accept=None).status:
        raise WorkspaceError(
            f"the bundle of loop {loop} lacks history of its commit, as of a shallow clone: "
            "take its work home by hand"
        )


def _made_branch(
    repository: Repository, wanted: str, commit: str, earlier: Earlier | None
) -> tuple[str, str]:
    """The branch, and the one of the earlier commit where that is not part of it."""
    for number in range(1, _TRIES):
        branch = wanted if number == 1 else f"{wanted}-{number}"
        ref = f"refs/heads/{branch}"
        # Made where it is not there: git compares and writes at once. It refuses what is no name
        # of a branch, and whatever is no commit.
        made = repository.git("update-ref", ref, commit, "0" * len(commit), accept=None)
        if made.status == 0:
            return branch, ""
        there = repository.git("show-ref", "--verify", "--hash", ref, accept=None)
        if there.line == commit:
            return branch, ""
        if earlier is not None and (branch, there.line) == (earlier.branch, earlier.commit):
            kept = _gone_on(repository, earlier, commit)
            if kept is not None:
                return branch, kept
        if there.status:
            raise repository.error_of(made, ("update-ref",))
    raise WorkspaceError(f"there are {_TRIES} branches like {wanted} already: delete some")


def _gone_on(repository: Repository, earlier: Earlier, commit: str) -> str | None:
    """Move the branch of an earlier collection; None: it is not to be moved.

    Where the commit does not stand on the earlier one that gets a branch beside, which is given.
    """
    ref = f"refs/heads/{earlier.branch}"
    if ref in checked_out(repository.root):
        return None
    stands_on = ("merge-base", "--is-ancestor", earlier.commit, commit)
    beside = ""
    lines = f"update {ref}\0{commit}\0{earlier.commit}\0"
    if repository.git(*stands_on, accept=None).status:
        beside = f"{earlier.branch}-attempt-{earlier.attempt}"
        lines = f"create refs/heads/{beside}\0{earlier.commit}\0{lines}"
    moved = repository.git("update-ref", "-z", "--stdin", stdin=lines.encode(), accept=None)
    return beside if moved.status == 0 else None


def _keep_snapshots(repository: Repository, refs: dict[str, str], run_id: str) -> int:
    """Make refs of those of this run; how many there are."""
    ours = re.compile(rf"refs/ralph/{re.escape(run_id)}/\d{{1,9}}")
    wanted = {name: commit for name, commit in refs.items() if run_id and ours.fullmatch(name)}
    if wanted and not _created(repository, wanted, accept=None):
        there = repository.git("for-each-ref", "--format=%(refname)", f"refs/ralph/{run_id}/")
        missing = {name: wanted[name] for name in wanted.keys() - set(there.lines)}
        if missing:
            _created(repository, missing, accept=(0,))
    return len(wanted)


def _created(repository: Repository, refs: Mapping[str, str], accept: Iterable[int] | None) -> bool:
    """Whether all of them were made; else none was: one may be there already."""
    lines = "".join(f"create {name}\0{commit}\0" for name, commit in refs.items())
    words = ("update-ref", "--no-deref", "-z", "--stdin")
    return repository.git(*words, stdin=lines.encode(), accept=accept).status == 0
