"""The user's repository, read-only: its location, its Git directories, and Git on its index.

Git sees the repository through one of our folders in place of the common Git directory. It has
links to the parts that Git needs, and the configuration from `git_config`.
"""

import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ralph_tui.adapters.processes.open_files import open_files
from ralph_tui.adapters.workspace.git import (
    OLDEST_GIT,
    GitResult,
    Running,
    begin_git,
    git_error,
    run_git,
)
from ralph_tui.adapters.workspace.git_calls import GitCalls
from ralph_tui.adapters.workspace.user_config import UserConfig, default_excludes, expand_home
from ralph_tui.base.errors import (
    NO_ROOM,
    NoRoomError,
    RalphError,
    UsageError,
    WorkspaceError,
    why,
    workspace_error,
)
from ralph_tui.base.git_config import (
    COMMON,
    SEALED,
    config_of_view,
    content_of,
    ensure_file,
    ensure_folder,
    ensure_link,
    kept_settings,
    sealed_with,
)
from ralph_tui.base.plain_files import is_plain
from ralph_tui.text.sanitize import one_line

PROBE = 1 << 20
"""Number of bytes that must fit on the disk; otherwise, it counts as full."""

CLOCK_S = 1
"""How far a file's time may be behind our clock, in seconds."""
_WALK = ("status", "ls-files")
"""Commands that walk the worktree."""


