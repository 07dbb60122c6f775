"""Commit the work of a session that hands off, if the user asked for it.

As in `evidence`, git runs none of the repository's programs: no hooks, filters or signing. Files
that need a filter are left out. The new tree is built in a copy of the user's index. Then, while
the index is locked the way git locks it, the branch is updated and the copy replaces the index.
"""

import os
import signal
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ralph_tui.base.git_config import IN_PROGRESS
from ralph_tui.base.plain_files import fresh, read_bytes, write_all
from ralph_tui.hooks.program.call import Call
from ralph_tui.hooks.program.evidence import LIMIT_S, OURS, Git, opened
from ralph_tui.hooks.program.handoff import FIELD
from ralph_tui.layers.context.handoff import checkpoint_message
from ralph_tui.layers.context.state_file import Checkpoint
from ralph_tui.text.format import count
from ralph_tui.text.json_fields import as_map
from ralph_tui.text.sanitize import spelled_name

LARGEST = 10_000_000
"""Maximum size of a committed file in bytes."""
_QUICK = ("-c", "core.fsyncMethod=batch")
"""Flush all new objects to disk together."""
_ENDING = (signal.SIGALRM, signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
_STATUS = (
    *("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--no-renames"),
    "--ignore-submodules=all",
)


class Committed(NamedTuple):
    """The commit that was created."""

    commit: str
    files: int
    left_out: int
    """Number of changed files that the commit omits."""


class _Status(NamedTuple):
    head: str
    branch: str
    paths: list[str]
    gone: set[str]
    """The deleted files among `paths`."""
    staged: bool


def commit_checkpoint(call: Call, checkpoint: Checkpoint) -> None:
    """Commit the work at a checkpoint, and report the commit or why there is none."""
    left_out = as_map(call.state.get(FIELD)).get("left_out")
    if not isinstance(left_out, list):
        return
    level, percent = checkpoint.level, checkpoint.percent_at_checkpoint
    message = checkpoint_message(call.iteration, level, percent)
    try:
        with opened(call.root, LIMIT_S) as git:
            made = _commit(git, call.root, left_out, message)
    except OSError as error:
        call.answer.warn(f"could not commit the session's work: {error}")
        return
    if made is None:
        return
    more = f"; {made.left_out} left out" if made.left_out else ""
    call.answer.user.append(f"ralph-tui: committed {count(made.files, 'file')}: {message}{more}")
    call.record("work_committed", commit=made.commit, message=message, files=made.files)


def uncommitted(root: Path) -> list[str]:
    """Return the files that already have changes, so no commit may include them.

    Raises ``OSError``.
    """
    with opened(root, LIMIT_S) as git:
        return _read_status(git, root).paths


def _commit(git: Git, root: Path, never: Collection[object], message: str) -> Committed | None:
    for name, what in IN_PROGRESS.items():
        if os.path.lexists(git.git_dir / name):
            raise OSError(f"{what} is in progress; finish or abort it")
    before, status = _index_bytes(git.view / "index"), _read_status(git, root)
    if status.branch == "(detached)":
        raise OSError("no branch is checked out; check out the branch to commit to")
    if status.head == "(initial)":
        raise OSError("there is no commit yet; create the first one yourself")
    if status.staged:
        raise OSError("changes are staged; commit or unstage them first")
    author = _identity(git)
    paths = [path for path in status.paths if path not in never and _can_add(git.root / path)]
    paths = _without_filters(git, paths)
    if not paths:
        return None
    # Git refuses to check a deleted file whose folder has become a symlink.
    gone = [path for path in paths if path in status.gone]
    added = [path for path in paths if path not in status.gone]
    for flags, some in ((["--force-remove"], gone), (["--add", "--remove", "--replace"], added)):
        if some:
            git.ask(*_QUICK, "update-index", "-z", *flags, "--stdin", stdin=_listed(some))
    tree = git.ask("write-tree").decode().strip()
    made = git.ask("commit-tree", tree, "-p", status.head, "-m", message, environment=author)
    commit = made.decode().strip()
    (git.view / "logs").symlink_to(git.common_dir / "logs")  # existing reflogs get an entry
    with _new_index(git, before):
        reason = ("-m", f"commit: {message}")
        git.ask("update-ref", *reason, "HEAD", commit, status.head, environment=author)
    return Committed(commit, len(paths), len(status.paths) - len(paths))


def _identity(git: Git) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for who in ("AUTHOR", "COMMITTER"):
        for part in ("NAME", "EMAIL"):
            name = f"GIT_{who}_{part}"
            found[name] = os.environ.get(name) or git.values.get(f"user.{part.lower()}")
    if not all(found.values()):
        raise OSError("git has no user name or email; set user.name and user.email with git config")
    return found


def _read_status(git: Git, root: Path) -> _Status:
    """Read the status, limited to paths in the project's folder, without our own files."""
    entries = os.fsdecode(git.ask(*_STATUS)).split("\0")
    head = branch = ""
    paths, gone, staged = list[str](), set[str](), False
    inside = Path(os.path.relpath(root.resolve(), git.root.resolve())).as_posix()
    prefix = "" if inside == "." else f"{inside}/"
    for entry in entries:
        kind, _, rest = entry.partition(" ")
        path = ""
        if kind == "#":
            name, _, value = rest.partition(" ")
            head = value if name == "branch.oid" else head
            branch = value if name == "branch.head" else branch
        elif kind in ("1", "u"):
            staged = staged or kind == "u" or not rest.startswith(".")
            path = rest.split(" ", 7 if kind == "1" else 9)[-1]
            if rest[1] == "D":
                gone.add(path)
        elif kind == "?" and not rest.endswith("/"):  # a nested repository
            path = rest
        if path and path.startswith(prefix) and not path.removeprefix(prefix).startswith(OURS):
            paths.append(path)
    return _Status(head, branch, paths, gone, staged)


def _can_add(path: Path) -> bool:
    """True if git can read the file quickly, or if the file was deleted."""
    try:
        there = path.lstat()
    except OSError:
        return True
    small = stat.S_ISREG(there.st_mode) and there.st_size <= LARGEST
    return stat.S_ISLNK(there.st_mode) or (small and os.access(path, os.R_OK))


def _without_filters(git: Git, paths: list[str]) -> list[str]:
    """Return the paths that need no filter; git's built-in conversions are fine."""
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser())
    attributes = git.values.get("core.attributesfile") or home / "git" / "attributes"
    settings = ("-c", f"core.attributesFile={attributes}")
    answer = git.ask(*settings, "check-attr", "-z", "--stdin", "filter", stdin=_listed(paths))
    parts = os.fsdecode(answer).split("\0")[:-1]
    free = {
        path
        for path, value in zip(parts[::3], parts[2::3], strict=True)
        if value in ("unspecified", "unset")
    }
    return [path for path in paths if path in free]


