"""Where a loop's tree lies on a host, and what stands beside it.

BASE/FLEET_ID/2-1/tree        what the agent works in, of loop 2, attempt 1
BASE/FLEET_ID/2-1/place.json  the order that it was made for, and how far it got
BASE/FLEET_ID/2-1/*.log       what the set-up command, the check and the run have printed
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
"""Of a fleet and of a loop, as parts of a path."""
HOME_FILE = "home-id"
"""In a folder of trees: its name, which hosts tell the fleet."""
_HOME = re.compile(r"[0-9a-f]{32}")
WORKER_LOCK = "worker-lock"
"""In the folder of trees of a worker, which holds it while it is there."""
_RUN = re.compile(r"task-\d{1,9}/\d{1,9}")


class PlaceRecord(BaseModel):
    """What is known of a tree when the process that made it is gone."""

    model_config = ConfigDict(frozen=True)

    place: Place
    """Without the content of copied files."""
    branch: str = ""
    """What is checked out in it; another name than was asked for where that one was taken.

    Empty: it was not made to its end.
    """
    worktree: bool = False
    """It is a worktree of the user's repository, or was to be one."""
    ready: bool = False
    """It is whole, and a run can begin in it."""
    of_setup: tuple[str, ...] = ()
    """What the set-up command has left untracked: it is no work of the loop."""
    run: str = ""
    """Task and attempt of the run that began in it."""
    run_id: str = ""
    """Its id."""
    ports: tuple[int, int] | None = None
    """Those it was given."""


@dataclass(frozen=True)
class TreeFolder:
    """The folder of one attempt of a loop on this host."""

    folder: Path
    loop: str
    attempt: int

    @classmethod
    def of(cls, base: Path, fleet_id: str, loop: str, attempt: int) -> "TreeFolder":
        """Raises ``WorkspaceError`` for a name that is no part of a path."""
        return cls(fleet_folder(base, fleet_id) / f"{_checked(loop)}-{attempt}", loop, attempt)

    @property
    def tree(self) -> Path:
        """What the agent works in."""
        return self.folder / "tree"

    def log(self, name: str) -> Path:
        """Of the set-up command, the check, the run."""
        return self.folder / f"{name}.log"

    def attempt_folder(self, run: str) -> Path | None:
        """The records of a run, by task and attempt; None for what names none."""
        if not _RUN.fullmatch(run):
            return None
        task, _, number = run.partition("/")
        return ralph_folder(self.tree) / "tasks" / task / "attempts" / number

    def create(self) -> None:
        """Make it, empty: an earlier one of the same name was never ready."""
        self.remove()
        try:
            make_folder(self.folder)
        except OSError as error:
            raise _refused(self.folder, error) from error

    def read(self) -> PlaceRecord | None:
        """What stands beside the tree; None where there is none, or `unreadable` says why not."""
        with suppress(OSError, ValueError):
            return self._read()
        return None

    def unreadable(self) -> str:
        """Why what stands beside the tree cannot be read, and what to do; empty: it can, or is not
        there.
        """
        path = one_line(str(self.folder / PLACE_FILE))
        try:
            self._read()
        except FileNotFoundError:
            return ""
        except OSError as error:
            return f"{path} cannot be read: {why(error, 'make it readable')}"
        except ValueError:
            return (
                f"{path} is damaged: take what you need from the tree beside it, and remove its "
                "folder yourself"
            )
        return ""

    def _read(self) -> PlaceRecord:
        record = PlaceRecord.model_validate_json(read_bytes(self.folder / PLACE_FILE))
        if (record.place.loop.id, record.place.attempt) != (self.loop, self.attempt):
            raise ValueError("it is of another loop")
        return record

    def write(self, record: PlaceRecord) -> PlaceRecord:
        """Keep it; gives it back. Raises ``WorkspaceError``."""
        shown = record.model_copy(update={"place": _without_secrets(record.place)})
        try:
            write_json(self.folder / PLACE_FILE, shown.model_dump(mode="json"))
        except OSError as error:
            raise _refused(self.folder, error) from error
        return record

    def remove(self) -> None:
        """Take all of it away; ``WorkspaceError`` where something of it stays."""
        remove_folder(self.folder)


