"""Every git that is waited for comes to an end: its own, that of its time, or that of the run.

A thread looks at the commands that are waited for, some times a second. One that is late may read
what an agent has put in the place of a file: a pipe, which gives neither content nor an end. Such a
pipe is looked for, named and remembered, so that git is not asked again while it is there. Should
this process be killed, a guard ends what is left.
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
from ralph_tui.adapters.workspace.pipes import Pipes, folders, let_go, waits_for_pipe
from ralph_tui.base.errors import GitEndedError
from ralph_tui.text.sanitize import one_line

PIPE_BYTES = 1 << 12
"""As much as any pipe holds, where a user has very many of them."""
LOOK_S = 0.25
"""From one look to the next; what takes less costs nothing."""
LIMIT_S = 60.0
"""What any command may take."""
FILES_PER_S = 200
BYTES_PER_S = 4_000_000
"""What git reads at least: a larger tree gives more time."""
ENDING_S = 1.5
"""What a command may take when the run is to end."""
PATHS_PER_S = 100
"""What it is given does count also then."""
TERMINATE_S = 0.5
"""In which git takes its locks away."""
SURVEY_S = 0.2
"""One look surveys the tree for so long; the next one goes on from there."""

HELD_S = 2.0
"""How long a pipe that a command waits for is looked for, before it counts as replaced."""


class Wait:
    """A command that is waited for."""

    def __init__(
        self, process: "subprocess.Popen[bytes]", what: str, paths: int, mark: str
    ) -> None:
        self.process = process
        self.what = what
        self.paths = paths
        self.began = time.monotonic()
        self.survey: Iterator[Path | None] = iter(())
        self.survey_at = 0.0
        """Its age in seconds at which the tree is looked at again."""
        self.held_since: float | None = None
        """Since when it was seen to wait for a pipe."""
        self.limit = LIMIT_S
        self.reason = ""
        """Why it was ended."""
        self.told_at = 0.0
        self.killed = False
        """Nothing more will come, also where somebody else still holds its output."""
        self.below: list[Entry] = []
        self.finding_out = Lock()
        """Held while it may be let go on: its end does not count before what was found out."""
        self._mark = mark

    def end(self, reason: str) -> None:
        """Ask it to end."""
        self.reason, self.told_at = reason, time.monotonic()
        self.below = processes_below(self.process.pid)
        self.process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it and what it has started, and what of that has left it."""
        self.process.kill()
        kill(self.below + processes_below(self.process.pid) + orphans(GUARD_MARK, self._mark))
        self.killed = True


