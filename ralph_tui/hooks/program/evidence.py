"""Ask git about the worktree: changed files and lines, and a hash of the whole state.

Like all our git calls, this runs none of the repository's programs, uses no configuration except
our own and values that name no program (`git_config`), writes nothing and has a timeout. If git is
missing or slow, there is simply less evidence.
"""

import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from ralph_tui.base.git_config import ASK, COMMON, SEALED, config_of_view, entries_of, kept_settings
from ralph_tui.base.plain_files import read_bytes, write_whole
from ralph_tui.layers.context.hashes import hash_of
from ralph_tui.text.git_diff import parts_of
from ralph_tui.text.sanitize import spelled_name

LIMIT_S = 5.0
"""Timeout in seconds for all commands together; the session's other hooks wait meanwhile."""
LARGEST_DIFF = 1 << 23
LARGEST_FILE = 1 << 20
"""Maximum number of bytes read from a new file; a larger one is identified by size and time."""
MAX_FILES = 500
OURS = (".claude/", ".aiwg/", "PROMPT.md")
"""Paths that the hooks and the loop write themselves."""

_ENVIRONMENT = SEALED | {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}
_USERS = ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL")
"""Environment variables that name the user's Git configuration or hide it."""
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_LATE = "git did not answer in time"


class ChangedFile(NamedTuple):
    """A file that differs from the last commit."""

    path: str
    lines: str = ""
    """For instance ``45-120, 130``; empty for a new or deleted file."""
    added: int = 0
    removed: int = 0
    new: bool = False


class Evidence(NamedTuple):
    """Known facts about the worktree."""

    files: tuple[ChangedFile, ...] = ()
    state: str = ""
    """A hash of commit and files; empty if unknown."""
    problem: str = ""
    """Why nothing is known; otherwise empty."""


def gather(root: Path, limit_s: float = LIMIT_S) -> Evidence:
    """Collect git's evidence in at most `limit_s` seconds."""
    try:
        with opened(root, limit_s) as git:
            return _gather(git)
    except OSError as error:
        return Evidence(problem=str(error))


@contextmanager
def opened(root: Path, limit_s: float) -> Iterator["Git"]:
    """Yield git with our configuration. Raises ``OSError`` with the reason.

    All its calls together take at most `limit_s` seconds.
    """
    git = Git(root, time.monotonic() + limit_s)
    try:
        with git.sealed():
            yield git
    except FileNotFoundError:
        raise OSError("git was not found on PATH") from None
    except (ValueError, subprocess.SubprocessError) as error:
        raise OSError(str(error)) from error


def _gather(git: "Git") -> Evidence:
    head, diff = git.head, b""
    if head:
        flags = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "-U0")
        diff = git.ask("diff", *flags, "--ignore-submodules=all", head)
    listing = git.ask("ls-files", "--others", "--exclude-standard", "-z")
    parts = [
        (path, part)
        for path, part in parts_of(diff.decode("utf-8", "replace"))
        if not path.startswith(OURS)
    ]
    others = [name for name in os.fsdecode(listing).split("\0") if name]
    others = [name for name in others if not name.startswith(OURS)]
    known = [text for pair in parts for text in pair]
    for name in others[:MAX_FILES]:
        known += [name, _content_hash(git.root / name)]
    files = [_parse_change(path, part) for path, part in parts]
    files += [ChangedFile(spelled_name(name), new=True) for name in others]
    return Evidence(tuple(files[:MAX_FILES]), hash_of(head, *known, str(len(others))))


def _parse_change(path: str, part: str) -> ChangedFile:
    ranges = []
    for start, count in _HUNK.findall(part):
        first, length = int(start), int(count or 1)
        if length:
            ranges.append(f"{first}-{first + length - 1}" if length > 1 else f"{first}")
    lines = part.partition("\n@@ ")[2].split("\n")[1:]  # file names and modes come first
    return ChangedFile(
        spelled_name(path),
        ", ".join(ranges[:5]),
        sum(line.startswith("+") for line in lines),
        sum(line.startswith("-") for line in lines),
        new="\nnew file mode " in part,
    )