def fleet_folder(base: Path, fleet_id: str) -> Path:
    """What this host keeps of a fleet; raises ``WorkspaceError`` for what is no part of a path."""
    return base / _checked(fleet_id)


def home_of(base: Path) -> str:
    """The name of a folder of trees: it stays the same there, and is nowhere else.

    Raises ``WorkspaceError`` where it cannot be kept or read: the loops of a fleet would wait for
    the host that has their trees, and not know that it is this one.
    """
    path = base / HOME_FILE
    try:
        make_folder(base)
        with suppress(FileExistsError):
            put_new(path, uuid4().hex.encode(), mode=0o600)
        name = read_bytes(path).decode("utf-8", "replace").strip()
    except OSError as error:
        what = why(error, "make it readable")
        sentence = f"cannot read {one_line(str(path))}, which tells whose trees are there: {what}"
        raise workspace_error(sentence, error) from error
    if not _HOME.fullmatch(name):
        raise WorkspaceError(
            f"{one_line(str(path))}, which tells whose trees are there, is damaged: remove it, "
            "and ralph-tui makes another one, or says what belongs in it"
        )
    return name


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise WorkspaceError(
            f"{one_line(name)!r} is no name of a fleet or a loop: it has letters, digits, dots, "
            "dashes and underscores"
        )
    return name


def found_in(base: Path, fleet_id: str) -> Iterator[TreeFolder]:
    """The folders of a fleet's loops on this host."""
    if not _NAME.fullmatch(fleet_id):
        return
    with suppress(OSError):
        for folder in sorted((base / fleet_id).iterdir()):
            loop, _, attempt = folder.name.rpartition("-")
            if _NAME.fullmatch(loop) and attempt.isdecimal() and _has_place(folder):
                yield TreeFolder(folder, loop, int(attempt))


def _has_place(folder: Path) -> bool:
    """Whether anything is called so there; also where the system does not say."""
    try:
        (folder / PLACE_FILE).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except PermissionError:
        pass
    return True


def fleets_in(base: Path) -> list[str]:
    """The ids of the fleets that something of is kept here."""
    with suppress(OSError):
        return sorted(path.name for path in base.iterdir() if path.is_dir())
    return []


def remove_folder(folder: Path) -> None:
    """Take all of it away; ``WorkspaceError`` where something of it stays.

    A link is taken away itself: where it leads is none of ours.
    """
    try:
        if folder.is_symlink():
            folder.unlink()
            return
        shutil.rmtree(folder, onerror=_again)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _refused(folder, error) from error


def size_of(folder: Path) -> int:
    """Bytes that go with it, as far as they can be counted: not those of files linked elsewhere."""
    total = 0
    for above, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                there = Path(above, name).lstat()
                total += there.st_blocks * 512 if there.st_nlink == 1 else 0
    return total


def _without_secrets(place: Place) -> Place:
    return place.model_copy(update={"copied": dict.fromkeys(place.copied, "")})


def _again(call: Any, path: str, _: Any) -> None:
    """Of a folder that may not be written to: its owner can say that it may."""
    Path(path).parent.chmod(0o700)
    with suppress(NotADirectoryError, FileNotFoundError):
        Path(path).chmod(0o700)
    if call is not os.open:
        call(path)
        return
    with os.scandir(path):  # raises where that was in vain
        pass
    shutil.rmtree(path, onerror=_again)


def _refused(folder: Path, error: OSError) -> WorkspaceError:
    where = one_line(str(error.filename or folder))
    return workspace_error(f"cannot write {where}: {why(error, 'make it writable')}", error)


def usual_base() -> Path:
    """Where trees lie when nobody names a folder: never inside of a repository."""
    return user_state_path("ralph-tui", appauthor=False) / "fleets"
