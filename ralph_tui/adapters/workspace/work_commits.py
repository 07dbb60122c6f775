"""Commits of a session's work on the user's branch, with the user's own Git setup.

Everything else reads the repository with Git sealed off from the user's configuration. A commit is
the user's own, with the user's identity, hooks and signature, so it runs under the keeper with a
timeout. Only the session's changes are committed. Files with earlier changes are left out, and so
are ralph-tui's records. The index must be clean beforehand, and is clean again if the commit fails.
"""

import os
import tempfile
import threading
from collections.abc import Sequence

from ralph_tui.adapters.processes.child import STDOUT, Child, launch
from ralph_tui.adapters.workspace.git import MISLEADING
from ralph_tui.adapters.workspace.snapshots import GitWorkspace
from ralph_tui.adapters.workspace.user_config import UserConfig
from ralph_tui.base.errors import ProcessError, WorkspaceError
from ralph_tui.base.git_config import IN_PROGRESS
from ralph_tui.ports.worktree import Committed
from ralph_tui.text.sanitize import one_line, shorten

LIMIT_S = 120.0
"""Timeout of a commit in seconds, including its hooks."""
MAX_OUTPUT = 1 << 16
"""Maximum number of bytes to read from the end of the output of Git and its hooks."""
RECORDS = ".aiwg/"
"""Never committed, even if not ignored; the same applies to paths that no snapshot contains."""


class WorkCommits:
    """Makes commits in the worktree of a run, one at a time."""

    def __init__(self, workspace: GitWorkspace, run_id: str, lock_fd: int | None = None) -> None:
        self._workspace = workspace
        self._root = workspace.root
        self._git_dir = workspace.repository.git_dir
        self._run_id = run_id
        self._lock_fd = lock_fd
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._cancelled = False

    def commit(self, since: str, until: str, message: str) -> Committed | None:
        self._cancelled = False
        head = self._check()
        dirty = self._workspace.paths_between(head, since)
        changed = self._workspace.paths_between(since, until)
        work = sorted(path for path in changed if not path.startswith(RECORDS))
        left_out = [path for path in work if path in dirty]
        paths = [path for path in work if path not in dirty]
        if not paths:
            return Committed("", 0, tuple(left_out)) if left_out else None
        self._add(paths)  # all of them or none
        try:
            if self._git("diff", "--cached", "--quiet")[0] == 0:
                return None
            quiet = ("-c", "gc.auto=0", "-c", "maintenance.auto=false")
            code, said = self._git(*quiet, "commit", "--quiet", "--message", message)
        except WorkspaceError:
            self._reset_index()
            raise
        commit = self._line("rev-parse", "HEAD^{commit}")
        if commit == head:
            self._reset_index()
            raise WorkspaceError(self._refused("commit", code, said))
        return Committed(commit, len(paths), tuple(left_out))

    def cancel(self) -> None:
        """End a commit in progress; the blocked `commit` then raises. Any thread may call it."""
        with self._lock:
            self._cancelled = True
            if self._child is not None:
                self._child.stop()

    def _check(self) -> str:
        """Return HEAD's commit. Raises if a new commit would interfere with the user's work."""
        for name, what in IN_PROGRESS.items():
            if os.path.lexists(self._git_dir / name):
                raise WorkspaceError(f"{what} is in progress in {self._place}; finish or abort it")
        config = UserConfig(self._git_dir)
        config.of_repository(self._workspace.repository.common_dir)
        for blocked in config.blocked:
            raise WorkspaceError(
                f"your git configuration names {one_line(str(blocked))}, which is not a file, "
                "so git would block; see git config --list --show-origin"
            )
        if self._git("symbolic-ref", "--quiet", "HEAD")[0] != 0:
            raise WorkspaceError(
                f"no branch is checked out in {self._place}; check out the branch to commit to"
            )
        code, said = self._git("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if code != 0:
            raise WorkspaceError(f"{self._place} has no commit yet; create the first one yourself")
        if self._git("diff", "--cached", "--quiet")[0] != 0:
            raise WorkspaceError(
                f"changes are staged in {self._place}; commit or unstage them first"
            )
        if self._git("var", "GIT_COMMITTER_IDENT")[0] != 0:
            raise WorkspaceError(
                "git has no user name or email; set user.name and user.email with git config"
            )
        return said.strip()

    def _add(self, paths: Sequence[str]) -> None:
        with tempfile.NamedTemporaryFile(prefix="ralph-tui-paths-") as listed:
            listed.write(b"".join(os.fsencode(path) + b"\0" for path in paths))
            listed.flush()
            given = (f"--pathspec-from-file={listed.name}", "--pathspec-file-nul")
            code, said = self._git("--literal-pathspecs", "add", "--all", *given)
        if code != 0:
            raise WorkspaceError(self._refused("add", code, said))

    def _reset_index(self) -> None:
        """Reset the index to the last commit."""
        self._cancelled = False
        try:
            code, said = self._git("reset", "--quiet")
        except WorkspaceError as error:
            code, said = 1, str(error)
        if code != 0:
            why = self._refused("reset", code, said)
            raise WorkspaceError(f"{why}; files stay staged: see git status")

    def _refused(self, what: str, code: int, said: str) -> str:
        lines = [line for line in said.splitlines() if line.strip()]
        words = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines[-1:]
        because = f": {shorten(one_line(words[0]), 200)}" if words else ""
        return f"git {what} ended with {code} in {self._place}, from a hook or git itself{because}"

    def _line(self, *arguments: str) -> str:
        return self._git(*arguments)[1].strip()

    def _git(self, *arguments: str) -> tuple[int, str]:
        """Return Git's exit code and the end of the output of Git and its hooks."""
        what = next(a for a in arguments if not a.startswith("-") and "=" not in a)
        with tempfile.TemporaryFile(prefix="ralph-tui-git-") as output:
            try:
                child = launch(
                    ["git", *arguments],
                    cwd=self._root,
                    env=_environment(),
                    run_id=self._run_id,
                    lock_fd=self._lock_fd,
                    stdout=output,
                    stderr=STDOUT,
                )
            except ProcessError as error:
                raise WorkspaceError(str(error)) from error
            self._follow(child, what)
            ended = child.wait()
            size = output.seek(0, os.SEEK_END)
            output.seek(max(0, size - MAX_OUTPUT))
            said = output.read().decode("utf-8", "surrogateescape")
        if ended.stopped or ended.lost or ended.code is None:
            raise WorkspaceError(
                f"git {what} was terminated in {self._place}: {self._describe_end()}"
            )
        return ended.code, said

    def _follow(self, child: Child, what: str) -> None:
        """Wait until the command has ended or its time is up."""
        with self._lock:
            self._child = child
            if self._cancelled:
                child.stop()
        try:
            child.wait(LIMIT_S)
        except TimeoutError:
            child.stop()
            child.wait()
            raise WorkspaceError(
                f"git {what} was still running after {LIMIT_S:.0f} s in {self._place}; check "
                "its hooks and commit signing"
            ) from None
        finally:
            with self._lock:
                self._child = None

    def _describe_end(self) -> str:
        return "the run is ending" if self._cancelled else "its process was killed; see git status"

    @property
    def _place(self) -> str:
        return one_line(str(self._root))


def _environment() -> dict[str, str]:
    """Return the user's environment without variables that redirect Git; disable prompts."""
    kept = {name: value for name, value in os.environ.items() if name not in MISLEADING}
    return {**kept, "GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": ":", "LC_ALL": "C"}
