"""Commit the work of a session that hands off, if the user asked for it.

As in `evidence`, git runs none of the repository's programs: no hooks, no filters, no signature. A
file that needs a filter is left out. The new tree is made in a copy of the user's index. Then, with
the index locked as git itself locks it, the branch moves, and the copy becomes the index.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ralph_tui.base.git_config import IN_PROGRESS, entries_of
from ralph_tui.base.plain_files import fresh, read_bytes, write_all
from ralph_tui.hooks.program.call import Call
from ralph_tui.hooks.program.evidence import LIMIT_S, OURS, Git, opened
from ralph_tui.hooks.program.handoff import FIELD
from ralph_tui.layers.context.handoff import checkpoint_message
from ralph_tui.layers.context.state_file import Checkpoint
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import spelled_name

LARGEST_NEW = 10_000_000
"""Maximum number of bytes of a new file, as in the snapshots of our own runs."""
_USER = ("user.name", "user.email", "core.excludesfile", "core.attributesfile")
_ASK = ("config", "-z", "--type=path", "--get-regexp", f"^({'|'.join(_USER)})$")
_OWN = ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL")
_STATUS = (
    *("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--no-renames"),
    "--ignore-submodules=all",
)


class Committed(NamedTuple):
    """A commit that was made."""

    commit: str
    files: int
    left_out: int
    """Number of changed files that are not in it."""


class _Status(NamedTuple):
    head: str
    branch: str
    paths: list[str]
    staged: bool


def commit_checkpoint(call: Call, checkpoint: Checkpoint) -> None:
    """Make the commit of a checkpoint; report it, or why there is none."""
    wanted = call.state.get(FIELD)
    if not isinstance(wanted, dict):
        return
    named = wanted.get("left_out")
    left_out = {path for path in named if isinstance(path, str)} if isinstance(named, list) else ()
    level, percent = checkpoint.level, checkpoint.percent_at_checkpoint
    message = checkpoint_message(call.iteration, level, percent)
    try:
        with opened(call.root, LIMIT_S) as git:
            made = _commit(git, call.root, frozenset(left_out), message)
    except OSError as error:
        call.answer.warn(f"could not commit the session's work: {error}")
        return
    if made is None:
        return
    more = f"; {made.left_out} left out" if made.left_out else ""
    call.answer.user.append(f"ralph-tui: committed {count(made.files, 'file')}: {message}{more}")
    call.record("work_committed", commit=made.commit, message=message, files=made.files)


def uncommitted(root: Path) -> list[str]:
    """Return the files with changes, which no commit may contain. Raises ``OSError``."""
    with opened(root, LIMIT_S) as git:
        return _read_status(git, root, _user_values(git)).paths


def _commit(git: Git, root: Path, never: frozenset[str], message: str) -> Committed | None:
    for name, what in IN_PROGRESS.items():
        if os.path.lexists(git.git_dir / name):
            raise OSError(f"{what} is in progress; finish or abort it")
    user, before = _user_values(git), _index_bytes(git.view / "index")
    status = _read_status(git, root, user)
    if status.branch == "(detached)":
        raise OSError("no branch is checked out; check one out for the commits")
    if status.head == "(initial)":
        raise OSError("there is no commit yet; create the first one yourself")
    if status.staged:
        raise OSError("changes are staged; commit or unstage them first")
    author = _identity(user)
    paths = [path for path in status.paths if path not in never]
    paths = _without_filters(git, [path for path in paths if _is_small(git.root / path)], user)
    if not paths:
        return None
    listed = b"".join(os.fsencode(path) + b"\0" for path in paths)
    git.ask("update-index", "-z", "--add", "--remove", "--replace", "--stdin", stdin=listed)
    tree = git.ask("write-tree").decode().strip()
    made = git.ask("commit-tree", tree, "-p", status.head, "-m", message, environment=author)
    commit = made.decode().strip()
    if (logs := git.common_dir / "logs").is_dir():
        (git.view / "logs").symlink_to(logs)
    with _new_index(git, before):
        git.ask(
            *("-c", "core.logAllRefUpdates=true", "update-ref", "-m", f"commit: {message}"),
            *("HEAD", commit, status.head),
            environment=author,
        )
    return Committed(commit, len(paths), len(status.paths) - len(paths))


def _user_values(git: Git) -> dict[str, str]:
    """Return the user's own values; those of the repository come from its file, without includes.

    Asking for them starts no program.
    """
    own = {name: os.environ.get(name) for name in _OWN}
    values = {
        name: value
        for name, value in entries_of(git.ask(*_ASK, accept=(0, 1), environment=own))
        if value != os.devnull
    }
    config = ("config", "-z", "--no-includes", "--file", str(git.common_dir / "config"))
    values |= entries_of(git.ask(*config, "--get-regexp", r"^user\.(name|email)$", accept=(0, 1)))
    return values | {key: value for key, value in git.values.items() if key in _USER}


def _identity(user: Mapping[str, str]) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for who in ("AUTHOR", "COMMITTER"):
        for part in ("NAME", "EMAIL"):
            name = f"GIT_{who}_{part}"
            found[name] = os.environ.get(name) or user.get(f"user.{part.lower()}")
    if not all(found.values()):
        raise OSError(
            "git has no user name and email; set user.name and user.email with git config"
        )
    return found


def _read_status(git: Git, root: Path, user: Mapping[str, str]) -> _Status:
    """Read the status; its paths are those below the project's folder that are not our own."""
    excludes = user.get("core.excludesfile")
    settings = ("-c", f"core.excludesFile={excludes}") if excludes else ()
    entries = os.fsdecode(git.ask(*settings, *_STATUS)).split("\0")
    head = branch = ""
    paths, staged = list[str](), False
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
        elif kind == "?" and not rest.endswith("/"):  # a nested repository
            path = rest
        if path and path.startswith(prefix) and not path.removeprefix(prefix).startswith(OURS):
            paths.append(path)
    return _Status(head, branch, paths, staged)


