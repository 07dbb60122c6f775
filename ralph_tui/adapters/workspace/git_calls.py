"""Time limits for Git: every awaited command ends on its own, at its timeout, or with the run.

A thread checks awaited commands several times a second. A slow one may be reading a pipe that an
agent has put in place of a file, which yields neither content nor an end. The thread finds, reports
and remembers such a pipe, so that Git is not started again as long as it exists. If this process is
killed, a guard ends the remaining commands.
"""

import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, Thread
from typing import IO
from uuid import uuid4
from weakref import finalize

from ralph_tui.adapters.processes.guard import Guard
from ralph_tui.adapters.processes.keeper import Entry
from ralph_tui.adapters.processes.sweep import GUARD_MARK, kill, orphans, processes_below
from ralph_tui.adapters.workspace.pipes import Pipes, folders, is_released, waits_for_pipe
from ralph_tui.base.errors import GitEndedError
from ralph_tui.text.sanitize import one_line

PIPE_BYTES = 1 << 12
"""Minimum capacity of a pipe in bytes, for users with very many pipes."""
POLL_S = 0.25
"""Seconds between two checks; a command that takes less is never checked."""
LIMIT_S = 60.0
"""Timeout of any command in seconds, extended in a large worktree."""
FILES_PER_S = 200
BYTES_PER_S = 4_000_000
"""Minimum speed of Git, from which longer timeouts for large worktrees are computed."""
ENDING_S = 1.5
"""Seconds for a command once the run is about to end."""
PATHS_PER_S = 100
"""Minimum number of paths per second that a command handles, used to extend even `ENDING_S`."""
TERMINATE_S = 0.5
"""Seconds for Git to remove its locks."""
SURVEY_S = 0.2
"""Seconds per step of a survey; the next check continues the survey."""

HELD_S = 2.0
"""Seconds that a command may wait for a pipe that cannot be found; then Git is stopped."""


