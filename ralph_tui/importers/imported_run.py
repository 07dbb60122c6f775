"""A run that another tool recorded, found and not read. Standard library only."""

import re
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from stat import S_ISDIR

from ralph_tui import __version__

TOOL = "aiwg"
_SAFE = re.compile(r"[A-Za-z0-9]{1,8}")
_TAIL = re.compile(r"-([0-9a-f]{8})$")


@dataclass(frozen=True)
class ImportedRun:
    """One of them, found and not read."""

    name: str
    """What the command line calls it: ``aiwg/1a2b3c4d``."""
    form: str
    """The letter of its form: which files it left, and how they hang together."""
    path: Path
    """The file that it is the run of."""
    folder: Path
    """What it left lies below it."""
    base: Path
    """No link is followed below it."""
    run_id: str = ""
    """As the tool calls it; empty where that cannot be read."""
    slug: str = ""
    """A longer name that a list of loops has for it."""
    session: str = ""
    """Of two loops in one file: the session of the one that the file is not about."""

    @property
    def imported(self) -> str:
        """What wrote it, in words."""
        return f"{TOOL}, form {self.form}"

    @property
    def changed(self) -> float:
        """When its file was written last, seconds since the epoch; 0 where it is gone."""
        try:
            return self.path.stat().st_mtime
        except OSError:
            return 0.0

    @property
    def stamp(self) -> str:
        """Differs once its file was written, or one came or went in its folder or right below."""
        stamps = [f"{__version__} {self.form}"]
        for path in (self.path, self.folder, *_beside(self.folder)):
            with suppress(OSError):
                status = path.lstat()
                size = 0 if S_ISDIR(status.st_mode) else status.st_size
                stamps.append(f"{path.name} {status.st_mtime_ns} {size}")
        return sha256("\n".join(stamps).encode("utf-8", "surrogateescape")).hexdigest()


def _beside(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError:
        return []


def named(run_id: str, path: Path) -> str:
    """``aiwg/`` and eight characters that tell the run from others: of its id, else of its path."""
    tail = _TAIL.search(run_id)
    short = tail[1] if tail else run_id[:8]
    if not _SAFE.fullmatch(short):
        short = sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{TOOL}/{short}"
