"""The workspace of a run: snapshots on hidden refs, and what they are good for.

A snapshot is a commit below ``refs/ralph/<run>/``, so git's own garbage collection keeps it. The
user's index, branch, stash and config are never written.
"""

import json
from threading import Lock

from ralph_tui.errors import NoRoomError, WorkspaceError
from ralph_tui.events.workspace import FileChange
from ralph_tui.ports import Snapshot
from ralph_tui.text import one_line, plain
from ralph_tui.workspace import changes
from ralph_tui.workspace.private import PrivateRepository
from ralph_tui.workspace.repository import Repository
from ralph_tui.workspace.restoring import Restored, restore
from ralph_tui.workspace.staging import Staged, Staging, ignored_paths, split

SHOWN_MISSING = 20
"""Missing paths a snapshot names."""
RECORDED_MISSING = 1_000
"""Missing paths a snapshot's commit records; beyond that their folders stand for them."""

_IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "ralph-tui"), ("EMAIL", "ralph-tui@localhost"))
}
_MISSING = "Missing: "


class GitWorkspace:
    """`ralph_tui.ports.Workspace` on a git repository; its calls may come from any thread."""

    def __init__(self, repository: Repository, run_id: str) -> None:
        self.repository = repository
        self.root = repository.root
        self._refs = f"refs/ralph/{run_id}"
        self._private = PrivateRepository(repository)
        self._staging = Staging(self._private)
        self._lock = Lock()
        self._last: str | None = None
        """Commit of this run's newest snapshot."""
        self._missing: frozenset[str] = frozenset()
        self._full = False
        """Whether the last snapshot found the disk full."""

    def snapshot(self, number: int, message: str) -> Snapshot:
        """Write the worktree as a tree on a hidden ref.

        Raises ``WorkspaceError`` when git cannot, ``NoRoomError`` when the disk is full.
        """
        ref = f"{self._refs}/{number:03d}"
        with self._lock:
            try:
                staged, self._last = self._take(message, ref)
            except NoRoomError:
                self._full = True
                raise
            commit, self._full = self._last, False
        named = tuple(changes.shown(path) for path in staged.missing[:SHOWN_MISSING])
        return Snapshot(number, ref, commit, staged.tree, named, len(staged.missing))

    def changes(self, since: str, until: str | None = None) -> tuple[FileChange, ...]:
        """Changed files between two trees, or a tree and the worktree as it is now."""
        if until is not None:
            return changes.between(self._private, since, until)
        if not self._private.index.exists():
            with self._lock:
                self._capture()
        return changes.live(self._private, since, self._missing)

    def diff(self, since: str, until: str, path: str | None = None) -> str:
        """A unified diff of two trees, of one path or all; untrusted text as git wrote it."""
        options = ("-p", "-r", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")
        limit = () if path is None else ("--", path)
        answer = self._private.git("diff-tree", *options, since, until, *limit)
        return answer.out.decode("utf-8", "replace")

    def restore(self, tree: str) -> Restored:
        """Bring the worktree to a snapshot (its tree, commit or ref).

        The present is lost where no snapshot holds it: see `roll_back`.
        """
        with self._lock:
            name = f"{tree}^{{tree}}"
            answer = self.repository.git("rev-parse", "--verify", "--quiet", name, accept=None)
            if answer.status != 0:
                raise WorkspaceError(
                    f"the snapshot {one_line(tree)} is not in {one_line(str(self.root))} any more; "
                    "choose another one"
                )
            target = answer.line
            present = self._capture()
            untouchable = frozenset(present.missing) | self._recorded_missing(target)
            return restore(self._private, present.tree, target, untouchable)

    def roll_back(self, number: int, message: str, tree: str) -> tuple[Snapshot, Restored]:
        """Snapshot the present, then restore `tree`."""
        present = self.snapshot(number, message)
        return present, self.restore(tree)

    def ignored(self, paths: list[str]) -> set[str]:
        """Those of the paths that git ignores and no snapshot holds; ``WorkspaceError``."""
        return ignored_paths(self._private, paths) if self._private.index.exists() else set()

    def _capture(self) -> Staged:
        staged = self._staging.capture()
        self._missing = frozenset(staged.missing)
        return staged

    def _take(self, message: str, ref: str) -> tuple[Staged, str]:
        # Each failure of git on a full disk leaves a piece of a file among the objects.
        if self._full and not self.repository.has_room():
            raise NoRoomError(f"there is no room for a snapshot in {one_line(str(self.root))}")
        staged = self._capture()
        try:
            return staged, self._hold(staged, message, ref)
        except NoRoomError:
            raise
        except WorkspaceError:  # the agent's own git may have pruned what it was made of
            staged = self._staging.rebuild()
            return staged, self._hold(staged, message, ref)

    def _hold(self, staged: Staged, message: str, ref: str) -> str:
        commit = self._commit(staged, message)
        # The user's hooks and reflogs are not for refs he did not make.
        quiet = ("-c", "core.hooksPath=/dev/null", "-c", "core.logAllRefUpdates=false")
        self.repository.git(*quiet, "update-ref", "--no-deref", ref, commit)
        return commit

    def _commit(self, staged: Staged, message: str) -> str:
        text = plain(message).rstrip() + "\n"
        if staged.missing:
            text += f"\n{_MISSING}{json.dumps(_folded(staged.missing))}\n"
        parents = self._parent()
        command = ("-c", "i18n.commitEncoding=UTF-8", "commit-tree", staged.tree, *parents)
        answer = self._private.git(
            *command, "-F", "-", stdin=text.encode("utf-8", "replace"), environment=_IDENTITY
        )
        return answer.line

    def _parent(self) -> tuple[str, ...]:
        """What this snapshot comes after, of what is there: an agent can delete and prune."""
        last = self._last
        if last is not None and self._is_there(last):
            return ("-p", last)
        found = self._newest() or self.repository.head()
        return ("-p", found) if found and self._is_there(found) else ()

    def _is_there(self, commit: str) -> bool:
        return self._private.git("cat-file", "-e", commit, accept=None).status == 0

    def _newest(self) -> str | None:
        """Commit of this run's last snapshot by an earlier process: after a resume."""
        order = ("--sort=-version:refname", "--count=1", "--format=%(objectname)")
        return self.repository.git("for-each-ref", *order, self._refs + "/").line or None

    def _recorded_missing(self, tree: str) -> frozenset[str]:
        """What the snapshots with this tree did not hold."""
        layout = "--format=%(tree)%00%(contents:body)%00"
        fields = split(self.repository.git("for-each-ref", layout, "refs/ralph/").out)
        found: set[str] = set()
        for name, body in zip(fields[::2], fields[1::2], strict=True):
            if name.strip() == tree and _MISSING in body:
                found.update(json.loads(body.rpartition(_MISSING)[2]))
        return frozenset(found)


def _folded(paths: tuple[str, ...]) -> list[str]:
    """At most `RECORDED_MISSING` paths: the deepest give way to their folders, ending in ``/``."""
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
