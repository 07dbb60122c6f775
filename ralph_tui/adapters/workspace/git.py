"""The only module that starts Git.

This package spells out the arguments to every command. Git runs sealed (see `git_config`), without
locks, prompts, pager, locale or the variables of a hook. Otherwise a run started from a Git hook
would write into that hook's index.
"""

import errno
import os
import signal
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, Popen
from typing import IO, cast

from ralph_tui.adapters.processes.adopted import starting
from ralph_tui.adapters.workspace.git_calls import GitCalls, communicate, stop
from ralph_tui.base.errors import (
    NO_ROOM,
    GitEndedError,
    NoRoomError,
    WorkspaceError,
    why,
    workspace_error,
)
from ralph_tui.base.git_config import SEALED
from ralph_tui.text.sanitize import one_line

MAX_NAMED = 3
"""Maximum number of files to name from a Git error."""


def reason_of(error: str) -> str:
    """Return Git's error line with the files it names; empty if Git gave no reason."""
    lines = [line.strip() for line in error.splitlines()]
    lines = [line for line in lines if line and not line.startswith("hint:")]
    first = next((n for n, line in enumerate(lines) if line.startswith(("fatal:", "error:"))), 0)
    if not lines or not lines[first].endswith(":"):
        return one_line("".join(lines[first : first + 1]))
    named = lines[first + 1 :]
    more = f" and {len(named) - MAX_NAMED} more" if len(named) > MAX_NAMED else ""
    return one_line(f"{lines[first]} {', '.join(named[:MAX_NAMED])}{more}")


# GitPython runs Git on import, with the user's configuration, where a FIFO would block it forever.
# It must therefore not find Git then; `begin_git` reports a missing Git. The variables are
# restored, because agents inherit this process's environment.
_AT_IMPORT = {"GIT_PYTHON_REFRESH": "quiet", "GIT_PYTHON_GIT_EXECUTABLE": os.devnull}
_users = {name: os.environ.get(name) for name in _AT_IMPORT}
os.environ.update(_AT_IMPORT)

from git.cmd import Git  # noqa: E402
from git.exc import GitCommandNotFound  # noqa: E402

for _name, _value in _users.items():
    if _value is None:
        del os.environ[_name]
    else:
        os.environ[_name] = _value

OLDEST_GIT = "2.32"
"""The first version that can ignore the user's configuration."""

PIPE_BYTES = 1 << 16
"""Capacity of a pipe in bytes."""

_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_PAGER": "cat",
    "GIT_FLUSH": "1",  # otherwise, a command that stays open may delay its answer
    "LC_ALL": "C",
    # Otherwise glibc releases Git's memory after every object it writes and requests it again for
    # the next, a tenth of a millisecond each. Other C libraries ignore these variables.
    "MALLOC_TOP_PAD_": str(2 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(4 << 20),
}
# Variables that Git passes to hooks or that a shell may have, and that would redirect a command.
MISLEADING = frozenset(
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
class GitResult:
    """Exit status and output of a Git command."""

    status: int
    out: bytes
    error: str

    @property
    def line(self) -> str:
        """The output as one path or id, without its final newline."""
        return os.fsdecode(self.out.removesuffix(b"\n"))

    @property
    def lines(self) -> list[str]:
        """The output as ids, one per line."""
        return os.fsdecode(self.out).splitlines()


ErrorOf = Callable[[GitResult, Iterable[str]], WorkspaceError]
"""Returns the error to raise for a failed command, given as its arguments."""


class Running:
    """A running Git command; as a context manager, it ends the command after the block."""

    def __init__(
        self,
        process: Git.AutoInterrupt,
        arguments: Iterable[str],
        error_of: ErrorOf,
        calls: GitCalls,
    ) -> None:
        self._process = process  # kept because it ends Git when it is garbage-collected
        self._popen = cast("Popen[bytes]", process.proc)
        self._arguments = tuple(arguments)
        self._error_of = error_of
        self._calls = calls

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_: object) -> None:
        if not cast("IO[bytes]", self._popen.stdout).closed:
            stop(self._popen)

    def ask(self, request: bytes, lines: int = 1) -> list[str]:
        """Send a request to a command that answers line by line, and return its answer.

        The command then waits for the next request. Raises like `finish` if the command has ended
        instead.
        """
        stdin, stdout = cast("IO[bytes]", self._popen.stdin), cast("IO[bytes]", self._popen.stdout)
        answer = []
        waiting = self._calls.waiting(self._popen, subcommand(self._arguments))
        with waiting, suppress(BrokenPipeError):
            self._forget_warnings()
            stdin.write(request)
            stdin.flush()
            answer = [stdout.readline() for _ in range(lines)]
        if not answer or not answer[-1].endswith(b"\n"):
            self.finish(accept=())
        return [os.fsdecode(line.removesuffix(b"\n")) for line in answer]

    def _forget_warnings(self) -> None:
        """Drain warnings about earlier requests, because a full pipe would block Git forever."""
        error = cast("IO[bytes]", self._popen.stderr).fileno()
        os.set_blocking(error, False)
        with suppress(BlockingIOError):
            while os.read(error, PIPE_BYTES):
                pass

    def finish(self, stdin: bytes = b"", accept: Iterable[int] | None = (0,)) -> GitResult:
        """Send all input, wait for the end, and return the result.

        Raises ``WorkspaceError`` unless the exit status is in `accept`; None accepts any. Only a
        command started with `waits` takes input.
        """
        what, paths = subcommand(self._arguments), stdin.count(b"\0")
        with self._calls.waiting(self._popen, what, paths) as wait:
            out, error = communicate(self._popen, stdin, wait)
        text = error.removesuffix(b"\n").decode("utf-8", "surrogateescape")
        result = GitResult(self._popen.returncode, out, text)
        if accept is not None and result.status not in accept:
            raise self._error_of(result, self._arguments)
        return result


