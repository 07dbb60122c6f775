"""The private git dir: its own index, attributes and excludes beside the user's, never instead.

It lies inside the worktree's git dir, where ``git clean -fdx`` does not reach and where every
linked worktree has its own. Objects go to the repository's store; nothing else of it is written.
"""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ralph_tui.adapters.processes.sweep import PLACE_MARK, RUN_MARK, place_of
from ralph_tui.adapters.workspace.git import GitResult, Running
from ralph_tui.adapters.workspace.repository import Repository
from ralph_tui.errors import WorkspaceError, workspace_error
from ralph_tui.text.sanitize import one_line

OWN_FOLDERS = (".aiwg/ralph/", ".aiwg/knowledge/")
"""What ralph-tui itself writes in the worktree: never held, never watched, never restored."""

# Bytes go in and out as they are, whatever the user's attributes say: info/attributes outranks
# every .gitattributes, so no filter (LFS), line ending, ident or encoding conversion can apply.
_ATTRIBUTES = "* -text -filter -ident -working-tree-encoding\n"

# What is on the disk counts, whatever another machine once wrote into the user's config. A split
# index would be faster, but one that is cut off can be read, as that of fewer files.
_CONFIG = """\
[core]
\trepositoryFormatVersion = {version}
{extensions}[include]
\tpath = {config}
\tpath = {worktree_config}
[core]
\tbare = false
\tfileMode = true
\tsymlinks = true
\tignoreCase = {ignore_case}
\tignoreStat = false
\ttrustCTime = true
\tcheckStat = default
\tautocrlf = false
\tsafecrlf = false
\tattributesFile = /dev/null
\thooksPath = /dev/null
\tfsmonitor = false
\tuntrackedCache = false
\tsplitIndex = false
\tsparseCheckout = false
\tprotectNTFS = false
\tprotectHFS = false
[index]
\tskipHash = false
\tsparse = false
\tversion = 4
[gc]
\tauto = 0
[maintenance]
\tauto = false
"""

_CHECKSUMS = {"sha1": 20, "sha256": 32}
"""Bytes at the end of an index, by the repository's object format."""


@dataclass
class PrivateRepository:
    """Git with a private index over the user's worktree and object store."""

    repository: Repository
    run_id: str = ""
    """The run's mark in git's environment: after a kill, a git that still writes is found by it."""
    folder: Path = field(init=False)

    def __post_init__(self) -> None:
        self.folder = self.repository.git_dir / "ralph-tui"

    @property
    def index(self) -> Path:
        """The persistent index; absent before the first snapshot."""
        return self.folder / "index"

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
        private = {
            "GIT_DIR": str(self.folder),
            "GIT_WORK_TREE": str(self.repository.root),
            "GIT_OBJECT_DIRECTORY": str(self.repository.common_dir / "objects"),
            # A command-line setting that was handed down would outrank the private config.
            "GIT_CONFIG_COUNT": "0",
            "GIT_CONFIG_PARAMETERS": "",
        }
        if self.run_id:
            private[RUN_MARK] = self.run_id
            private[PLACE_MARK] = place_of(self.repository.root)
        return self.repository.begin(
            *arguments, waits=waits, environment=private | dict(environment or {})
        )

    def prepare(self) -> None:
        """Make it, or bring it up to date with the user's excludes; a killed run's locks go.

        Raises ``WorkspaceError`` when the user's repository is gone or cannot be written to.
        """
        git_dir, objects = self.repository.git_dir, self.repository.common_dir / "objects"
        if not os.path.lexists(git_dir / "HEAD") or not objects.is_dir():
            raise WorkspaceError(
                f"the git repository of {one_line(str(self.repository.root))} is gone; "
                f"put {one_line(str(git_dir))} back, or run `git init` there"
            )
        with self._writing():
            self._prepare()

    def note(self, name: str, content: bytes) -> Path:
        """Write a file for git to read; ``WorkspaceError`` when that cannot be."""
        path = self.folder / name
        with self._writing():
            if path.is_symlink():  # it may lead anywhere
                path.unlink()
            path.write_bytes(content)
        return path

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise workspace_error(
                f"cannot write to {one_line(str(self.folder))}: {error.strerror}; "
                "make the folder writable",
                error,
            ) from error

    def unlock(self) -> None:
        """Remove the lock of the index, which no other process writes."""
        with self._writing():
            self.index.with_name("index.lock").unlink(missing_ok=True)

    def _prepare(self) -> None:
        info = self.folder / "info"
        if not (info / "attributes").exists():
            info.mkdir(parents=True, exist_ok=True)
            (self.folder / "refs").mkdir(exist_ok=True)
            (self.folder / "HEAD").write_text("ref: refs/heads/none\n")
            (self.folder / "config").write_bytes(os.fsencode(self._config()))
            # Last: it marks the folder as whole.
            (info / "attributes").write_text(_ATTRIBUTES)
        self.unlock()
        wanted = _content(self.repository.common_dir / "info" / "exclude") or b""
        wanted += b"\n" + "".join(f"/{own}\n" for own in OWN_FOLDERS).encode()
        exclude = info / "exclude"
        if _content(exclude) != wanted:
            exclude.write_bytes(wanted)

    def check(self) -> None:
        """Raises ``WorkspaceError`` where the index is not as git wrote it.

        A power cut can leave a part of it, which git would read as an index of fewer files.
        """
        try:
            index = self.index.read_bytes()
        except OSError:
            return  # there is none yet; else git tells of it
        if not any(
            index[-size:] == hashlib.new(name, index[:-size], usedforsecurity=False).digest()
            for name, size in _CHECKSUMS.items()
        ):
            raise WorkspaceError(f"{one_line(str(self.index))} is damaged; delete it")

    def reset(self) -> None:
        """Forget the index and the settings, so that the next snapshot builds them anew."""
        with self._writing():
            for name in ("index", "info/attributes"):
                (self.folder / name).unlink(missing_ok=True)
        self.prepare()

    def _config(self) -> str:
        users = self.repository.git("config", "--get", "extensions.objectFormat", accept=(0, 1))
        sha1 = users.line in ("", "sha1")
        return _CONFIG.format(
            ignore_case="true" if (self.folder / "head").exists() else "false",
            version=0 if sha1 else 1,
            extensions="" if sha1 else f"[extensions]\n\tobjectFormat = {users.line}\n",
            config=quoted(self.repository.common_dir / "config"),
            worktree_config=quoted(self.repository.git_dir / "config.worktree"),
        )


def _content(path: Path) -> bytes | None:
    """None where there is no file."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def quoted(path: Path) -> str:
    """A path as a value of a git config file, or as a line that git reads."""
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


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
    return f"{path}/".startswith(OWN_FOLDERS)
