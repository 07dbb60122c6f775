"""Hidden refs of all runs in a repository: list them, and delete them exactly as listed."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ralph_tui.adapters.workspace.git import GitResult
from ralph_tui.adapters.workspace.repository import Repository
from ralph_tui.base.git_config import content_of
from ralph_tui.events import SnapshotTaken

_OURS = re.compile(r"refs/ralph/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/\d+")
_LAYOUT = "--format=%(refname)%00%(objectname)%00%(symref)"
_DELETE = ("update-ref", "--no-deref", "-z", "--stdin")


@dataclass(frozen=True)
class HiddenRef:
    """A ref to one snapshot of a run."""

    name: str
    commit: str
    run_id: str


def hidden_refs(repository: Repository) -> list[HiddenRef]:
    """Return ralph-tui's own refs by name, without other refs below ``refs/ralph/``."""
    found = []
    for line in repository.git("for-each-ref", _LAYOUT, "refs/ralph/").out.splitlines():
        name, commit, symbolic = os.fsdecode(line).split("\0")
        ours = _OURS.fullmatch(name)
        if ours and not symbolic:
            found.append(HiddenRef(name, commit, ours[1]))
    return found


def delete_refs(repository: Repository, refs: Iterable[HiddenRef]) -> int:
    """Delete the refs that have not moved since they were listed, and return their number.

    Raises ``WorkspaceError`` if Git cannot delete an unmoved one.
    """
    refs = list(refs)
    if not refs or _delete(repository, refs).status == 0:
        return len(refs)
    return sum(_deleted_alone(repository, ref) for ref in refs)


def _deleted_alone(repository: Repository, ref: HiddenRef) -> bool:
    result = _delete(repository, [ref])
    if result.status == 0:
        return True
    there = repository.git("rev-parse", "--verify", "--quiet", ref.name, accept=None)
    if there.line == ref.commit:
        raise repository.error_of(result, _DELETE)
    return False


def _delete(repository: Repository, refs: list[HiddenRef]) -> GitResult:
    """Delete all refs or none."""
    lines = "".join(f"delete {ref.name}\0{ref.commit}\0" for ref in refs)
    return repository.git(*_DELETE, stdin=lines.encode(), accept=None)


def worktrees(repository: Repository) -> list[Path]:
    """Return all worktrees that share these refs, even if their folders do not exist now."""
    found = {repository.root}
    if repository.common_dir.name == ".git":
        found.add(repository.common_dir.parent)
    for pointer in repository.common_dir.glob("worktrees/*/gitdir"):
        if text := content_of(pointer):  # the path of the worktree's .git
            found.add((pointer.parent / os.fsdecode(text.rstrip(b"\r\n"))).parent.resolve())
    return sorted(found)


def saved_snapshots(repository: Repository, snapshots: list[SnapshotTaken]) -> frozenset[int]:
    """Return the numbers of the snapshots whose ref still points to the recorded tree.

    Other snapshots cannot be restored, because only the commit of their ref lists the paths that
    they lack. Raises ``WorkspaceError``.
    """
    if not snapshots:
        return frozenset()
    names = "".join(f"{taken.ref}^{{tree}}\n" for taken in snapshots).encode()
    found = repository.git("cat-file", "--batch-check", stdin=names).out.splitlines()
    return frozenset(
        taken.number
        for taken, line in zip(snapshots, found, strict=True)
        if line.split()[:2] == [taken.tree.encode(), b"tree"]
    )