def _is_small(path: Path) -> bool:
    try:
        return path.lstat().st_size <= LARGEST_NEW
    except OSError:
        return True  # deleted


def _without_filters(git: Git, paths: list[str], user: Mapping[str, str]) -> list[str]:
    """Return the paths whose content git stores as it is, or with conversions of its own."""
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser())
    attributes = user.get("core.attributesfile") or str(home / "git" / "attributes")
    listed = b"".join(os.fsencode(path) + b"\0" for path in paths)
    settings = ("-c", f"core.attributesFile={attributes}")
    told = git.ask(*settings, "check-attr", "-z", "--stdin", "filter", stdin=listed)
    parts = os.fsdecode(told).split("\0")[:-1]
    free = {
        path
        for path, value in zip(parts[::3], parts[2::3], strict=True)
        if value in ("unspecified", "unset")
    }
    return [path for path in paths if path in free]


def _index_bytes(path: Path) -> bytes:
    try:
        return read_bytes(path)
    except FileNotFoundError:
        return b""


@contextmanager
def _new_index(git: Git, before: bytes) -> Iterator[None]:
    """Lock the user's index; after the block, it is the copy. Raises ``OSError``."""
    index, mine = git.git_dir / "index", True
    lock = index.with_name("index.lock")
    try:
        file = fresh(lock)
    except FileExistsError:
        raise OSError(f"git is in use: {spelled_name(str(lock))} exists") from None
    try:
        with file:
            if _index_bytes(index) != before:
                raise OSError("the index changed meanwhile; the next checkpoint commits")
            if before:
                os.fchmod(file.fileno(), index.stat().st_mode & 0o777)
            write_all(file, _index_bytes(git.view / "index"))
            os.fsync(file.fileno())
        yield
        lock.replace(index)
        mine = False  # a file of this name is now another program's
    finally:
        if mine:
            lock.unlink(missing_ok=True)
