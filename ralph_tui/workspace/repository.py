"""The user's repository, read only: where it is, and the one place that starts git.

Every command is spelled out here or in this package as the arguments git gets. It runs without
locks, prompts, pager and locale, and without the variables a hook would hand down: a run
that is started from a git hook must not write into that hook's index.
"""

import os
import re
import signal
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from ralph_tui.errors import NO_ROOM, NoRoomError, UsageError, WorkspaceError
from ralph_tui.text import one_line

# GitPython looks for git when it is imported and raises; a missing git is told by `run_git`. The
# variable is taken back, as agents inherit this process's environment.
_REFRESH = "GIT_PYTHON_REFRESH"
_users_refresh = os.environ.get(_REFRESH)
os.environ[_REFRESH] = "quiet"

from git.cmd import Git  # noqa: E402
from git.exc import GitCommandNotFound  # noqa: E402

if _users_refresh is None:
    del os.environ[_REFRESH]
else:
    os.environ[_REFRESH] = _users_refresh

OLDEST_GIT = (2, 25)
PROBE = 1 << 20
"""Bytes that must fit on a disk that is not full."""

_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}
# What git hands down to hooks, or a shell may hold, and would lead a command elsewhere.
_MISLEADING = frozenset(
    f"GIT_{name}"
    for name in (
        *("DIR", "WORK_TREE", "INDEX_FILE", "COMMON_DIR", "OBJECT_DIRECTORY", "NAMESPACE"),
        *("ALTERNATE_OBJECT_DIRECTORIES", "QUARANTINE_PATH", "SHALLOW_FILE", "GRAFT_FILE"),
        *("IMPLICIT_WORK_TREE", "INTERNAL_SUPER_PREFIX", "PREFIX", "REPLACE_REF_BASE"),
        *("GLOB_PATHSPECS", "NOGLOB_PATHSPECS", "ICASE_PATHSPECS", "ATTR_SOURCE"),
        *("CONFIG", "EXTERNAL_DIFF", "DIFF_OPTS", "DEFAULT_HASH", "REFLOG_ACTION"),
    )
)


@dataclass(frozen=True)
class Answer:
    """What a git command said."""

    status: int
    out: bytes
    error: str

    @property
    def line(self) -> str:
        """Its output as one path or id, without the newline at the end."""
        return os.fsdecode(self.out.removesuffix(b"\n"))


def run_git(
    folder: Path,
    *arguments: str,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    accept: Iterable[int] | None = (0,),
) -> Answer:
    """Run ``git -C folder arguments``; ``WorkspaceError`` unless its status is in `accept`.

    `accept` None takes any status.
    """
    scrubbed = sorted(_MISLEADING.intersection(os.environ))
    # GitPython always passes this process's environment on, so a variable is taken out by env(1).
    given = _ENVIRONMENT | dict(environment or {})
    command = ["git", "-C", str(folder), *arguments]
    if scrubbed:
        without = [part for name in scrubbed for part in ("-u", name)]
        command = ["env", *without, *(f"{n}={value}" for n, value in given.items()), *command]
    try:
        status, out, error = _execute(command, given, stdin)
    except GitCommandNotFound as missing:
        raise WorkspaceError(
            "git was not found on PATH; install git 2.25 or newer and run again."
        ) from missing
    except OSError as refused:
        kind = NoRoomError if refused.errno in NO_ROOM else WorkspaceError
        raise kind(f"git cannot be started: {refused}.") from refused
    answer = Answer(status, out, error)
    if accept is not None and status not in accept:
        raise refusal(answer, arguments, folder)
    return answer


def refusal(answer: Answer, arguments: Iterable[str], folder: Path) -> WorkspaceError:
    """What to raise for a command that failed: ``NoRoomError`` where git names a full disk."""
    options = {"-c", "-C"}
    words = [*arguments]
    while words and words[0] in options:
        del words[:2]
    what = next((word for word in words if not word.startswith("-")), "git")
    kind = NoRoomError if _names_a_full_disk(answer) else WorkspaceError
    return kind(
        f"git {what} failed in {one_line(str(folder))} (status {answer.status}): "
        f"{one_line(answer.error) or 'no reason given'}"
    )


