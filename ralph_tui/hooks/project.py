"""The hooks' parts of a project: its folder, the loop's state file, the copy of the program.

All of it is inside the project, even if symbolic links are involved.
"""

import glob
import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from ralph_tui.base.errors import RalphError, UsageError, why
from ralph_tui.base.file_lock import locked
from ralph_tui.base.plain_files import make_folder, read_bytes, write_whole
from ralph_tui.hooks.program.store import ASIDE
from ralph_tui.layers.context import state_file
from ralph_tui.layers.context.state_file import State
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.sanitize import clip, one_line

FOLDER = ".claude/hooks/ralph-tui"
"""Folder of the program's copy, relative to the project."""
LIST = "installed.json"
"""List of the copied files, in the same folder."""
FILES = (
    "__init__.py",
    "base/__init__.py",
    "base/errors.py",
    "base/file_lock.py",
    "base/git_config.py",
    "base/plain_files.py",
    "hooks/__init__.py",
    "layers/__init__.py",
    "layers/context/__init__.py",
    "layers/context/handoff.py",
    "layers/context/hashes.py",
    "layers/context/levels.py",
    "layers/context/resume.py",
    "layers/context/state_file.py",
    "layers/context/work.py",
    "layers/sensor/plan.py",
    "text/__init__.py",
    "text/foreign_json.py",
    "text/format.py",
    "text/git_diff.py",
    "text/json_fields.py",
    "text/quoting.py",
    "text/sanitize.py",
    "text/terms.py",
)
"""Shared modules that are copied, relative to this package.

They keep their names in the copy, so one implementation serves both.
"""
PATTERNS = ("hooks/program/*.py", "text/secrets/*.*")
"""Patterns of further files that are copied."""
_EMPTY = ("layers/sensor/__init__.py",)
"""Packages that get an empty ``__init__``, because their own would import more."""
VARIABLE = "RALPH_STATE_FILE"


def project_root(folder: Path) -> Path:
    """Return the project's folder, with links resolved.

    Raises ``UsageError`` if it does not exist, and for the home folder, whose settings apply to
    every project.
    """
    try:
        root = folder.resolve(strict=True)
        home = Path.home().resolve()
    except (OSError, RuntimeError) as error:
        raise UsageError(
            f"there is no folder {one_line(str(folder))}: name the project with --folder"
        ) from error
    if not root.is_dir():
        raise UsageError(f"{one_line(str(folder))} is not a folder; pass the project with --folder")
    if root == home:
        raise UsageError(
            "this is your home folder, and its .claude/settings.json applies to every "
            "project; go to a project, or pass one with --folder"
        )
    return root


def resolve_inside(root: Path, name: str) -> Path:
    """Return a path in the project, with links resolved; raise ``RalphError`` if it is outside."""
    try:
        path = (root / name).resolve()
    except (OSError, RuntimeError) as error:
        raise RalphError(
            f"{name} is a link that leads nowhere: nothing was changed; "
            "correct the link, or remove it"
        ) from error
    if not path.is_relative_to(root):
        raise RalphError(
            f"{name} points outside the project, to {one_line(str(path))}: nothing was changed; "
            "replace it with a file inside the project"
        )
    return path


def backup_path(path: Path, now: datetime) -> Path:
    """Return the name for a backup of a file."""
    return path.with_name(f"{path.name}.{now.astimezone(UTC):%Y%m%dT%H%M%S%fZ}.bak")


@contextmanager
def convert_errors(name: str, doing: str) -> Iterator[None]:
    """Turn a system error into a ``RalphError`` that says what failed, and for which file."""
    try:
        yield
    except OSError as error:
        raise RalphError(f"cannot {doing} {name}: {why(error, 'check its permissions')}") from error