@dataclass(frozen=True)
class Repository:
    """A worktree and its Git directories; resolved, absolute paths."""

    root: Path
    git_dir: Path
    """The Git directory of this worktree; linked worktrees each have their own."""
    common_dir: Path
    """The directory with objects, refs and configuration, shared by all worktrees."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings taken from the configuration when the repository was opened."""
    calls: GitCalls = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ignored = self.settings.get("core.excludesfile") or default_excludes()
        calls = GitCalls(self.root, {self.git_dir, self.common_dir}, [Path(ignored)])
        object.__setattr__(self, "calls", calls)

    @property
    def folder(self) -> Path:
        """ralph-tui's folder in this worktree's Git directory."""
        return self.git_dir / "ralph-tui"

    @property
    def objects(self) -> Path:
        return self.common_dir / "objects"

    def git(
        self,
        *arguments: str,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        accept: Iterable[int] | None = (0,),
    ) -> GitResult:
        """Run Git in the worktree's root, on the user's own index and refs.

        Raises ``NoRoomError`` if the disk is full, even if Git does not report it.
        """
        started = self.begin(*arguments, waits=bool(stdin), environment=environment)
        with started:
            return started.finish(stdin, accept)

    def begin(
        self, *arguments: str, waits: bool = False, environment: Mapping[str, str] | None = None
    ) -> Running:
        """Like `git`, but only starts it; with `waits`, `finish` sends its input."""
        self.calls.check(walks=arguments[0] in _WALK)
        # Set explicitly: if this one were deleted, Git would use a repository further up the path.
        sealed = SEALED | {
            "GIT_DIR": str(self.git_dir),
            "GIT_COMMON_DIR": str(self._view()),
            "GIT_WORK_TREE": str(self.root),
            "GIT_OBJECT_DIRECTORY": str(self.objects),
        }
        return begin_git(
            self.root,
            *arguments,
            waits=waits,
            environment=sealed | dict(environment or {}),
            error_of=self.error_of,
            calls=self.calls,
        )

    def ensure_folder(self) -> Path:
        """Return `folder`, created if necessary.

        Raises ``WorkspaceError`` if the repository is gone or cannot be written to.
        """
        if not os.path.lexists(self.git_dir / "HEAD") or not self.objects.is_dir():
            raise WorkspaceError(
                f"the git repository of {one_line(str(self.root))} is gone; "
                f"put {one_line(str(self.git_dir))} back, or run `git init` there"
            )
        with self.writing():
            ensure_folder(self.folder)
        return self.folder

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Turn file system errors in `folder` into ``WorkspaceError``."""
        try:
            yield
        except OSError as error:
            raise workspace_error(
                f"cannot write {one_line(str(error.filename or self.folder))}: "
                f"{why(error, 'make the folder writable')}",
                error,
            ) from error

    @property
    def ignores_case(self) -> bool:
        """True if the file system treats HEAD and head as the same name."""
        return (self.git_dir / "head").exists()

    def _view(self) -> Path:
        """Return the folder that replaces the common Git directory.

        Its content is restored first, because the agent can write to it.
        """
        view = self.ensure_folder() / "view"
        with self.writing():
            ensure_folder(view)
            ensure_file(
                view / "config", config_of_view(self.settings, ignore_case=self.ignores_case)
            )
            # relative, so that a copy gets its own
            common = Path(os.path.relpath(self.common_dir, view))
            for name in COMMON:
                # A Git process that stays open must find packed refs that appear later.
                if name == "packed-refs" or (self.common_dir / name).exists():
                    ensure_link(view / name, common / name)
        return view

    def error_of(self, result: GitResult, arguments: Iterable[str]) -> WorkspaceError:
        """Like `git_error`, but checks the disk if Git does not say why it could not write."""
        error = git_error(result, arguments, self.root)
        if "write" in result.error.lower() and not self.has_room():
            return NoRoomError(str(error))
        return error

    def has_room(self) -> bool:
        """True if `PROBE` bytes can be written next to the objects."""
        try:
            with tempfile.TemporaryFile(dir=self.git_dir, buffering=0) as probe:
                return probe.write(bytes(PROBE)) == PROBE
        except OSError as error:
            return error.errno not in NO_ROOM

    def clear_pieces(self, since: float) -> None:
        """Try to remove partial objects that Git has left on a full disk after time `since`.

        The journal needs the space. Files that Git is still writing stay.
        """
        pieces = [piece for piece in self.objects.glob("??/tmp_obj_*") if is_plain(piece)]
        in_use = open_files() if pieces else set()
        for piece in pieces if in_use else ():
            with suppress(OSError):
                there = piece.lstat()
                written = (there.st_dev, there.st_ino) in in_use
                if there.st_mtime >= since - CLOCK_S and not written:
                    piece.unlink()

    def branch(self) -> str | None:
        """Return the checked-out branch, even one without commits; None if detached."""
        result = self.git("symbolic-ref", "--quiet", "--short", "HEAD", accept=(0, 1))
        return result.line or None

    def head(self) -> str | None:
        """Return the checked-out commit; None in a repository without commits."""
        result = self.git("rev-parse", "--quiet", "--verify", "HEAD^{commit}", accept=(0, 1, 128))
        return result.line or None


def open_repository(path: Path) -> Repository:
    """Open the repository whose worktree contains `path`.

    Raises ``UsageError`` if there is no repository or only a bare one, and ``WorkspaceError`` if
    Git is missing, too old, or refuses.
    """
    shown = one_line(str(path))
    if not path.is_dir():
        raise UsageError(f"{shown} is not a folder; choose the folder of a git repository.")
    _check_version(os.environ.get("PATH", ""))
    folder = path.resolve()
    # The worktree is the folder that has .git, whatever core.worktree and core.bare say, because an
    # agent can set them. A worktree named in the environment overrides them.
    config = UserConfig()
    trusted = [(name, value) for name, value in config.protected() if name == "safe.directory"]
    named = {**sealed_with(*trusted), "GIT_WORK_TREE": str(folder)}
    calls = GitCalls(folder, (above / ".git" for above in folder.parents))
    answer = ("rev-parse", "--absolute-git-dir")
    result = run_git(folder, *answer, environment=named, accept=None, calls=calls)
    if result.status != 0:
        raise _not_opened(folder, result, answer)
    git_dir = Path(result.line).resolve()
    root = _worktree(folder, git_dir)
    shared = content_of(git_dir / "commondir", follow=True) or b"."
    common_dir = (git_dir / os.fsdecode(shared.rstrip(b"\n"))).resolve()
    config.git_dir = git_dir
    settings = kept_settings(config.of_repository(common_dir))
    if ignored := settings.get("core.excludesfile"):
        settings["core.excludesfile"] = expand_home(ignored)
    return Repository(root, git_dir, common_dir, settings)


def _not_opened(folder: Path, result: GitResult, asked: Iterable[str]) -> RalphError:
    shown = one_line(str(folder))
    if "dubious ownership" in result.error:
        return WorkspaceError(
            f"git does not trust {shown} because another user owns it; allow it with "
            f"`git config --global --add safe.directory {shown}`."
        )
    if "not a git repository" in result.error:
        return UsageError(
            f"{shown} is not inside a git repository; run `git init` there first, "
            "or go to the project's folder."
        )
    return git_error(result, asked, folder)


def _worktree(folder: Path, git_dir: Path) -> Path:
    """Return the folder at or above `folder` that has this Git directory."""
    inside = folder.is_relative_to(git_dir)
    for root in () if inside else (folder, *folder.parents):
        pointer = content_of(root / ".git", follow=True) or b""
        where = os.fsdecode(pointer.removeprefix(b"gitdir: ").rstrip(b"\r\n"))
        found = root / where if pointer.startswith(b"gitdir: ") else root / ".git"
        with suppress(OSError):
            if found.samefile(git_dir):
                return root
    shown = one_line(str(folder))
    if inside and git_dir.name == ".git":
        raise UsageError(f"{shown} is git's own folder; go to the project's folder beside it.")
    raise UsageError(
        f"{shown} belongs to a bare repository, which has no files to work on; "
        "use a clone or a worktree of it."
    )


@cache
def _check_version(_path: str) -> None:
    """Check the version of the Git program at this path, once."""
    text = run_git(Path("/"), "version").line
    found = re.search(r"(\d+)\.(\d+)", text)
    if found and [int(found[1]), int(found[2])] < [int(part) for part in OLDEST_GIT.split(".")]:
        raise WorkspaceError(f"{one_line(text)} is too old; install git {OLDEST_GIT} or newer.")
