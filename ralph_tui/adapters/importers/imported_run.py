"""A run that another tool recorded, found and not read. Standard library only."""

import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

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


def named(run_id: str, path: Path) -> str:
    """``aiwg/`` and eight characters that tell the run from others: of its id, else of its path."""
    tail = _TAIL.search(run_id)
    short = tail[1] if tail else run_id[:8]
    if not _SAFE.fullmatch(short):
        short = sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{TOOL}/{short}"
