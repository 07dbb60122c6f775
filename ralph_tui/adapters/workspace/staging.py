"""Staging of the worktree in the private index, whose tree becomes the snapshot.

It includes all files that the user tracks, even ignored ones, and all untracked files that Git does
not ignore, up to the limits below. Once included, a file stays until it is gone. These are left out
and listed as missing:

- untracked files that are too large or too many, the largest first
- nested repositories and submodules
- unreadable files
- the findings of `Unlisted`
"""

import os
import re
import signal
import stat
from collections.abc import Callable, Iterable, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ralph_tui.adapters.workspace.git import GitResult, Running, hit_size_limit
from ralph_tui.adapters.workspace.obstacles import FILE, FOLDER, covered, is_special, kind_of
from ralph_tui.adapters.workspace.private_repository import PrivateRepository, is_own, is_within
from ralph_tui.base.errors import GitEndedError, NoRoomError, WorkspaceError


class Unlisted:
    """Finds paths that Git does not list, which are reported as missing.

    A ``.git`` turns a folder with included files into a repository of its own, which Git skips. A
    pipe or socket in place of an included file has no content, so it cannot be restored. To find
    both, this class remembers the folders with included files and its earlier findings.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folders: set[str] = set()
        self._special: set[str] = set()

    def add_folders(self, held: Iterable[str]) -> None:
        """Remember the folders with files that are, or will be, in the index."""
        for path in held:
            _note_folders(path, self._folders)

    def recall(self, missing: Iterable[str]) -> None:
        """Remember the paths missing from an earlier process's last snapshot."""
        self._special.update(missing)

    def repositories(self) -> set[str]:
        """Return each ``.git`` that turns a folder with included files into a repository.

        A path ends in ``/`` if it is a folder.
        """
        top = f"{self._root}/"
        found = [f"{one}/.git" for one in self._folders if os.path.lexists(f"{top}{one}/.git")]
        return {
            f"{path}/" if kind_of(self._root / path) == FOLDER else path
            for path in found
            if is_within(self._root, path)
        }

    def find_replacements(self, gone: Iterable[str], reported: Set[str]) -> set[str]:
        """Return pipes, sockets and devices in place of vanished files, except `reported` ones."""
        known: set[str] = set()
        for path in gone:
            known.add(path)
            _note_folders(path, known)
        places = known | self._special
        self._special = {place for place in places if is_special(self._root / place)}
        return {place for place in self._special if not covered(place, reported)}


def _note_folders(path: str, known: set[str]) -> None:
    """Add the folders above a path; those above a known folder are already included."""
    folder = path.rpartition("/")[0]
    while folder and folder not in known:
        known.add(folder)
        folder = folder.rpartition("/")[0]


MAX_FILE = 10_000_000
"""Maximum size of an included untracked file in bytes."""
MAX_FILES = 20_000
"""Maximum number of included untracked files."""
MAX_BYTES = 500_000_000
"""Maximum total size of included untracked files in bytes."""
MAX_REFUSED = 100
"""Maximum number of files that Git may refuse one by one before a snapshot fails."""

OTHERS = ("ls-files", "-z", "--others", "--exclude-standard")
"""The command that lists paths outside the private index; see `untracked_paths`."""
_DIFFERENCES = ("diff-files", "-z", "--name-status", "--no-renames")
# Trees are mostly hashes, which do not compress.
_WRITE_TREE = ("-c", "core.looseCompression=0", "write-tree")
SHRINKS = 3
"""Number of times that Git may die because a file shrinks before this is an error."""
_UPDATE = ("update-index", "-z", "--add", "--remove", "--replace", "--stdin")

_STORE_FAULT = re.compile(
    r"insufficient permission for adding|[Uu]nable to create '[^\n]*/ralph-tui/index\.lock'"
    r"|[Uu]nable to (create temporary file|write (loose object|file|new index))"
)
"""Git's messages for storage failures that are not a file's fault."""
_CLOSED = re.compile(r"^warning: could not open directory '(.+?)(/': .*)?$", re.MULTILINE)
"""Matches a folder that is unreadable or whose name is too long; Git cuts its message at 4 kB."""


@dataclass(frozen=True)
class Staged:
    """The worktree as a tree, and the paths that it could not contain (folders end in ``/``)."""

    tree: str
    missing: tuple[str, ...]


