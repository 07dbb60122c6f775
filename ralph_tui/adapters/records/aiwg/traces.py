"""Traces that a session leaves in files: commits, artifacts, and loops that ran inside it.

An agent can write these files, so their format is checked. A file older than the session is about
another session and is ignored.
"""

import math
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from ralph_tui.adapters.records.aiwg.forms import MAX_FILES
from ralph_tui.base.plain_files import reading
from ralph_tui.layers.intelligence import InnerLoop, Traces
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.sanitize import shorten, spelled_name

LARGEST = 1 << 22
"""Maximum size of a file, in bytes."""
MAX_COMMITS = 200
MAX_LOOPS = 3
OURS = "ralph: checkpoint iter "
"""Prefix of our own commits' subjects, used with ``context.commit_wip``."""
HIGHEST = 1_000_000
"""Maximum number of iterations that a loop can claim."""
_LISTS = ("active_loops", "completed_loops", "archived_loops")
_LISTED = {
    "task": "task_summary",
    "status": "status",
    "currentIteration": "iteration",
    "maxIterations": "max_iterations",
    "startTime": "started_at",
}
"""Fields of a registry entry, by their names in the loop's own file."""


def read_traces(attempt: Path, root: Path, iteration: int, since: datetime) -> Traces:
    """Return the traces of the session that an iteration began at `since`; blocks."""
    difference = _read(attempt / "results" / f"iter-{iteration:03}" / "snapshot-diff.json", since)
    loops = tuple(islice(_loops(root / ".aiwg" / "ralph", root, since), MAX_LOOPS))
    if difference is None:
        return Traces(loops=loops, missing=("commits",))
    written = (difference.get(f"aiwgArtifacts{how}") for how in ("Created", "Updated"))
    return Traces(
        commits=tuple(_subjects(difference.get("commits"))),
        loops=loops,
        artifacts=tuple(path for paths in written for path in _paths(paths)),
        gone=tuple(_paths(difference.get("aiwgArtifactsDeleted"))),
    )


def _read(path: Path, since: datetime, below: Path | None = None) -> dict[str, Any] | None:
    """Return the JSON object in a file written after `since`, or None."""
    try:
        with reading(path, below=below) as file:
            written = datetime.fromtimestamp(os.fstat(file.fileno()).st_mtime, UTC)
            text = file.read(LARGEST + 1)
        if written < since or len(text) > LARGEST:
            return None
        found = parse_json(text)
    except (OSError, ValueError, OverflowError):
        return None
    return found if isinstance(found, dict) else None


def _paths(listed: object) -> list[str]:
    """Return up to `MAX_FILES` paths from a list."""
    first = listed[:MAX_FILES] if isinstance(listed, list) else []
    return [path for each in first if isinstance(each, str) and (path := spelled_name(each))]


def _subjects(commits: object) -> list[str]:
    """Return the subjects from lines of ``<hash> <subject>``, excluding our own commits."""
    lines = commits[:MAX_COMMITS] if isinstance(commits, list) else []
    subjects = [_text(each.partition(" ")[2]) for each in lines if isinstance(each, str)]
    return [subject for subject in subjects if not subject.startswith(OURS)]


def _loops(folder: Path, root: Path, since: datetime) -> Iterator[InnerLoop]:
    """Yield a hook's loop, then those of the tool's command, supplemented by its registry."""
    yield from _loop(_read(folder / "current-loop.json", since, root))
    listed = _listed(_read(folder / "registry.json", since, root) or {})
    for place in ("loops", "archive"):
        for name in _names(folder / place):
            state = _read(folder / place / name / "state.json", since, root)
            entry = listed.pop(name, {})
            if state is not None:
                yield from _loop({**entry, **{k: v for k, v in state.items() if v is not None}})
    # If a loop has no file of its own, only its start shows whether it belongs to this session.
    yield from (loop for entry in listed.values() if _began(entry, since) for loop in _loop(entry))


def _listed(registry: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the registry's loops by id, with the field names of a loop's own file."""
    lists = (found for name in _LISTS if isinstance(found := registry.get(name), list))
    return {
        entry["loop_id"]: {ours: entry.get(theirs) for ours, theirs in _LISTED.items()}
        for entries in lists
        for entry in entries[:MAX_FILES]
        if isinstance(entry, dict) and isinstance(entry.get("loop_id"), str)
    }


def _began(entry: dict[str, Any], since: datetime) -> bool:
    try:
        return datetime.fromisoformat(str(entry.get("startTime"))) >= since
    except (ValueError, TypeError):  # a time without a zone cannot be compared
        return False


def _names(folder: Path) -> list[str]:
    """Return up to `MAX_FILES` names in a folder."""
    try:
        with os.scandir(folder) as found:
            return sorted(entry.name for entry in islice(found, MAX_FILES))
    except OSError:
        return []


def _loop(state: dict[str, Any] | None) -> Iterator[InnerLoop]:
    if state is None or "currentIteration" not in state:
        return
    end, active = state.get("finalResult"), state.get("active") is True
    won = isinstance(end, dict) and end.get("success") is True
    won = won or state.get("completed") is True or state.get("status") in ("success", "completed")
    yield InnerLoop(
        iterations=_number(state.get("currentIteration")),
        limit=_number(state.get("maxIterations")),
        success=won and not active,
        words=_text(state.get("lastResult")),
        task=_text(state.get("task")),
        active=active or state.get("status") == "running",
    )


def _number(value: object) -> int:
    known = isinstance(value, int | float) and math.isfinite(value)
    return max(0, min(HIGHEST, int(value))) if known else 0  # type: ignore[call-overload]


def _text(value: object) -> str:
    return shorten(value, 120) if isinstance(value, str) else ""