@dataclass(frozen=True)
class LoopFile:
    """The state file of a loop whose sessions ralph-tui does not start, as it was read.

    Without it the hooks do nothing. While a loop runs, the file belongs to its sessions and is
    never replaced.
    """

    root: Path
    name: str
    """Name for display."""
    path: Path
    content: bytes | None

    @classmethod
    def of(cls, root: Path, environ: Mapping[str, str]) -> "LoopFile":
        """Read the file. Raises ``RalphError`` if it is unreadable or outside the project."""
        name = environ.get(VARIABLE) or f".claude/{state_file.NAME}"
        path = Path(name) if Path(name).is_absolute() else resolve_inside(root, name)
        shown = one_line(name)
        with convert_errors(shown, "read"):
            try:
                return cls(root, shown, path, read_bytes(path))
            except FileNotFoundError:
                return cls(root, shown, path, None)

    @property
    def state(self) -> State | None:
        """The parsed state; None if the file is missing or invalid."""
        try:
            return None if self.content is None else state_file.parse(self.content).state
        except ValueError:
            return None

    @property
    def running(self) -> State | None:
        """State of a loop that is not over, else None."""
        state = self.state
        return None if state is None or state_file.has_ended(state) else state

    def words(self, *, installed: bool) -> str:
        """Describe whether the hooks are active here, in a sentence without its full stop."""
        state = self.state
        if self.content is None:
            return (
                f"the hooks do nothing yet: they need {self.name}, which "
                "'ralph-tui hooks install --objective TEXT' creates"
            )
        if state is None:
            return f"{self.name} is not a state file; the hooks move it aside and do nothing"
        task = clip(one_line(state["objective"]), 80)
        if state_file.has_ended(state):
            return (
                f"the loop of {self.name} has ended ({one_line(state['status'])}): {task}; "
                "'ralph-tui hooks install --objective TEXT' starts another"
            )
        if not installed:
            return (
                f"{self.name} exists, but no hooks are installed; "
                "'ralph-tui hooks install' installs them"
            )
        at = f"iteration {state['iteration']} of {state['max_iterations']}"
        return f"the hooks are active, according to {self.name}: {at}, {task}"

    @property
    def set_aside(self) -> list[Path]:
        """Invalid state files that were moved aside, oldest first."""
        return sorted(self.path.parent.glob(f"{glob.escape(self.path.name)}.*{ASIDE}"))

    def clear_lock(self) -> None:
        """Remove the lock file if no process holds it."""
        lock = self._lock
        with suppress(OSError):
            if lock.exists():
                with locked(lock, 0):
                    lock.unlink()

    @property
    def _lock(self) -> Path:
        return self.path.with_name(f".{self.path.name}.lock")

    def refuse_running(self) -> None:
        """Raise ``RalphError`` if a loop runs or the file is invalid."""
        state = self.state
        if self.content is not None and (state is None or not state_file.has_ended(state)):
            what = "already runs a loop" if state is not None else "exists but holds no loop"
            raise RalphError(
                f"{self.name} {what}; nothing was changed; move the file away to start over"
            )

    def begin(self, state: State, now: datetime) -> Path | None:
        """Write a new state; return the backup of an earlier one, if any. Raises ``RalphError``."""
        with convert_errors(self.name, "write"), locked(self._lock):
            there = read_bytes(self.path) if self.path.exists() else None
            if there != self.content:
                raise RalphError(
                    f"{self.name} changed in the meantime and was not "
                    "replaced; run the command again"
                )
            kept: Path | None = None
            if there is not None:
                kept = backup_path(self.path, now)
                write_whole(kept, there)
            write_whole(self.path, state_file.content_of(state))
        return kept


@dataclass(frozen=True)
class CopyStatus:
    """How the copy differs from the program in this version of ralph-tui."""

    there: bool
    version: str
    """Version that made the copy; empty if unknown."""
    missing: list[str] = field(default_factory=list)
    older: list[str] = field(default_factory=list)
    """Files from another version, or no longer needed."""
    edited: list[str] = field(default_factory=list)
    """Files that the user has changed since."""

    @property
    def current(self) -> bool:
        """True if the copy is up to date."""
        return not (self.missing or self.older or self.edited)


