"""The user's repository, read only: where it is, and what its git dirs are."""

import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ralph_tui.adapters.workspace.git import (
    OLDEST_GIT,
    GitResult,
    Running,
    begin_git,
    git_error,
    run_git,
)
from ralph_tui.errors import NO_ROOM, NoRoomError, UsageError, WorkspaceError
from ralph_tui.text.sanitize import one_line

PROBE = 1 << 20
"""Bytes that must fit on a disk that is not full."""


@dataclass(frozen=True)
class Repository:
    """A worktree and its git dirs; resolved, absolute paths."""

    root: Path
    git_dir: Path
    """Of this worktree; linked worktrees each have their own."""
    common_dir: Path
    """Where the objects, refs and config are; shared by all worktrees."""

    def git(
        self,
        *arguments: str,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        accept: Iterable[int] | None = (0,),
    ) -> GitResult:
        """Run git in the worktree's root, on the user's own index and refs.

        Raises ``NoRoomError`` when the disk is full, also where git does not say so.
        """
        begun = self.begin(*arguments, waits=bool(stdin), environment=environment)
        with begun:
            return begun.finish(stdin, accept)

    def begin(
        self, *arguments: str, waits: bool = False, environment: Mapping[str, str] | None = None
    ) -> Running:
        """As `git`, but only starts it; one that `waits` gets its input when it is finished."""
        # Named, not looked for: were this one deleted, git would take one further up the path.
        here = {"GIT_DIR": str(self.git_dir), "GIT_WORK_TREE": str(self.root)}
        return begin_git(
            self.root,
            *arguments,
            waits=waits,
            environment=here | dict(environment or {}),
            error_of=self.error_of,
        )

    def error_of(self, result: GitResult, arguments: Iterable[str]) -> WorkspaceError:
        """As `git_error`, and asks the disk where git does not say why it could not write."""
        error = git_error(result, arguments, self.root)
        if "write" in result.error.lower() and not self.has_room():
            return NoRoomError(str(error))
        return error

    def has_room(self) -> bool:
        """Whether `PROBE` bytes can be written beside the objects."""
        try:
            with tempfile.TemporaryFile(dir=self.git_dir, buffering=0) as probe:
                return probe.write(bytes(PROBE)) == PROBE
        except OSError as error:
            return error.errno not in NO_ROOM

    def branch(self) -> str | None:
        """The branch that is checked out, also one without commits; None when detached."""
        result = self.git("symbolic-ref", "--quiet", "--short", "HEAD", accept=(0, 1))
        return result.line or None

    def head(self) -> str | None:
        """The commit that is checked out; None in a repository without commits."""
        result = self.git("rev-parse", "--quiet", "--verify", "HEAD^{commit}", accept=(0, 1, 128))
        return result.line or None


def open_repository(path: Path) -> Repository:
    """The repository whose worktree holds `path`.

    Raises ``UsageError`` where there is none (or only a bare one) and ``WorkspaceError`` where git
    is missing, too old, or refuses.
    """
    shown = one_line(str(path))
    if not path.is_dir():
        raise UsageError(f"{shown} is not a folder; give the folder of a git repository.")
    _check_version(path)
    result = run_git(path, "rev-parse", "--show-toplevel", accept=None)
    if result.status != 0:
        if "dubious ownership" in result.error:
            raise WorkspaceError(
                f"git does not trust {shown} because another user owns it; allow it with "
                f"`git config --global --add safe.directory {shown}`."
            )
        if "must be run in a work tree" in result.error:
            if path.joinpath("HEAD").exists() and path.name == ".git":
                raise UsageError(
                    f"{shown} is git's own folder; go to the project's folder beside it."
                )
            raise UsageError(
                f"{shown} belongs to a bare repository, which has no files to work on; "
                "use a clone or a worktree of it."
            )
        if "not a git repository" in result.error:
            raise UsageError(
                f"{shown} is not inside a git repository; run `git init` there first, "
                "or go to the project's folder."
            )
        raise WorkspaceError(f"git cannot open {shown}: {one_line(result.error)}")
    root = Path(result.line)
    git_dir = Path(run_git(root, "rev-parse", "--absolute-git-dir").line)
    common_dir = Path(run_git(root, "rev-parse", "--git-common-dir").line)
    return Repository(root.resolve(), git_dir.resolve(), (root / common_dir).resolve())


def _check_version(folder: Path) -> None:
    text = run_git(folder, "version").line
    found = re.search(r"(\d+)\.(\d+)", text)
    if found and [int(found[1]), int(found[2])] < [int(part) for part in OLDEST_GIT.split(".")]:
        raise WorkspaceError(f"{one_line(text)} is too old; install git {OLDEST_GIT} or newer.")
