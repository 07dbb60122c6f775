"""What is left of runs that cannot be listed: the file that told of them is gone.

A run whose file is there and broken is listed, and its row says so. Standard library only: lists of
runs are quick.
"""

from collections.abc import Iterator
from pathlib import Path

from ralph_tui.importers import external, internal
from ralph_tui.importers.folder import RunFiles
from ralph_tui.importers.imported_run import TOOL
from ralph_tui.importers.state_file import STATE
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import one_line

LEFT = ("prompts", "outputs", "analysis", "iterations")
"""Folders in which an external run leaves something."""


def remains(root: Path) -> list[str]:
    """A sentence for each place of a worktree, which file is missing there."""
    base = root / ".aiwg"
    return [*_external(RunFiles(base / external.FOLDER, base)),
            *_internal(RunFiles(base / internal.FOLDER, base))]  # fmt: skip


def _external(files: RunFiles) -> Iterator[str]:
    if any(files.lies(name) for name in (STATE, f"{STATE}.bak")):
        return
    if any(files.numbers(folder, "") or files.names(folder, folders=True) for folder in LEFT):
        known = any(name.endswith(".json") for name in files.names("analytics"))
        what = "of which at most the analytics can be read" if known else "that cannot be read"
        yield _missing(external.FOLDER, what, STATE)


def _internal(files: RunFiles) -> Iterator[str]:
    told = any(name.startswith("iteration-") for name in files.names("iterations"))
    if told and not files.lies(internal.HOOK):
        yield _missing(internal.FOLDER, "that cannot be read", internal.HOOK)
    known = {run.path.parent for run in internal.find(files.base)}
    lost = [
        f"{place}/{slug}"
        for place in internal.LOOPS
        for slug in files.names(place, folders=True)
        if files.folder / place / slug not in known and files.names(f"{place}/{slug}")
    ]
    if lost:
        more = f" (and of {count(len(lost) - 1, 'other')})" if len(lost) > 1 else ""
        where = f"{internal.FOLDER}/{lost[0]}{more}"
        yield _missing(where, "that cannot be read", internal.STATE)


def _missing(folder: str, what: str, file: str) -> str:
    where = one_line(f".aiwg/{folder}")
    return f"{where} holds a run of {TOOL} {what}: its {file} is missing, put it back"