class Program:
    """The files of the program, and their copy in one project.

    Files that differ from the copy's list were changed by the user. They are saved under dated
    names before another version replaces them.
    """

    def __init__(self, root: Path, files: Mapping[str, bytes], version: str) -> None:
        """`files` has the contents by path, relative to the folder of the copy.

        Raises ``RalphError`` if a link leads outside the project.
        """
        self.root = root
        self.folder = resolve_inside(root, FOLDER)
        self.files = dict(files)
        self.version = version

    def copy_status(self) -> CopyStatus:
        """Compare the copy with the program. Raises ``RalphError`` if it cannot be read."""
        with convert_errors(FOLDER, "read"):
            version, copied = self._list()
            copy_status = CopyStatus(there=self.folder.is_dir(), version=version)
            for name in sorted({*self.files, *copied}):
                content = self._content(name)
                if content == self.files.get(name):
                    continue
                if content is None:
                    copy_status.missing.append(name)
                elif _hash(content) == copied.get(name):
                    copy_status.older.append(name)
                else:
                    copy_status.edited.append(name)
        return copy_status

    def install(self, now: datetime) -> list[Path]:
        """Copy the program; return the backups of changed files. Raises ``RalphError``."""
        copy_status = self.copy_status()
        with convert_errors(FOLDER, "write to"):
            make_folder(self.folder, below=self.root)
            kept = [self._keep(name, now) for name in copy_status.edited]
            for name in (*copy_status.missing, *copy_status.older, *copy_status.edited):
                path = self.folder / name
                if name in self.files:
                    make_folder(path.parent, below=self.root)
                    write_whole(path, self.files[name], below=self.root)
                elif name in copy_status.older:
                    path.unlink()
            hashes = {name: _hash(content) for name, content in sorted(self.files.items())}
            words = json.dumps({"ralph_tui": self.version, "files": hashes}, indent=2)
            if self._content(LIST) != f"{words}\n".encode():
                write_whole(self.folder / LIST, f"{words}\n".encode(), below=self.root)
        return kept

    def remove(self, now: datetime) -> list[Path]:
        """Remove the copy; return the backups of changed files. Raises ``RalphError``."""
        copy_status = self.copy_status()
        with convert_errors(FOLDER, "remove"):
            kept = [self._keep(name, now) for name in copy_status.edited]
            _, copied = self._list()
            for name in (*{*self.files, *copied}, LIST):
                (self.folder / name).unlink(missing_ok=True)
            self._clear()
        return kept

    def _clear(self) -> None:
        """Remove Python's cache files, and folders that are then empty."""
        for path in self.folder.rglob("__pycache__/*.pyc"):
            path.unlink(missing_ok=True)
        folders = sorted((p for p in self.folder.rglob("*") if p.is_dir()), reverse=True)
        for folder in (*folders, self.folder, self.folder.parent, self.folder.parent.parent):
            with suppress(OSError):  # it is not empty
                folder.rmdir()

    def _keep(self, name: str, now: datetime) -> Path:
        path = self.folder / name
        return path.rename(backup_path(path, now))

    def _content(self, name: str) -> bytes | None:
        try:
            return read_bytes(self.folder / name, below=self.root)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _list(self) -> tuple[str, dict[str, str]]:
        """Return the version and hashes in the list; empty if it is missing or invalid."""
        found = self._content(LIST)
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            listed = parse_json(found or b"")
            return str(listed["ralph_tui"]), dict(_safe_entries(listed["files"]))
        return "", {}


def _safe_entries(files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield only names inside the folder, because the list is untrusted."""
    for name, digest in files.items():
        parts = PurePosixPath(name).parts
        if parts and ".." not in parts and not name.startswith("/") and "\0" not in name:
            yield name, digest


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def read_program() -> dict[str, bytes]:
    """Return the program's files by their paths in its folder. Raises ``OSError``.

    The program runs as ``python3 -I -S FOLDER post-tool-use``, or with ``stop``.
    """
    package = Path(__file__).parents[1]
    paths = [
        *(package / name for name in FILES),
        *(p for each in PATTERNS for p in package.glob(each)),
    ]
    found = {f"ralph_tui/{path.relative_to(package)}": path.read_bytes() for path in paths}
    found |= {f"ralph_tui/{name}": b"" for name in _EMPTY}
    found["__main__.py"] = found["ralph_tui/hooks/program/__main__.py"]
    found[".gitignore"] = b"__pycache__/\n"
    return found