def _names_a_full_disk(answer: Answer) -> bool:
    # Python ignores SIGXFSZ, and gives the programs it starts the deadly default back.
    return answer.status == -signal.SIGXFSZ or any(
        os.strerror(number) in answer.error for number in NO_ROOM
    )


def _execute(
    command: list[str], environment: Mapping[str, str], stdin: bytes
) -> tuple[int, bytes, str]:
    with tempfile.TemporaryFile() if stdin else nullcontext() as source:
        if source is not None:
            source.write(stdin)
            source.seek(0)
        return Git().execute(
            command,
            istream=source,
            env=environment,
            with_extended_output=True,
            with_exceptions=False,
            stdout_as_string=False,
            strip_newline_in_stdout=False,
            # A ctrl+c that is meant for the run must not cut a git command in half.
            start_new_session=True,
        )


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
    ) -> Answer:
        """Run git in the worktree's root, on the user's own index and refs.

        Raises ``NoRoomError`` when the disk is full, also where git does not say so.
        """
        # Named, not looked for: were this one deleted, git would take one further up the path.
        here = {"GIT_DIR": str(self.git_dir), "GIT_WORK_TREE": str(self.root)}
        answer = run_git(
            self.root,
            *arguments,
            stdin=stdin,
            environment=here | dict(environment or {}),
            accept=None,
        )
        if accept is not None and answer.status not in accept:
            raise self.refusal(answer, arguments)
        return answer

    def refusal(self, answer: Answer, arguments: Iterable[str]) -> WorkspaceError:
        """As the function, and asks the disk where git does not say why it could not write."""
        error = refusal(answer, arguments, self.root)
        if "write" in answer.error.lower() and not self.has_room():
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
        answer = self.git("symbolic-ref", "--quiet", "--short", "HEAD", accept=(0, 1))
        return answer.line or None

    def head(self) -> str | None:
        """The commit that is checked out; None in a repository without commits."""
        answer = self.git("rev-parse", "--quiet", "--verify", "HEAD^{commit}", accept=(0, 1, 128))
        return answer.line or None


def open_repository(path: Path) -> Repository:
    """The repository whose worktree holds `path`.

    Raises ``UsageError`` where there is none (or only a bare one) and ``WorkspaceError`` where git
    is missing, too old, or refuses.
    """
    shown = one_line(str(path))
    if not path.is_dir():
        raise UsageError(f"{shown} is not a folder; give the folder of a git repository.")
    _check_version(path)
    answer = run_git(path, "rev-parse", "--show-toplevel", accept=None)
    if answer.status != 0:
        if "dubious ownership" in answer.error:
            raise WorkspaceError(
                f"git does not trust {shown} because another user owns it; allow it with "
                f"`git config --global --add safe.directory {shown}`."
            )
        if "must be run in a work tree" in answer.error:
            if path.joinpath("HEAD").exists() and path.name == ".git":
                raise UsageError(
                    f"{shown} is git's own folder; go to the project's folder beside it."
                )
            raise UsageError(
                f"{shown} belongs to a bare repository, which has no files to work on; "
                "use a clone or a worktree of it."
            )
        if "not a git repository" in answer.error:
            raise UsageError(
                f"{shown} is not inside a git repository; run `git init` there first, "
                "or go to the project's folder."
            )
        raise WorkspaceError(f"git cannot open {shown}: {one_line(answer.error)}")
    root = Path(answer.line)
    git_dir = Path(run_git(root, "rev-parse", "--absolute-git-dir").line)
    common_dir = Path(run_git(root, "rev-parse", "--git-common-dir").line)
    return Repository(root.resolve(), git_dir.resolve(), (root / common_dir).resolve())


def _check_version(folder: Path) -> None:
    text = run_git(folder, "version").line
    found = re.search(r"(\d+)\.(\d+)", text)
    if found and (int(found[1]), int(found[2])) < OLDEST_GIT:
        raise WorkspaceError(f"{one_line(text)} is too old; install git 2.25 or newer.")
