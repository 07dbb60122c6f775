"""What checkpoints and inventories have in common: the form on disk, and the look at ``.aiwg``."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Protocol

from pydantic import BaseModel, ConfigDict, PlainSerializer
from pydantic.alias_generators import to_camel

MOST_FILES = 1_000
"""Names in one list."""
MOST_SCANNED = 20_000
"""Files below ``.aiwg`` that one look goes through."""


def stamp(moment: datetime) -> str:
    """``2026-01-18T14:30:00.000Z``."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


Timestamp = Annotated[datetime, PlainSerializer(stamp, when_used="json")]


class Camel(BaseModel):
    """A record whose names on disk are camelCase; foreign fields are ignored."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True
    )

    def as_json(self) -> dict[str, Any]:
        """As it is on disk; what is None is left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class GitFacts(Protocol):
    """What git says of the worktree; paths relative to its root, a bounded number in each list."""

    branch: str
    commit: str
    staged: list[str]
    unstaged: list[str]
    untracked: list[str]
    omitted: dict[str, int]


def aiwg_files(root: Path, refused: Callable[[str], None]) -> dict[str, os.stat_result]:
    """Files below ``.aiwg`` by path relative to it, without ralph-tui's own; no link is followed.

    `refused` is told why something could not be looked at.
    """
    top = root / ".aiwg"
    found: dict[str, os.stat_result] = {}

    def failed(problem: OSError) -> None:
        if not (isinstance(problem, FileNotFoundError) and problem.filename == str(top)):
            refused(f"{problem.filename}: {problem.strerror}")

    for folder, folders, names in os.walk(top, onerror=failed):
        here = Path(folder)
        folders[:] = sorted(name for name in folders if not (here == top and name == "ralph"))
        for name in sorted(names):
            if len(found) == MOST_SCANNED:
                refused(f"only {MOST_SCANNED} files of {top} were looked at")
                return found
            try:
                found[(here / name).relative_to(top).as_posix()] = (here / name).lstat()
            except OSError as problem:
                failed(problem)
    return found