class PersistentGit:
    """A Git command that stays open for many requests, because starting it takes longer.

    It starts when it is needed, and again if it has ended. However this process ends, Git ends as
    well, because no other process has the other end of its input.
    """

    def __init__(self, begin: Callable[[], Running]) -> None:
        self._begin = begin
        self._running: Running | None = None

    def begin(self) -> None:
        """Start the command unless it is running, so that it can get ready in the meantime."""
        self._running = self._running or self._begin()

    def ask(self, request: bytes, lines: int = 1) -> list[str]:
        """Like `Running.ask`; if the open command fails, ask a new one.

        A request must therefore be safe to repeat.
        """
        was_kept = self._running is not None
        self.begin()
        try:
            return self._ask(request, lines)
        except (NoRoomError, GitEndedError):
            raise
        except WorkspaceError:
            if not was_kept:
                raise
        self.begin()
        return self._ask(request, lines)

    def _ask(self, request: bytes, lines: int) -> list[str]:
        running, self._running = cast("Running", self._running), None
        with ExitStack() as failing:
            failing.enter_context(running)
            answer = running.ask(request, lines)
            failing.pop_all()
        self._running = running
        return answer

    def close(self) -> None:
        if self._running is not None:
            with self._running:
                self._running = None


def begin_git(
    folder: Path,
    *arguments: str,
    waits: bool = False,
    environment: Mapping[str, str] | None = None,
    error_of: ErrorOf | None = None,
    calls: GitCalls | None = None,
) -> Running:
    """Start ``git -C folder arguments``; with `waits`, `finish` sends its input.

    `calls` belongs to its repository, and makes sure that the process ends.
    """
    calls = calls or GitCalls(folder)
    scrubbed = sorted(MISLEADING.intersection(os.environ))
    # GitPython always passes this process's environment on, so env(1) removes variables.
    given = {**_ENVIRONMENT, **SEALED, **calls.marks, **(environment or {})}
    command = ["git", "-C", str(folder), *arguments]
    if scrubbed:
        without = [part for name in scrubbed for part in ("-u", name)]
        command = ["env", *without, *(f"{n}={value}" for n, value in given.items()), *command]
    try:
        with starting() as own:
            process = Git().execute(
                command,
                istream=PIPE if waits else None,
                env=given,
                as_process=True,
                # Ctrl+C for the run must not interrupt a Git command.
                start_new_session=True,
            )
            own(cast("Popen[bytes]", process.proc).pid)
    except GitCommandNotFound as missing:
        raise WorkspaceError(
            f"git was not found on PATH; install git {OLDEST_GIT} or newer and run again."
        ) from missing
    except OSError as refused:
        raise workspace_error(
            f"git cannot be started: {why(refused, 'try again')}", refused
        ) from refused
    return Running(process, arguments, error_of or _error_in(folder), calls)


def run_git(
    folder: Path,
    *arguments: str,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    accept: Iterable[int] | None = (0,),
    error_of: ErrorOf | None = None,
    calls: GitCalls | None = None,
) -> GitResult:
    """Run ``git -C folder arguments``. Raises ``WorkspaceError`` unless its status is in `accept`.

    With `accept=None`, it accepts any status.
    """
    started = begin_git(
        folder,
        *arguments,
        waits=bool(stdin),
        environment=environment,
        error_of=error_of,
        calls=calls,
    )
    with started:
        return started.finish(stdin, accept)


def git_error(result: GitResult, arguments: Iterable[str], folder: Path) -> WorkspaceError:
    """Return the error for a failed command: ``NoRoomError`` if Git reports a full disk."""
    what, where = f"git {subcommand(arguments)}", f"in {one_line(str(folder))}"
    if hit_size_limit(result):
        limit = OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        return WorkspaceError(f"{what} failed {where}: {why(limit, '')}")
    if result.status < 0:
        return WorkspaceError(
            f"{what} was terminated by signal {-result.status} {where}; try again"
        )
    kind = NoRoomError if _is_disk_full(result) else WorkspaceError
    reason = reason_of(result.error) or "no reason given"
    return kind(f"{what} failed {where} (status {result.status}): {reason}")


def hit_size_limit(result: GitResult) -> bool:
    """True if Git tried to write a larger file than its process may."""
    # Python ignores SIGXFSZ, but restores the fatal default for programs it starts.
    return result.status == -signal.SIGXFSZ or os.strerror(errno.EFBIG) in result.error


def subcommand(arguments: Iterable[str]) -> str:
    """Return the subcommand that follows Git's own options."""
    words = [*arguments]
    while words and words[0] in {"-c", "-C"}:
        del words[:2]
    return next((word for word in words if not word.startswith("-")), "git")


def _error_in(folder: Path) -> ErrorOf:
    return lambda result, arguments: git_error(result, arguments, folder)


def _is_disk_full(result: GitResult) -> bool:
    return any(os.strerror(number) in result.error for number in NO_ROOM)