class Staging:
    """Keeps the private index in step with the worktree."""

    def __init__(self, private: PrivateRepository) -> None:
        self._private = private
        self._root = private.repository.root
        self._untracked: dict[str, int] | None = None
        """Untracked files in the index, with their sizes; may still name some tracked ones."""
        self._users_index: tuple[int, int, int] | None = None
        self._away: set[str] = set()
        """Files that were missing at the last check.

        If they return where Git ignores them, ``git ls-files --others`` does not show them.
        """
        self.unlisted = Unlisted(self._root)
        self._written: set[str] = set()
        """Files to include in the next capture, even if Git ignores them."""

    def include(self, paths: Iterable[str]) -> None:
        """Include these files if they exist, even ignored ones: an earlier snapshot had them."""
        self._written.update(paths)

    def capture(self, meanwhile: Callable[[], object] | None = None) -> Staged:
        """Write the worktree as a tree; a broken private index is rebuilt once.

        `meanwhile` is called once, while Git searches for changes. Raises ``NoRoomError`` if the
        disk is full.
        """
        self._private.prepare()
        try:
            return self._capture(meanwhile)
        except (NoRoomError, GitEndedError):
            self._untracked = self._users_index = None
            raise
        except WorkspaceError:
            return self.rebuild()

    def rebuild(self) -> Staged:
        """Like `capture`, with a new private index: after `git gc`, the old one may be invalid."""
        with suppress(WorkspaceError):  # a damaged index yields nothing
            self.include(self._indexed())
        self._private.reset()
        return self._capture()

    def _capture(self, meanwhile: Callable[[], object] | None = None) -> Staged:
        if not self._private.has_index:
            self._untracked = self._users_index = None
        if self._untracked is None:
            held = self._indexed()
            self.unlisted.add_folders(held)
            self._untracked = self._sizes(held - self._tracked())
        # Starting Git is most of the cost for a small change, so later commands start while these
        # two walk the worktree. The second uses all cores, so it does not come first.
        with (
            self._private.begin(*OTHERS) as walk,
            self._private.begin(*_DIFFERENCES) as look,
            self._private.begin(*_UPDATE, waits=True) as update,
        ):
            if meanwhile is not None:
                meanwhile()
            self._private.check()
            nested = self.unlisted.repositories()  # while Git works
            modified, gone = _differences(look.finish())
            missing = self._add_changes(modified, gone, untracked_paths(walk.finish()), update)
        # Even if nothing changed: Git then checks that its objects still exist.
        tree = self._write_tree()
        missing.update(path for path in nested if not covered(path, missing))
        return Staged(tree, tuple(sorted(missing)))

    def _write_tree(self) -> str:
        """Write the index as a tree.

        Git compares files that have just been written; it dies of SIGBUS if one shrinks meanwhile.
        """
        for _ in range(SHRINKS):
            done = self._private.git(*_WRITE_TREE, accept=(0, -signal.SIGBUS))
            if done.status == 0:
                return done.line
        return self._private.git(*_WRITE_TREE).line

    def _add_changes(
        self, modified: set[str], gone: set[str], others: set[str], update: Running
    ) -> set[str]:
        """Add these paths to the index; return those that it could not contain."""
        missing = {path for path in others if path.endswith("/")}
        candidates = modified | (others - missing) | self._tracked_but_ignored(others)
        sizes = self._sizes({path for path in candidates if not is_own(path)})
        for path in candidates - sizes.keys():
            kind = kind_of(self._root / path)
            if is_own(path) or not kind:
                continue
            if kind != FOLDER:  # Git lists the content of a folder itself
                missing.add(path)
            # A pipe or a folder in place of a file means that the file is gone; an unreadable file
            # stays as it was last read.
            if path in modified and kind != FILE:
                gone.add(path)
        excess = self._remove_excess(sizes, modified)
        missing |= excess
        gone |= excess & modified
        missing.update(self.add(sorted(sizes.keys() - excess), update))
        if gone:
            self._private.git(
                "update-index", "-z", "--force-remove", "--stdin", stdin=nul_separated(gone)
            )
            held = self._untracked or {}
            self._untracked = {path: size for path, size in held.items() if path not in gone}
            self._away |= gone
        self._written.clear()
        self.unlisted.add_folders(sizes)
        return missing | self.unlisted.find_replacements(gone, missing)

    def add(self, paths: list[str], started: Running | None = None) -> list[str]:
        """Add files to the index, using `started` first; return the refused ones.

        Git takes all or none, so a refused list is halved until each refused file is alone. Raises
        ``WorkspaceError`` if the files are not the cause: nothing can be stored, or too many are
        refused. Raises ``NoRoomError`` if the disk is full.
        """
        refused: list[str] = []
        waiting = [paths] if paths or started else []
        while waiting:
            some = waiting.pop()
            result, started = self._update(some, started), None
            if result.status == 0:
                refused += _ignored_by_git(result.error)
                continue
            error = self._private.repository.error_of(result, ("update-index",))
            not_a_files_fault = hit_size_limit(result) or _STORE_FAULT.search(result.error)
            if isinstance(error, NoRoomError) or not_a_files_fault:
                raise error
            if len(some) > 1:
                middle = len(some) // 2
                waiting += [some[middle:], some[:middle]]
            elif not some or len(refused) >= MAX_REFUSED:
                raise error
            elif os.path.lexists(self._root / some[0]):
                refused += some
        return refused

    def _update(self, paths: list[str], started: Running | None) -> GitResult:
        result = self._update_once(paths, started)
        # Git was killed, or a file shrank while Git read it: only a bad file fails again.
        again = result.status < 0 and not hit_size_limit(result)
        return self._update_once(paths) if again else result

    def _update_once(self, paths: list[str], started: Running | None = None) -> GitResult:
        with started or self._private.begin(*_UPDATE, waits=True) as update:
            result = update.finish(nul_separated(paths), accept=None)
        if result.status < 0:
            self._private.unlock()
        return result

    def _indexed(self) -> set[str]:
        return set(split(self._private.git("ls-files", "-z").out))

    def _tracked(self) -> set[str]:
        return set(split(self._private.repository.git("ls-files", "-z").out))

    def _tracked_but_ignored(self, others: set[str]) -> set[str]:
        """Return files to include that are neither in `others` nor in the private index yet."""
        found = {path for path in self._written if self._is_there(path)}
        back = {path for path in self._away if self._is_there(path)}
        if back:
            self._away -= back
            back -= others
        if back:  # otherwise, Git is not asked
            found |= back & self._tracked()
        return found | self._newly_tracked()

    def _newly_tracked(self) -> set[str]:
        """Return tracked but ignored files; Git is asked only if the user's index has changed."""
        try:
            found = (self._private.repository.git_dir / "index").stat()
        except FileNotFoundError:
            return set()
        signature = (found.st_mtime_ns, found.st_size, found.st_ino)
        if signature == self._users_index:
            return set()
        result = self._private.repository.git("ls-files", "-z", "-c", "-i", "--exclude-standard")
        self._users_index = signature
        tracked = set(split(result.out))
        there = {path for path in tracked if self._is_there(path)}
        self._away |= tracked - there
        return there

    def _is_there(self, path: str) -> bool:
        """True if the path exists and is in the worktree, not behind a link."""
        return os.path.lexists(self._root / path) and is_within(self._root, path)

    def _sizes(self, paths: set[str]) -> dict[str, int]:
        """Return the sizes, in bytes, of the paths that are readable files or symbolic links."""
        sizes = {}
        for path in paths:
            try:
                found = os.lstat(self._root / path)
            except OSError:
                continue
            readable = stat.S_ISREG(found.st_mode) and os.access(self._root / path, os.R_OK)
            if readable or stat.S_ISLNK(found.st_mode):
                sizes[path] = found.st_size
        return sizes

    def _remove_excess(self, sizes: dict[str, int], modified: set[str]) -> set[str]:
        """Return untracked files beyond the limits, and update `_untracked` to those within."""
        untracked = self._untracked if self._untracked is not None else {}
        asking = {path: n for path, n in sizes.items() if path not in modified or path in untracked}
        kept = untracked.copy()  # copied whole, because it may be large and few files change
        for path in asking:
            kept.pop(path, None)
        if not _is_within_limits(kept, asking):
            tracked = self._tracked()
            asking = {path: n for path, n in asking.items() if path not in tracked}
            kept = {path: n for path, n in kept.items() if path not in tracked}
        files, total = len(kept), sum(kept.values())
        excess = set()
        for path, size in sorted(asking.items(), key=lambda item: (item[1], item[0])):
            if size > MAX_FILE or files >= MAX_FILES or total + size > MAX_BYTES:
                excess.add(path)
            else:
                kept[path] = size
                files, total = files + 1, total + size
        self._untracked = kept
        return excess


