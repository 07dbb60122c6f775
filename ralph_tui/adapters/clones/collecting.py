"""The work of an ended loop as a bundle: its branch, uncommitted work and snapshots.

An agent has worked in the worktree, so Git is used there only through `Repository`, and only if the
worktree still has its own repository. Files copied in by the fleet and records are not work.
"""

import re
import socket
from collections.abc import Iterable
from pathlib import Path

from ralph_tui.adapters.clones.git import configured
from ralph_tui.adapters.clones.places import PlaceRecord, TreeFolder
from ralph_tui.adapters.workspace.hidden_refs import hidden_refs
from ralph_tui.adapters.workspace.private_repository import OWN_FOLDERS
from ralph_tui.adapters.workspace.repository import Repository, open_repository
from ralph_tui.adapters.workspace.work_commits import RECORDS
from ralph_tui.base.errors import UsageError, WorkspaceError
from ralph_tui.ports.clones import Collected
from ralph_tui.text.sanitize import one_line, shorten

MAX_BUNDLE = 1 << 29
"""Maximum size of a bundle in bytes."""
MAX_SUBJECT = 72
_INDEX = "ralph-tui-collected"
_STATE_FILES = ("ralph-state.json", "ralph-state.json.*", ".ralph-state.json.*")
_SPECIAL, _ESCAPED = re.compile(r"[*?\[\\]"), r"\\\g<0>"
_LITERAL_OFF = {"GIT_LITERAL_PATHSPECS": "0"}


def collect(folder: TreeFolder, record: PlaceRecord) -> Collected:
    """Commit the uncommitted work in an unused worktree, and bundle everything the base lacks.

    If this raises ``WorkspaceError``, the worktree is unchanged.
    """
    repository = _own_repository(folder, record)
    base = record.place.source.commit
    head, tree, has_base = _head_of(repository, base)
    commit = _commit_rest(repository, record, head, tree)
    known = {"loop": folder.loop, "attempt": folder.attempt}
    branch = record.branch or record.place.branch
    heads = [] if commit == base else ["HEAD"]
    # Snapshots are kept even if the work ended as it began; it may have been better in between.
    refs = [*heads, *_snapshots(repository, record.run_id)]
    bundle = _bundle(repository, base if has_base else "", refs) if refs else b""
    return Collected(**known, branch=branch, commit=commit, bundle=bundle)


def changed_between(repository: Repository, base: str, commit: str) -> dict[str, int]:
    """Return the number of added and removed lines by path; 0 for a binary file."""
    diff = repository.git("diff-tree", "-r", "-z", "--no-renames", "--numstat", base, commit)
    changed = {}
    for entry in diff.out.decode("utf-8", "surrogateescape").split("\0"):
        added, _, rest = entry.partition("\t")
        removed, _, path = rest.partition("\t")
        if path:
            changed[path] = sum(int(n) for n in (added, removed) if n.isdecimal())
    return changed


def _own_repository(folder: TreeFolder, record: PlaceRecord) -> Repository:
    tree = folder.tree.resolve()
    if not tree.is_dir():
        raise WorkspaceError(f"{one_line(str(tree))} was deleted, and its work with it")
    gone = _copy_advice(tree, "was removed or damaged")
    try:
        repository = open_repository(tree)
        users = open_repository(Path(record.place.source.path)) if record.worktree else None
    except UsageError as error:  # its message is for a user who named a folder
        raise WorkspaceError(gone) from error
    if repository.root != tree:  # Git found a repository further up
        raise WorkspaceError(gone)
    own = repository.git_dir == repository.common_dir == tree / ".git"
    if users is not None:
        own = (
            repository.common_dir == users.common_dir
            and repository.git_dir.parent == users.common_dir / "worktrees"
        )
    if not own:
        raise WorkspaceError(_copy_advice(tree, "is not the original one"))
    return repository


