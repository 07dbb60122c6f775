"""Folders of a loop's worktree on a host.

BASE/FLEET_ID/2-1/tree        the agent's worktree of loop 2, attempt 1
BASE/FLEET_ID/2-1/place.json  the order for it and its progress
BASE/FLEET_ID/2-1/*.log       output of the set-up command, the check and the run
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from platformdirs import user_state_path
from pydantic import BaseModel, ConfigDict

from ralph_tui.adapters.records.files import write_json
from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.adapters.records.runs import PLACE_FILE
from ralph_tui.base.errors import WorkspaceError, why, workspace_error
from ralph_tui.base.plain_files import make_folder, put_new, read_bytes
from ralph_tui.ports.clones import Place
from ralph_tui.text.sanitize import one_line

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
"""Matches names of fleets and loops, which become parts of a path."""
HOME_FILE = "home-id"
"""File in a base folder that contains the folder's id, which hosts report to the fleet."""
_HOME = re.compile(r"[0-9a-f]{32}")
WORKER_LOCK = "worker-lock"
"""File in a worker's base folder, locked while the worker is running."""
_RUN = re.compile(r"task-\d{1,9}/\d{1,9}")


class PlaceRecord(BaseModel):
    """Facts about a worktree that outlive the process that made it."""

    model_config = ConfigDict(frozen=True)

    place: Place
    """The order, without the content of copied files."""
    branch: str = ""
    """The checked-out branch, which differs from the one in the order if that name was taken.

    Empty if the creation did not finish.
    """
    worktree: bool = False
    """True if it is, or was to be, a worktree of the user's repository."""
    ready: bool = False
    """True if it is complete and a run can begin in it."""
    of_setup: tuple[str, ...] = ()
    """Untracked files from the set-up command, which are not the loop's work."""
    run: str = ""
    """Task and attempt of the run that began in it."""
    run_id: str = ""
    ports: tuple[int, int] | None = None
    """The ports reserved for it."""


@dataclass(frozen=True)
class TreeFolder:
    """The folder of one attempt of a loop on this host."""

    folder: Path
    loop: str
    attempt: int

    @classmethod
    def of(cls, base: Path, fleet_id: str, loop: str, attempt: int) -> "TreeFolder":
        """Return the folder. Raises ``WorkspaceError`` for a name that cannot be part of a path."""
        return cls(fleet_folder(base, fleet_id) / f"{_checked(loop)}-{attempt}", loop, attempt)

    @property
    def tree(self) -> Path:
        """The worktree that the agent works in."""
        return self.folder / "tree"

    def log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def attempt_folder(self, run: str) -> Path | None:
        """Return the records of a run, named by task and attempt; None for any other name."""
        if not _RUN.fullmatch(run):
            return None
        task, _, number = run.partition("/")
        return ralph_folder(self.tree) / "tasks" / task / "attempts" / number

    def create(self) -> None:
        """Create an empty folder; an earlier one with the same name was never ready."""
        self.remove()
        try:
            make_folder(self.folder)
        except OSError as error:
            raise _refused(self.folder, error) from error

    def read(self) -> PlaceRecord | None:
        """Return the record next to the worktree; None if there is none, or `unreadable`."""
        with suppress(OSError, ValueError):
            return self._read()
        return None

    def unreadable(self) -> str:
        """Return why the record cannot be read and what to do; empty if it can, or is missing."""
        path = one_line(str(self.folder / PLACE_FILE))
        try:
            self._read()
        except FileNotFoundError:
            return ""
        except OSError as error:
            return f"{path} cannot be read: {why(error, 'make it readable')}"
        except ValueError:
            return (
                f"{path} is damaged; save what you need from the clone beside it, then delete "
                "its folder"
            )
        return ""

    def _read(self) -> PlaceRecord:
        record = PlaceRecord.model_validate_json(read_bytes(self.folder / PLACE_FILE))
        if (record.place.loop.id, record.place.attempt) != (self.loop, self.attempt):
            raise ValueError("it belongs to another loop")
        return record

    def write(self, record: PlaceRecord) -> PlaceRecord:
        """Write the record and return it. Raises ``WorkspaceError``."""
        shown = record.model_copy(update={"place": _without_secrets(record.place)})
        try:
            write_json(self.folder / PLACE_FILE, shown.model_dump(mode="json"))
        except OSError as error:
            raise _refused(self.folder, error) from error
        return record

    def remove(self) -> None:
        """Remove the folder. Raises ``WorkspaceError`` if anything remains."""
        remove_folder(self.folder)


