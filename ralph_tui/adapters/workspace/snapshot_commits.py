"""Snapshots as commits on hidden refs, which protect them from Git's garbage collection.

Each commit follows the previous one. The two Git commands that this takes stay open between
snapshots, because starting them takes longer than their work.
"""

import json
import os
import time
from contextlib import suppress
from functools import partial

from ralph_tui.adapters.workspace.git import PersistentGit
from ralph_tui.adapters.workspace.private_repository import PrivateRepository
from ralph_tui.adapters.workspace.staging import Staged, split
from ralph_tui.base.errors import GitEndedError, NoRoomError, WorkspaceError
from ralph_tui.base.git_config import quoted
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.sanitize import plain

RECORDED_MISSING = 1_000
"""Maximum number of missing paths in a commit; beyond it, folders replace the paths."""

_AUTHOR = "ralph-tui <ralph-tui@localhost>"
_MISSING = "Missing: "
_REFS = "refs/ralph/"
_DELETED = ("--no-renames", "--name-only", "--diff-filter=D")

_WRITE = ("hash-object", "-t", "commit", "-w", "--no-filters", "--stdin-paths")
_UPDATE = ("update-ref", "--no-deref", "-z", "--stdin")


class SnapshotCommits:
    """Commits of one run; close it after the last one."""

    def __init__(self, private: PrivateRepository, refs: str) -> None:
        self._private = private
        self._repository = private.repository
        self._refs = refs
        self._writer = PersistentGit(partial(self._repository.begin, *_WRITE, waits=True))
        self._updater = PersistentGit(partial(self._repository.begin, *_UPDATE, waits=True))
        self._last: tuple[str, str] | None = None
        """Ref and commit of the newest snapshot."""

    def begin(self) -> None:
        """Start the commands for `commit` early; otherwise, `commit` starts them."""
        self._writer.begin()
        self._updater.begin()

    def close(self) -> None:
        self._writer.close()
        self._updater.close()

    def commit(self, staged: Staged, message: str, ref: str) -> str:
        """Commit a tree on a ref and return the commit."""
        text = plain(message).rstrip() + "\n"
        if staged.missing:
            text += f"\n{_MISSING}{json.dumps(_folded(staged.missing))}\n"
        commit = self._after_last(staged.tree, text, ref)
        if commit is None:
            commit = self._write(staged.tree, text, self._parent(), ref, "")
        self._last = (ref, commit)
        return commit

    def _after_last(self, tree: str, text: str, ref: str) -> str | None:
        """Commit on top of the last commit; return None if its ref is gone."""
        if self._last is None:
            return None
        last_ref, last = self._last
        try:
            return self._write(tree, text, last, ref, f"verify {last_ref}\0{last}\0")
        except (NoRoomError, GitEndedError):
            raise
        except WorkspaceError:
            return None

    def _write(self, tree: str, text: str, parent: str | None, ref: str, condition: str) -> str:
        """Write a commit and update the ref, on a condition in update-ref's syntax."""
        when = f"{_AUTHOR} {int(time.time())} {time.strftime('%z')}"
        head = [f"tree {tree}", *([f"parent {parent}"] if parent else [])]
        content = "\n".join([*head, f"author {when}", f"committer {when}", "", text])
        path = self._private.write_note("commit", content.encode("utf-8", "replace"))
        (commit,) = self._writer.ask(os.fsencode(quoted(path)) + b"\n")
        # A killed Git process may have left a lock; no other process writes this ref.
        with suppress(OSError):
            (self._repository.common_dir / f"{ref}.lock").unlink()
        update = f"{condition}update {ref}\0{commit}\0\0"
        self._updater.ask(f"start\0{update}commit\0".encode(), lines=2)
        return commit

    def _parent(self) -> str | None:
        """Return an existing parent for a commit; an agent may have deleted and pruned others."""
        if self._last is not None and self._is_there(self._last[1]):
            return self._last[1]
        found = self._newest() or self._repository.head()
        return found if found and self._is_there(found) else None

    def _is_there(self, commit: str) -> bool:
        return self._private.git("cat-file", "-e", commit, accept=None).status == 0

    def _newest(self) -> str | None:
        """Return the commit of the last snapshot that an earlier process of this run took."""
        order = ("--sort=-version:refname", "--count=1", "--format=%(objectname)")
        return self._repository.git("for-each-ref", *order, self._refs + "/").line or None

    def missing_of_newest(self) -> list[str]:
        """Return the missing paths of this run's newest snapshot, by this or an earlier process."""
        order = ("--sort=-version:refname", "--count=1", "--format=%(contents:body)")
        body = os.fsdecode(self._repository.git("for-each-ref", *order, self._refs + "/").out)
        return _paths(body.rpartition(_MISSING)[2].strip()) if _MISSING in body else []

    def recorded(self, tree: str) -> tuple[frozenset[str], frozenset[str]]:
        """Return the missing paths and the commits of all snapshots with this tree, in any run."""
        layout = "--format=%(tree)%00%(objectname)%00%(contents:body)%00"
        fields = split(self._repository.git("for-each-ref", layout, _REFS).out)
        missing: set[str] = set()
        commits = set()
        for name, commit, body in zip(fields[::3], fields[1::3], fields[2::3], strict=True):
            if name.strip() != tree:
                continue
            commits.add(commit)
            if _MISSING in body:
                missing.update(_paths(body.rpartition(_MISSING)[2]))
        return frozenset(missing), frozenset(commits)

    def deleted_before(self, commits: frozenset[str]) -> frozenset[str]:
        """Return paths that were deleted between one snapshot and the next, up to these commits."""
        ours = set(self._repository.git("for-each-ref", "--format=%(objectname)", _REFS).lines)
        chain = ("rev-list", "--parents", f"--max-count={len(ours)}", *sorted(commits))
        rows = [row.split() for row in self._repository.git(*chain).lines] if commits else []
        # The user's own commits are not snapshots: a file deleted in them may have stayed as an
        # ignored file.
        after = [commit for commit, *parents in rows if commit in ours and ours.issuperset(parents)]
        command = ("diff-tree", "--stdin", "-r", "-z", "--no-commit-id", *_DELETED)
        request = "".join(f"{commit}\n" for commit in after).encode()
        return frozenset(split(self._private.git(*command, stdin=request).out) if after else ())


def _paths(text: str) -> list[str]:
    """Return the paths in a commit message, which anyone may have written; empty if invalid."""
    try:
        value = parse_json(text)
    except ValueError:
        return []
    return [path for path in value if isinstance(path, str)] if isinstance(value, list) else []


def _folded(paths: tuple[str, ...]) -> list[str]:
    """Reduce to `RECORDED_MISSING` paths, replacing the deepest with their folders, with ``/``."""
    folded = set(paths)
    depth = max(path.rstrip("/").count("/") for path in folded)
    while len(folded) > RECORDED_MISSING and depth > 0:
        folded = {
            path if path.rstrip("/").count("/") < depth else _first_parts(path, depth)
            for path in folded
        }
        depth -= 1
    return sorted(folded)


def _first_parts(path: str, depth: int) -> str:
    return "/".join(path.split("/")[:depth]) + "/"
