"""The private git dir: its own index, attributes and excludes beside the user's, never instead.

It lies inside the worktree's git dir, where ``git clean -fdx`` does not reach and where every
linked worktree has its own. Objects go to the repository's store; nothing else of it is written.
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
from ralph_tui.base.git_config import SEALED, config_of_private, content_of, keep, own_folder
from ralph_tui.base.plain_files import clear_way, is_plain, read_bytes, write_whole
from ralph_tui.text.sanitize import one_line

OWN_FOLDERS = (".aiwg/ralph/", ".aiwg/knowledge/", ".claude/handoffs/")
"""What ralph-tui itself writes in the worktree: never held, never watched, never restored."""
OWN_FILES = re.compile(r"\.?ralph-state\.json(?:\..*)?", re.DOTALL)
"""So are state files, by their name, with their locks and what was set aside."""

_OWN_PATTERNS = ("ralph-state.json", "ralph-state.json.*", ".ralph-state.json.*")
"""The same, as git excludes files."""

# Bytes go in and out as they are, whatever the user's attributes say: info/attributes outranks
# every .gitattributes, so no filter (LFS), line ending, ident or encoding conversion can apply.
_ATTRIBUTES = b"* -text -filter -ident -working-tree-encoding\n"

_CHECKSUMS = {"sha1": 20, "sha256": 32}
"""Bytes at the end of an index, by the repository's object format."""


@dataclass
class PrivateRepository:
    """Git with a private index over the user's worktree and object store."""

    repository: Repository
    run_id: str = ""
    """The run's mark in git's environment: after a kill, a git that still works is found by it."""
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
        """Whether there is one that git can read."""
        return is_plain(self.index)

    def git(
        self,
        *arguments: str,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        accept: Iterable[int] | None = (0,),
    ) -> GitResult:
        """Run git in the worktree's root on the private index."""
        begun = self.begin(*arguments, waits=bool(stdin), environment=environment)
        with begun:
            return begun.finish(stdin, accept)

    def begin(
        self, *arguments: str, waits: bool = False, environment: Mapping[str, str] | None = None
    ) -> Running:
        """As `git`, but only starts it; one that `waits` gets its input when it is finished."""
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
        """Make it, or bring it up to date with the user's excludes; a killed run's locks go.

        Raises ``WorkspaceError`` when the user's repository is gone or cannot be written to.
        """
        self._seal()
        self.unlock()
        wanted = content_of(self.repository.common_dir / "info" / "exclude", follow=True) or b""
        own = (*(f"/{folder}" for folder in OWN_FOLDERS), *_OWN_PATTERNS)
        wanted += b"\n" + "".join(f"{each}\n" for each in own).encode()
        with self.repository.writing():
            keep(self.folder / "info" / "exclude", wanted)

    def _seal(self) -> None:
        """Have the configuration and the attributes as they have to be: the agent can write them.

        Raises as `prepare`.
        """
        folder = self.repository.own_folder()
        with self.repository.writing():
            for name in ("refs", "info"):
                own_folder(folder / name)
            keep(folder / "HEAD", b"ref: refs/heads/none\n")
            keep(folder / "info" / "attributes", _ATTRIBUTES)
            case = self.repository.ignores_case
            keep(folder / "config", config_of_private(self.repository.settings, ignore_case=case))
            clear_way(self.index, below=self.repository.git_dir)  # git would wait for a FIFO

    def note(self, name: str, content: bytes) -> Path:
        """Write a file for git to read; ``WorkspaceError`` when that cannot be."""
        path = self.folder / name
        with self.repository.writing():
            write_whole(path, content, below=self.repository.git_dir, durable=False)
        return path

    def unlock(self) -> None:
        """Remove the lock of the index, which no other process writes."""
        with self.repository.writing():
            self.index.with_name("index.lock").unlink(missing_ok=True)

    def check(self) -> None:
        """Raises ``WorkspaceError`` where the index is not as git wrote it.

        A power cut can leave a part of it, which git would read as an index of fewer files.
        """
        try:
            index = read_bytes(self.index, below=self.repository.git_dir, most=None)
        except OSError:
            return  # there is none yet; else git tells of it
        if not any(
            index[-size:] == hashlib.new(name, index[:-size], usedforsecurity=False).digest()
            for name, size in _CHECKSUMS.items()
        ):
            raise WorkspaceError(f"{one_line(str(self.index))} is damaged; delete it")

    def reset(self) -> None:
        """Forget the index, so that the next snapshot builds it anew."""
        with self.repository.writing():
            self.index.unlink(missing_ok=True)
        self.prepare()


def is_within(root: Path, path: str) -> bool:
    """Whether all parents that exist are folders, not links: only then the path is in `root`."""
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
    """Whether a path of the worktree belongs to ralph-tui itself."""
    name = path.rpartition("/")[2]
    return f"{path}/".startswith(OWN_FOLDERS) or OWN_FILES.fullmatch(name) is not None
