"""What a session left behind in files: commits, and the state of a loop that ran inside of it.

Both files can be written by an agent: nothing in them is trusted to have its form, and one that is
older than the session tells of another.
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
"""Bytes of a file that is read."""
MOST_COMMITS = 200
OURS = "ralph: checkpoint iter "
"""So begin the subjects of our own commits, with ``context.commit_wip``."""
HIGHEST = 1_000_000
"""Iterations that a loop can claim."""


def read_traces(attempt: Path, root: Path, iteration: int, since: datetime) -> Traces:
    """What came of the session of an iteration that began at `since`; blocks."""
    difference = _read(attempt / "results" / f"iter-{iteration:03}" / "snapshot-diff.json", since)
    loop = _loop(_read(root / ".aiwg" / "ralph" / "current-loop.json", since))
    if difference is None:
        return Traces(loop=loop, missing=("commits",))
    return Traces(commits=tuple(_subjects(difference.get("commits"))), loop=loop)


def _read(path: Path, since: datetime) -> dict[str, Any] | None:
    """The object in a file that was written since then; None where there is none to be read."""
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
    """``<hash> <subject>`` without the hash."""
    told = commits[:MOST_COMMITS] if isinstance(commits, list) else []
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