class Wait:
    """A command that a caller is waiting for."""

    def __init__(
        self, process: "subprocess.Popen[bytes]", what: str, paths: int, mark: str
    ) -> None:
        self.process = process
        self.what = what
        self.paths = paths
        self.began = time.monotonic()
        self.survey: Iterator[Path | None] = iter(())
        self.survey_at = 0.0
        """Age of the command, in seconds, at which the next survey of the worktree starts."""
        self.held_since: float | None = None
        """When it was first seen waiting for a pipe; None if it is not waiting."""
        self.limit = LIMIT_S
        self.reason = ""
        """The reason for ending it; empty while it may run."""
        self.warned_at = 0.0
        self.killed = False
        """True if no more output will come, even if another process has its pipes open."""
        self.below: list[Entry] = []
        self.finding_out = Lock()
        """Held while a check may unblock the command; only after the check does its end count."""
        self._mark = mark

    def end(self, reason: str) -> None:
        """Ask the command to end."""
        self.reason, self.warned_at = reason, time.monotonic()
        self.below = processes_below(self.process.pid)
        self.process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the command, its child processes, and those that have detached from it."""
        self.process.kill()
        kill(self.below + processes_below(self.process.pid) + orphans(GUARD_MARK, self._mark))
        self.killed = True


class GitCalls:
    """Awaited commands of one repository."""

    def __init__(
        self, root: Path, git_dirs: Iterable[Path] = (), read: Iterable[Path] = ()
    ) -> None:
        """`root` is the worktree; `read` are further files that Git reads."""
        self._root = root
        self._pipes = Pipes(root, git_dirs, read)
        self.marks: Mapping[str, str] = {GUARD_MARK: str(uuid4())}
        """Environment variables that identify the commands of this process if it is killed."""
        self._dismiss: finalize[[], GitCalls] | None = None
        self._lock = Lock()
        self._waits: set[Wait] = set()
        self._thread: Thread | None = None
        self._slowest = 0.0
        """Duration in seconds of the slowest command that was not stopped."""
        self._hurried_at: float | None = None
        self._over = ""

    def guard(self) -> None:
        """Start a guard for all commands from now until `dismiss_guard`."""
        with suppress(OSError), self._lock:
            if self._dismiss is None:
                self._dismiss = finalize(self, Guard(self.marks[GUARD_MARK]).dismiss)
                # Not dismissed at exit, because the guard then looks for remaining commands.
                self._dismiss.atexit = False

    def dismiss_guard(self) -> None:
        """End the guard; no command may be running any more."""
        with self._lock:
            dismiss, self._dismiss = self._dismiss, None
        if dismiss is not None:
            dismiss()

    def hurry(self) -> None:
        """From now on, give commands only a second or two, because the run is about to end.

        In a large worktree, they get twice the time of the slowest command so far.
        """
        if self._hurried_at is None:
            self._hurried_at = time.monotonic()

    def check(self, *, walks: bool) -> None:
        """Raise ``GitEndedError`` if Git would block forever or the run has no time for it.

        `walks` is True for a command that walks the worktree.
        """
        if self._over:
            raise GitEndedError(self._over)
        if walks and (pipe := self._pipes.known()) is not None:
            raise GitEndedError(self._pipes.about(pipe))

    @contextmanager
    def waiting(
        self, process: "subprocess.Popen[bytes]", what: str, paths: int = 0
    ) -> Iterator[Wait]:
        """Watch a command while the block waits for it; `paths` is its number of input paths.

        Raises ``GitEndedError`` if it had to be ended.
        """
        wait = Wait(process, what, paths, self.marks[GUARD_MARK])
        with self._lock:
            self._waits.add(wait)
            if self._thread is None:
                thread = Thread(target=self._watch, name="git watch", daemon=True)
                with suppress(RuntimeError):  # no more threads: Git runs unwatched
                    thread.start()
                    self._thread = thread
        try:
            yield wait
        finally:
            with self._lock, wait.finding_out:
                self._waits.remove(wait)
            if wait.reason:
                kill(wait.below)
        if wait.reason:
            raise GitEndedError(wait.reason)
        self._slowest = max(self._slowest, time.monotonic() - wait.began)

    def _watch(self) -> None:
        while True:
            time.sleep(POLL_S)
            with self._lock:
                waits = list(self._waits)
                if not waits:
                    self._thread = None
                    return
            for wait in waits:
                if wait.process.returncode is None or wait.reason:
                    self._check_wait(wait)

    def _check_wait(self, wait: Wait) -> None:
        now = time.monotonic()
        age = now - wait.began
        if wait.reason:
            if now - wait.warned_at >= TERMINATE_S:
                wait.kill()
            return
        self.guard()
        if self._waits_for_pipe(wait, age) or self._is_blocked(wait, now):
            return
        if self._hurried_at is not None:
            given = max(ENDING_S, 2 * self._slowest) + wait.paths / PATHS_PER_S
            if now - max(wait.began, self._hurried_at) >= given:
                self._over = f"git {wait.what} was still running and was stopped with the run"
                wait.end(self._over)
        elif age >= wait.limit:
            # Measured only now, because it takes as long as Git itself.
            wait.limit = LIMIT_S + self._time_for_tree()
            if age >= wait.limit:
                wait.end(
                    f"git {wait.what} was still running after {age:.0f} s in "
                    f"{one_line(str(self._root))}; check its disk, and try again"
                )

    def _waits_for_pipe(self, wait: Wait, age: float) -> bool:
        """Return True if the command is reading a pipe in place of a file, and ask it to end.

        The worktree is surveyed in steps, so that other reasons to end a command are also noticed.
        """
        until = time.monotonic() + SURVEY_S
        for found in wait.survey:
            # The check unblocks Git, so that it may end with some error of its own.
            with wait.finding_out:
                if found is not None and is_released(found):
                    self._pipes.remember(found)
                    wait.end(self._pipes.about(found))
                    return True
            if time.monotonic() >= until:
                return False
        if age >= wait.survey_at:
            wait.survey, wait.survey_at = self._pipes.survey(), 2 * age
        return False

    def _is_blocked(self, wait: Wait, now: float) -> bool:
        """Return True if it has waited too long for a pipe that cannot be found; ask it to end."""
        below = [entry.pid for entry in processes_below(wait.process.pid)]
        if not any(map(waits_for_pipe, (wait.process.pid, *below))):
            wait.held_since = None
        elif wait.held_since is None:
            wait.held_since = now
        elif now - wait.held_since >= HELD_S:
            wait.end(
                f"git {wait.what} is waiting for a FIFO that replaced a file in "
                f"{one_line(str(self._root))}; find the program that creates it, and try again"
            )
        return bool(wait.reason)

    def _time_for_tree(self) -> float:
        """Return the seconds that a command gets for the files of the worktree."""
        files = size = 0
        for _, entries in folders(self._root):
            for entry in entries:
                with suppress(OSError):
                    size += entry.stat(follow_symlinks=False).st_size
                    files += 1
            if self._hurried_at is not None:
                break
        return files / FILES_PER_S + size / BYTES_PER_S


def stop(process: "subprocess.Popen[bytes]") -> None:
    """End a command that no caller is waiting for any more."""
    process.terminate()  # Git removes its locks
    try:
        process.communicate(timeout=TERMINATE_S)
    except subprocess.TimeoutExpired:
        kill(processes_below(process.pid))
        process.kill()
        process.wait()
        # Not read to the end, because another holder of the pipes may never end.
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def communicate(git: subprocess.Popen[bytes], stdin: bytes, wait: Wait) -> tuple[bytes, bytes]:
    """Return an awaited command's output; empty if it was killed while others hold its pipes."""
    given: bytes | None = stdin or None
    if len(stdin) > PIPE_BYTES and git.stdin is not None:
        # A second `Popen.communicate` would forget input that the first has not written yet.
        Thread(target=_feed, args=(git.stdin, stdin), daemon=True).start()
        git.stdin = given = None
    while not wait.killed:
        try:
            return git.communicate(given, timeout=POLL_S)
        except subprocess.TimeoutExpired:
            given = None  # already being written
    return b"", b""


def _feed(pipe: IO[bytes], stdin: bytes) -> None:
    """Write all input; if Git has ended, it needs no more of it."""
    with suppress(OSError), pipe:
        pipe.write(stdin)