def fleet_folder(base: Path, fleet_id: str) -> Path:
    """Return this host's folder for a fleet. Raises ``WorkspaceError`` for an invalid id."""
    return base / _checked(fleet_id)


def home_of(base: Path) -> str:
    """Return the permanent, unique id of a base folder.

    Raises ``WorkspaceError`` if it cannot be saved or read, because a fleet's loops would then wait
    for the host with their clones without recognising this one.
    """
    path = base / HOME_FILE
    try:
        make_folder(base)
        with suppress(FileExistsError):
            put_new(path, uuid4().hex.encode(), mode=0o600)
        name = read_bytes(path).decode("utf-8", "replace").strip()
    except OSError as error:
        what = why(error, "make it readable")
        sentence = f"cannot read {one_line(str(path))}, the id of this folder of clones: {what}"
        raise workspace_error(sentence, error) from error
    if not _HOME.fullmatch(name):
        raise WorkspaceError(
            f"{one_line(str(path))}, the id of this folder of clones, is damaged; delete it, and "
            "ralph-tui creates it again or reports what it needs"
        )
    return name


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise WorkspaceError(
            f"{one_line(name)!r} is not a valid fleet or loop name; use letters, digits, dots, "
            "dashes and underscores"
        )
    return name


def loop_folders(base: Path, fleet_id: str) -> Iterator[TreeFolder]:
    """Yield the folders of a fleet's loops on this host."""
    if not _NAME.fullmatch(fleet_id):
        return
    with suppress(OSError):
        for folder in sorted((base / fleet_id).iterdir()):
            loop, _, attempt = folder.name.rpartition("-")
            if _NAME.fullmatch(loop) and attempt.isdecimal() and _has_place(folder):
                yield TreeFolder(folder, loop, int(attempt))


def _has_place(folder: Path) -> bool:
    """True if the file exists, or if the system does not reveal whether it does."""
    try:
        (folder / PLACE_FILE).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except PermissionError:
        pass
    return True


def fleets_in(base: Path) -> list[str]:
    """Return the ids of the fleets with a folder here."""
    with suppress(OSError):
        return sorted(path.name for path in base.iterdir() if path.is_dir())
    return []


def remove_folder(folder: Path) -> None:
    """Remove a folder. Raises ``WorkspaceError`` if anything remains.

    A symbolic link itself is removed, because its target is not ours.
    """
    try:
        if folder.is_symlink():
            folder.unlink()
            return
        shutil.rmtree(folder, onerror=_retry_writable)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _refused(folder, error) from error


def size_of(folder: Path) -> int:
    """Return the bytes that removing `folder` would free, excluding files linked elsewhere."""
    total = 0
    for above, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                there = Path(above, name).lstat()
                total += there.st_blocks * 512 if there.st_nlink == 1 else 0
    return total


def _without_secrets(place: Place) -> Place:
    return place.model_copy(update={"copied": dict.fromkeys(place.copied, "")})


def _retry_writable(call: Any, path: str, _: Any) -> None:
    """Make a read-only folder writable, as its owner is allowed to, and retry."""
    Path(path).parent.chmod(0o700)
    with suppress(NotADirectoryError, FileNotFoundError):
        Path(path).chmod(0o700)
    if call is not os.open:
        call(path)
        return
    with os.scandir(path):  # raises if that did not help
        pass
    shutil.rmtree(path, onerror=_retry_writable)


def _refused(folder: Path, error: OSError) -> WorkspaceError:
    where = one_line(str(error.filename or folder))
    return workspace_error(f"cannot write {where}: {why(error, 'make it writable')}", error)


def usual_base() -> Path:
    """Return the default folder for worktrees, which is never inside a repository."""
    return user_state_path("ralph-tui", appauthor=False) / "fleets"
