"""The common part of checkpoints and inventories: their format on disk and the ``.aiwg`` scan."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Protocol

from pydantic import BaseModel, ConfigDict, PlainSerializer
from pydantic.alias_generators import to_camel

MAX_FILES = 1_000
"""Maximum number of names per list."""
MAX_SCANNED = 20_000
"""Maximum number of files per scan of ``.aiwg``."""
OWN_FOLDERS = ("ralph", "knowledge")
"""Folders below ``.aiwg`` with files of ralph-tui."""


def stamp(moment: datetime) -> str:
    """Format a time, as in ``2026-01-18T14:30:00.000Z``."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


Timestamp = Annotated[datetime, PlainSerializer(stamp, when_used="json")]


class Camel(BaseModel):
    """A record with camelCase names on disk; unknown fields are ignored."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True
    )

    def as_json(self) -> dict[str, Any]:
        """Return the record as it is on disk, without fields that have no value."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class GitFacts(Protocol):
    """Git's status of the worktree; paths are relative to its root, and lists are limited."""

    branch: str
    commit: str
    staged: list[str]
    unstaged: list[str]
    untracked: list[str]
    changed: list[str]
    omitted: dict[str, int]


def aiwg_files(root: Path, refused: Callable[[str], None]) -> dict[str, os.stat_result]:
    """Return the files below ``.aiwg`` by relative path, without ralph-tui's own files.

    Links are not followed. `refused` is called with the reason for anything that cannot be read.
    """
    top = root / ".aiwg"
    found: dict[str, os.stat_result] = {}

    def failed(problem: OSError) -> None:
        if not (isinstance(problem, FileNotFoundError) and problem.filename == str(top)):
            refused(f"{problem.filename}: {problem.strerror}")

    for folder, folders, names in os.walk(top, onerror=failed):
        here = Path(folder)
        folders[:] = sorted(name for name in folders if not (here == top and name in OWN_FOLDERS))
        for name in sorted(names):
            if len(found) == MAX_SCANNED:
                refused(f"only {MAX_SCANNED} files in {top} were checked")
                return found
            try:
                found[(here / name).relative_to(top).as_posix()] = (here / name).lstat()
            except OSError as problem:
                failed(problem)
    return found