def _is_within_limits(kept: dict[str, int], asking: dict[str, int]) -> bool:
    return (
        all(size <= MAX_FILE for size in asking.values())
        and len(kept) + len(asking) <= MAX_FILES
        and sum(kept.values()) + sum(asking.values()) <= MAX_BYTES
    )


def _ignored_by_git(error: str) -> list[str]:
    """Return names that Git does not accept in any tree, such as ``.GIT/config``."""
    mark = "Ignoring path "
    return [line.removeprefix(mark) for line in error.splitlines() if line.startswith(mark)]


def untracked_paths(result: GitResult) -> set[str]:
    """Return unignored paths outside the private index, from Git's answer to `OTHERS`.

    Nested repositories and unreadable folders end in ``/``.
    """
    closed = {
        f"{path if whole else path.rpartition('/')[0]}/"
        for path, whole in _CLOSED.findall(result.error)
    }
    return {path for path in closed.union(split(result.out)) if not is_own(path)}


def _differences(result: GitResult) -> tuple[set[str], set[str]]:
    """Return the index's paths whose files differ, and those whose files are gone."""
    fields = split(result.out)
    pairs = list(zip(fields[::2], fields[1::2], strict=True))
    gone = {path for status, path in pairs if status == "D"}
    return {path for status, path in pairs if status != "D"}, gone


def split(output: bytes) -> list[str]:
    """Split NUL-separated fields; invalid UTF-8 becomes surrogates, as in `os.fsdecode`."""
    return [os.fsdecode(part) for part in output.split(b"\0")[:-1]]


def nul_separated(paths: set[str] | list[str]) -> bytes:
    """Return paths in the form that Git reads with ``-z --stdin``."""
    return b"".join(os.fsencode(path) + b"\0" for path in paths)