def _listed(paths: list[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in paths)


def _index_bytes(path: Path) -> bytes:
    try:
        return read_bytes(path)
    except FileNotFoundError:
        return b""


@contextmanager
def _new_index(git: Git, before: bytes) -> Iterator[None]:
    """Lock the user's index; after the block, it is the copy. Raises ``OSError``.

    A signal that would end this process waits until the lock is gone.
    """
    index, copy, mine = git.git_dir / "index", git.view / "index", False
    lock = index.with_name("index.lock")
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        try:
            file = fresh(lock)
        except FileExistsError:
            name = spelled_name(str(lock))
            raise OSError(f"{name} exists; delete it if no git command is running") from None
        mine = True
        with file:
            if _index_bytes(index) != before:
                raise OSError("the index changed meanwhile; the next checkpoint will commit")
            if before:
                os.fchmod(file.fileno(), index.stat().st_mode & 0o777)
            write_all(file, _index_bytes(copy))
            # Git rereads files that are as new as the index, so a later time would hide a change.
            made = copy.stat().st_mtime_ns
            os.utime(file.fileno(), ns=(made, made))
            os.fsync(file.fileno())
        yield
        lock.replace(index)
        mine = False  # from now on, a file of this name belongs to another program
    finally:
        if mine:
            lock.unlink(missing_ok=True)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