def _copy_advice(tree: Path, what: str) -> str:
    return f"the git repository of {one_line(str(tree))} {what}; copy its files by hand"


def _head_of(repository: Repository, base: str) -> tuple[str, str, bool]:
    """Return the commit, its tree, and whether the base still exists: an agent can remove it."""
    names = ("HEAD^{commit}", "HEAD^{tree}", f"{base}^{{commit}}")
    lines = repository.git("cat-file", "--batch-check", stdin="\n".join(names).encode()).lines
    commit, tree, known = (line.split(" ") for line in lines)
    if commit[1:2] != ["commit"]:
        raise WorkspaceError(_copy_advice(repository.root, "no longer has a commit"))
    return commit[0], tree[0], known[0] == base


def _commit_rest(repository: Repository, record: PlaceRecord, head: str, before: str) -> str:
    """Return the work's commit; uncommitted work becomes a commit, in HEAD and the index as well.

    `before` is the tree of `head`.
    """
    index = repository.git_dir / _INDEX
    own = {"GIT_INDEX_FILE": str(index)}
    try:
        repository.git("read-tree", head, environment=own)
        work = (".", *_excluded(record))
        repository.git(
            *("add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"),
            stdin="\0".join(work).encode("utf-8", "surrogateescape"),
            environment=own | _LITERAL_OFF,
        )
        tree = repository.git("write-tree", environment=own).line
        if tree == before:
            return head
        who = _identity(repository, record)
        made = repository.git(
            *("commit-tree", tree, "-p", head), stdin=_message(record).encode(), environment=who
        )
        repository.git("update-ref", "HEAD", made.line, head)
        (repository.git_dir / "index.lock").unlink(
            missing_ok=True
        )  # the Git process that held it is gone
        index.replace(repository.git_dir / "index")
    finally:
        index.unlink(missing_ok=True)
    return made.line


def _excluded(record: PlaceRecord) -> Iterable[str]:
    """Yield patterns for files that are not work.

    Each begins with an escaped character: `git add` fails on a plain path that is ignored, even an
    excluded one.
    """
    names = (RECORDS, *OWN_FOLDERS, *record.place.copied, *record.of_setup)
    for name in dict.fromkeys(name.rstrip("/") for name in names):
        pattern = f":(exclude,glob)\\{name[0]}{_SPECIAL.sub(_ESCAPED, name[1:])}"
        yield pattern
        yield f"{pattern}/**"
    for name in _STATE_FILES:
        yield f":(exclude,glob)**/{name}"


def _message(record: PlaceRecord) -> str:
    place = record.place
    first = next(iter(place.loop.objective.strip().splitlines()), "") or "Work of a loop"
    subject = shorten(one_line(first), MAX_SUBJECT)
    return f"{subject}\n\nralph-tui fleet {place.fleet}, loop {place.loop.id}\n"


def _identity(repository: Repository, record: PlaceRecord) -> dict[str, str]:
    """Return the author from Git's configuration, else from the fleet's order, else ralph-tui."""
    source = record.place.source
    own = configured(repository, "user.name", "user.email")
    name = own["user.name"] or source.user_name or "ralph-tui"
    email = own["user.email"] or source.user_email
    email = email or f"ralph-tui@{socket.gethostname()}"
    return {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", name), ("EMAIL", email))
    }


def _snapshots(repository: Repository, run_id: str) -> list[str]:
    return [ref.name for ref in hidden_refs(repository) if run_id and ref.run_id == run_id]


def _bundle(repository: Repository, base: str, refs: list[str]) -> bytes:
    # If the repository lacks the base, everything is sent.
    without = [f"^{base}"] if base else []
    bundle = repository.git("bundle", "create", "--quiet", "-", *without, *refs).out
    if len(bundle) > MAX_BUNDLE:
        raise WorkspaceError(
            f"the work is larger than {MAX_BUNDLE >> 20} MB; fetch it by hand from "
            f"{one_line(str(repository.root))}"
        )
    return bundle
