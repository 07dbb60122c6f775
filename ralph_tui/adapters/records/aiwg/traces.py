"""Traces that a session leaves in files: its commits, and the state of a loop that ran inside it.

An agent can write both files, so their form is checked. A file older than the session is about
another session and is ignored.
"""

import math
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ralph_tui.base.plain_files import reading
from ralph_tui.layers.intelligence import InnerLoop, Traces
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.sanitize import shorten

LARGEST = 1 << 22
"""Maximum size of a file, in bytes."""
MAX_COMMITS = 200
OURS = "ralph: checkpoint iter "
"""Prefix of our own commits' subjects, used with ``context.commit_wip``."""
HIGHEST = 1_000_000
"""Maximum number of iterations that a loop can claim."""


def read_traces(attempt: Path, root: Path, iteration: int, since: datetime) -> Traces:
    """Return the traces of the session that an iteration began at `since`; blocks."""
    difference = _read(attempt / "results" / f"iter-{iteration:03}" / "snapshot-diff.json", since)
    loop = _loop(_read(root / ".aiwg" / "ralph" / "current-loop.json", since))
    if difference is None:
        return Traces(loop=loop, missing=("commits",))
    return Traces(commits=tuple(_subjects(difference.get("commits"))), loop=loop)


def _read(path: Path, since: datetime) -> dict[str, Any] | None:
    """Return the JSON object in a file written after `since`, or None."""
    try:
        with reading(path) as file:
            written = datetime.fromtimestamp(os.fstat(file.fileno()).st_mtime, UTC)
            text = file.read(LARGEST + 1)
        if written < since or len(text) > LARGEST:
            return None
        found = parse_json(text)
    except (OSError, ValueError, OverflowError):
        return None
    return found if isinstance(found, dict) else None


def _subjects(commits: object) -> list[str]:
    """Return the subjects from lines of ``<hash> <subject>``, excluding our own commits."""
    told = commits[:MAX_COMMITS] if isinstance(commits, list) else []
    subjects = [_text(each.partition(" ")[2]) for each in told if isinstance(each, str)]
    return [subject for subject in subjects if not subject.startswith(OURS)]


def _loop(state: dict[str, Any] | None) -> InnerLoop | None:
    if state is None or "currentIteration" not in state:
        return None
    end = state.get("finalResult")
    success = isinstance(end, dict) and end.get("success") is True
    return InnerLoop(
        iterations=_number(state.get("currentIteration")),
        limit=_number(state.get("maxIterations")),
        success=state.get("active") is not True
        and (success or state.get("status") in ("success", "completed")),
        words=_text(state.get("lastResult")),
    )


def _number(value: object) -> int:
    known = isinstance(value, int | float) and math.isfinite(value)
    return max(0, min(HIGHEST, int(value))) if known else 0  # type: ignore[call-overload]


def _text(value: object) -> str:
    return shorten(value, 120) if isinstance(value, str) else ""