class GitCalls:
    """The commands of one repository that are waited for."""

    def __init__(
        self, root: Path, git_dirs: Iterable[Path] = (), read: Iterable[Path] = ()
    ) -> None:
        """`root` is the worktree; `read` are further files that git reads."""
        self._root = root
        self._pipes = Pipes(root, git_dirs, read)
        self.marks: Mapping[str, str] = {GUARD_MARK: str(uuid4())}
        """Variables by which the commands of a killed process are found."""
        self._dismiss: finalize[[], GitCalls] | None = None
        self._lock = Lock()
        self._waits: set[Wait] = set()
        self._thread: Thread | None = None
        self._slowest = 0.0
        """Seconds of the slowest command that has ended by itself."""
        self._hurried_at: float | None = None
        self._over = ""

    def guard(self) -> None:
        """Have a guard for what is begun from now on, until `dismiss_guard`."""
        with suppress(OSError), self._lock:
            if self._dismiss is None:
                self._dismiss = finalize(self, Guard(self.marks[GUARD_MARK]).dismiss)
                self._dismiss.atexit = False  # then it looks whether something is left

    def dismiss_guard(self) -> None:
        """Nothing is left that was begun."""
        with self._lock:
            dismiss, self._dismiss = self._dismiss, None
        if dismiss is not None:
            dismiss()

    def hurry(self) -> None:
        """The run is to end: from now on a command takes a second or two, or is ended.

        A large tree gives it twice of what the slowest one has taken here.
        """
        if self._hurried_at is None:
            self._hurried_at = time.monotonic()

    def check(self, *, walks: bool) -> None:
        """Raises ``GitEndedError`` where git would wait for ever, or the run cannot wait for it.

        `walks` says whether the command looks through the worktree.
        """
        if self._over:
            raise GitEndedError(self._over)
        if walks and (pipe := self._pipes.known()) is not None:
            raise GitEndedError(self._pipes.about(pipe))

    @contextmanager
    def waiting(
        self, process: "subprocess.Popen[bytes]", what: str, paths: int = 0
    ) -> Iterator[Wait]:
        """Look after a command while the block waits for it; `paths` are those it was given.

        Raises ``GitEndedError`` where it had to be ended.
        """
        wait = Wait(process, what, paths, self.marks[GUARD_MARK])
        with self._lock:
            self._waits.add(wait)
            if self._thread is None:
                thread = Thread(target=self._watch, name="git watch", daemon=True)
                with suppress(RuntimeError):  # the system gives no more: git is not looked after
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
            time.sleep(LOOK_S)
            with self._lock:
                waits = list(self._waits)
                if not waits:
                    self._thread = None
                    return
            for wait in waits:
                if wait.process.returncode is None or wait.reason:
                    self._look(wait)

    def _look(self, wait: Wait) -> None:
        now = time.monotonic()
        age = now - wait.began
        if wait.reason:
            if now - wait.told_at >= TERMINATE_S:
                wait.kill()
            return
        self.guard()
        if self._waits_for_pipe(wait, age) or self._is_held(wait, now):
            return
        if self._hurried_at is not None:
            given = max(ENDING_S, 2 * self._slowest) + wait.paths / PATHS_PER_S
            if now - max(wait.began, self._hurried_at) >= given:
                self._over = (
                    f"git {wait.what} was ended with the run, as it had not ended by itself"
                )
                wait.end(self._over)
        elif age >= wait.limit:
            # The tree is measured when it matters: to do so takes as long as git itself.
            wait.limit = LIMIT_S + self._time_for_tree()
            if age >= wait.limit:
                wait.end(
                    f"git {wait.what} had not ended after {age:.0f} s in "
                    f"{one_line(str(self._root))}; see whether its disk answers, and try again"
                )

    def _waits_for_pipe(self, wait: Wait, age: float) -> bool:
        """Whether it reads a pipe in the place of a file; it is asked to end then.

        The tree is surveyed a part at a time, so that whatever else ends a command is seen as well.
        """
        until = time.monotonic() + SURVEY_S
        for found in wait.survey:
            # To find out lets git go on, so that it may end by itself with some error.
            with wait.finding_out:
                if found is not None and let_go(found):
                    self._pipes.remember(found)
                    wait.end(self._pipes.about(found))
                    return True
            if time.monotonic() >= until:
                return False
        if age >= wait.survey_at:
            wait.survey, wait.survey_at = self._pipes.survey(), 2 * age
        return False

    def _is_held(self, wait: Wait, now: float) -> bool:
        """Whether it waits too long for a pipe that is not found; it is asked to end then."""
        below = [entry.pid for entry in processes_below(wait.process.pid)]
        if not any(map(waits_for_pipe, (wait.process.pid, *below))):
            wait.held_since = None
        elif wait.held_since is None:
            wait.held_since = now
        elif now - wait.held_since >= HELD_S:
            wait.end(
                f"git {wait.what} waits for a FIFO that was put in the place of a file it reads in "
                f"{one_line(str(self._root))}; end what puts it there, and try again"
            )
        return bool(wait.reason)

    def _time_for_tree(self) -> float:
        """Seconds that the files of the worktree give a command."""
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
    """End a command that nobody waits for any more."""
    process.terminate()  # git takes its locks away
    try:
        process.communicate(timeout=TERMINATE_S)
    except subprocess.TimeoutExpired:
        kill(processes_below(process.pid))
        process.kill()
        process.wait()
        # Not read to their end: whoever else holds them may never end.
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def communicate(git: subprocess.Popen[bytes], stdin: bytes, wait: Wait) -> tuple[bytes, bytes]:
    """What an awaited git writes; nothing of one that was killed while others hold its pipes."""
    given: bytes | None = stdin or None
    if len(stdin) > PIPE_BYTES and git.stdin is not None:
        # A second `Popen.communicate` would forget what the first has not written yet.
        Thread(target=_feed, args=(git.stdin, stdin), daemon=True).start()
        git.stdin = given = None
    while not wait.killed:
        try:
            return git.communicate(given, timeout=LOOK_S)
        except subprocess.TimeoutExpired:
            given = None  # it is on its way
    return b"", b""


def _feed(pipe: IO[bytes], stdin: bytes) -> None:
    """Write all of it; a git that has ended needs no more."""
    with suppress(OSError), pipe:
        pipe.write(stdin)
