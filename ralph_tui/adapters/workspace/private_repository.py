"""The private Git directory: its own index, attributes and excludes next to the user's.

It is inside the worktree's Git directory, which ``git clean -fdx`` does not touch and of which
every linked worktree has its own. Objects go into the repository's store; nothing else in the
repository is written.
"""

import hashlib
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ralph_tui.adapters.processes.sweep import PLACE_MARK, RUN_MARK, place_of
from ralph_tui.adapters.workspace.git import GitResult, Running, begin_git
from ralph_tui.adapters.workspace.repository import Repository
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.base.git_config import (
    SEALED,
    config_of_private,
    content_of,
    ensure_file,
    ensure_folder,
)
from ralph_tui.base.plain_files import clear_way, is_plain, read_bytes, write_whole
from ralph_tui.text.sanitize import one_line

OWN_FOLDERS = (".aiwg/ralph/", ".aiwg/knowledge/", ".claude/handoffs/")
"""Folders in the worktree that ralph-tui writes to; they are neither in snapshots nor watched."""
OWN_FILES = re.compile(r"\.?ralph-state\.json(?:\..*)?", re.DOTALL)
"""Names of state files, their locks and set-aside copies, which are treated the same way."""

_OWN_PATTERNS = ("ralph-state.json", "ralph-state.json.*", ".ralph-state.json.*")
"""The names in `OWN_FILES`, as patterns for Git's excludes."""

# Bytes pass unchanged, whatever the user's attributes say: info/attributes outranks every
# .gitattributes, so no filter (LFS), line ending, ident or encoding conversion applies.
_ATTRIBUTES = b"* -text -filter -ident -working-tree-encoding\n"

_CHECKSUMS = {"sha1": 20, "sha256": 32}
"""Size of the checksum at the end of an index, by the repository's object format."""


@dataclass
class PrivateRepository:
    """Git with a private index over the user's worktree and object store."""

    repository: Repository
    run_id: str = ""
    """The run's mark in Git's environment; identifies Git processes left over after a kill."""
    folder: Path = field(init=False)

    def __post_init__(self) -> None:
        self.folder = self.repository.folder
        if self.run_id:
            place = place_of(self.repository.root)
            marks = {RUN_MARK: self.run_id, PLACE_MARK: place}
            self.repository.calls.marks = {**self.repository.calls.marks, **marks}

    @property
    def index(self) -> Path:
        """The persistent index; absent before the first snapshot."""
        return self.folder / "index"

    @property
    def has_index(self) -> bool:
        """True if there is an index that Git can read."""
        return is_plain(self.index)

    def git(
        self,
        *arguments: str,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        accept: Iterable[int] | None = (0,),
    ) -> GitResult:
        """Run Git in the worktree's root on the private index."""
        started = self.begin(*arguments, waits=bool(stdin), environment=environment)
        with started:
            return started.finish(stdin, accept)

    def begin(
        self, *arguments: str, waits: bool = False, environment: Mapping[str, str] | None = None
    ) -> Running:
        """Like `git`, but only starts it; with `waits`, `finish` sends its input."""
        self.repository.calls.check(walks=True)
        self._seal()
        private = SEALED | {
            "GIT_DIR": str(self.folder),
            "GIT_WORK_TREE": str(self.repository.root),
            "GIT_OBJECT_DIRECTORY": str(self.repository.objects),
        }
        return begin_git(
            self.repository.root,
            *arguments,
            waits=waits,
            environment=private | dict(environment or {}),
            error_of=self.repository.error_of,
            calls=self.repository.calls,
        )

    def prepare(self) -> None:
        """Create it or update it with the user's excludes, and remove a killed run's locks.

        Raises ``WorkspaceError`` if the user's repository is gone or cannot be written to.
        """
        self._seal()
        self.unlock()
        wanted = content_of(self.repository.common_dir / "info" / "exclude", follow=True) or b""
        own = (*(f"/{folder}" for folder in OWN_FOLDERS), *_OWN_PATTERNS)
        wanted += b"\n" + "".join(f"{each}\n" for each in own).encode()
        with self.repository.writing():
            ensure_file(self.folder / "info" / "exclude", wanted)

    def _seal(self) -> None:
        """Restore the required configuration and attributes, which the agent can overwrite.

        Raises like `prepare`.
        """
        folder = self.repository.ensure_folder()
        with self.repository.writing():
            for name in ("refs", "info"):
                ensure_folder(folder / name)
            ensure_file(folder / "HEAD", b"ref: refs/heads/none\n")
            ensure_file(folder / "info" / "attributes", _ATTRIBUTES)
            case = self.repository.ignores_case
            ensure_file(
                folder / "config", config_of_private(self.repository.settings, ignore_case=case)
            )
            clear_way(self.index, below=self.repository.git_dir)  # Git would wait for a FIFO

    def write_note(self, name: str, content: bytes) -> Path:
        """Write a file for Git to read. Raises ``WorkspaceError`` if that fails."""
        path = self.folder / name
        with self.repository.writing():
            write_whole(path, content, below=self.repository.git_dir, durable=False)
        return path

    def unlock(self) -> None:
        """Remove the lock on the index, to which no other process writes."""
        with self.repository.writing():
            self.index.with_name("index.lock").unlink(missing_ok=True)

    def check(self) -> None:
        """Raise ``WorkspaceError`` if the index is damaged.

        A power failure can truncate it, which Git would read as an index of fewer files.
        """
        try:
            index = read_bytes(self.index, below=self.repository.git_dir, most=None)
        except OSError:
            return  # there is no index yet, or Git reports the problem
        if not any(
            index[-size:] == hashlib.new(name, index[:-size], usedforsecurity=False).digest()
            for name, size in _CHECKSUMS.items()
        ):
            raise WorkspaceError(f"{one_line(str(self.index))} is damaged; delete it")

    def reset(self) -> None:
        """Delete the index, so that the next snapshot builds it again."""
        with self.repository.writing():
            self.index.unlink(missing_ok=True)
        self.prepare()


def is_within(root: Path, path: str) -> bool:
    """True if all existing parents are folders, not links; only then is the path inside `root`."""
    for parent in reversed(PurePosixPath(path).parents[:-1]):
        try:
            found = (root / parent).lstat()
        except FileNotFoundError:
            return True
        except OSError:
            return False
        if not stat.S_ISDIR(found.st_mode):
            return False
    return True


def is_own(path: str) -> bool:
    """True if a path in the worktree belongs to ralph-tui itself."""
    name = path.rpartition("/")[2]
    return f"{path}/".startswith(OWN_FOLDERS) or OWN_FILES.fullmatch(name) is not None