def _content_hash(path: Path) -> str:
    try:
        there = path.lstat()
        if there.st_size > LARGEST_FILE:
            return f"{there.st_size} {there.st_mtime_ns}"
        return hash_of(read_bytes(path, most=LARGEST_FILE).decode("latin-1"))
    except OSError as error:
        return f"{error.errno}"


class Git:
    """Git on a worktree, with a deadline."""

    def __init__(self, root: Path, deadline: float) -> None:
        self.root = root
        self._deadline = deadline
        self._environment: Mapping[str, str] = _ENVIRONMENT
        self.git_dir = self.common_dir = Path()
        self.view = Path()
        """Within `sealed`, the folder of our configuration and of a copy of the user's index."""
        self.values: Mapping[str, str] = {}
        """Values of the user's and the repository's configuration that name no program."""
        self.head = ""
        """The commit when `sealed` began; empty before the first one."""

    @contextmanager
    def sealed(self) -> Iterator[None]:
        """Within the block, make git use our configuration instead of the repository's."""
        where = self.ask(
            *("rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir"),
            *("--git-common-dir", "--revs-only", "HEAD"),
        )
        top, git_dir, common, self.head, *_ = os.fsdecode(where).split("\n")
        users = {name: os.environ.get(name) for name in _USERS}
        listed = entries_of(self.ask(*ASK, accept=(0, 1), environment=users))
        ours = ("core.attributesfile", os.devnull)  # from `SEALED`
        self.values = dict(entry for entry in listed if entry != ours)
        self.root, self.git_dir, self.common_dir = Path(top), Path(git_dir), Path(common)
        self.view = view = Path(tempfile.mkdtemp(prefix="ralph-tui-"))
        try:
            kept = kept_settings(self.values.items())
            config = config_of_view(kept, ignore_case=sys.platform == "darwin")
            write_whole(view / "config", config, durable=False)
            for name in COMMON:
                if (Path(common) / name).exists():
                    (view / name).symlink_to(Path(common) / name)
            # Git updates this index. Its mtime matters: entries as new as it count as changed.
            with suppress(FileNotFoundError):
                shutil.copy2(Path(git_dir) / "index", view / "index")
            self._environment = _ENVIRONMENT | {
                "GIT_INDEX_FILE": str(view / "index"),
                "GIT_DIR": git_dir,
                "GIT_COMMON_DIR": str(view),
                "GIT_WORK_TREE": top,
                "GIT_OBJECT_DIRECTORY": str(Path(common) / "objects"),
            }
            yield
        finally:
            shutil.rmtree(view, ignore_errors=True)

    def ask(
        self,
        *arguments: str,
        accept: tuple[int, ...] = (0,),
        stdin: bytes = b"",
        environment: Mapping[str, str | None] | None = None,
    ) -> bytes:
        """Return git's output. Raises ``OSError``, also if git fails or is too slow.

        `environment` has further variables; those without a value are left out.
        """
        inherited = {n: v for n, v in os.environ.items() if not n.startswith("GIT_")}
        variables = {**inherited, **self._environment, **(environment or {})}
        with tempfile.TemporaryFile(prefix="ralph-tui-") as given:
            given.write(stdin)
            given.seek(0)
            process = subprocess.Popen(
                ["git", "-C", str(self.root), *arguments],
                env={name: value for name, value in variables.items() if value is not None},
                stdin=given if stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        try:
            out = self._answer(process)
            status = process.wait(max(0.0, self._deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise OSError(_LATE) from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            if process.stdout is not None:
                process.stdout.close()
        if status not in accept:
            what = next(each for each in arguments if not each.startswith("-") and "=" not in each)
            raise OSError(f"git {what} failed in this folder")
        return out

    def _answer(self, process: "subprocess.Popen[bytes]") -> bytes:
        if process.stdout is None:
            return b""
        descriptor, out = process.stdout.fileno(), bytearray()
        while len(out) < LARGEST_DIFF:
            left = self._deadline - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise OSError(_LATE)
            piece = os.read(descriptor, 1 << 16)
            if not piece:
                return bytes(out)
            out += piece
        raise OSError("the output of git is too long")
