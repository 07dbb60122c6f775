"""A run as each user last saw it: ``seen/<uid>/task-001-001.json``, one file per attempt.

Rule: this is only a convenience. A missing or invalid file means that nothing has been seen, and
must not make a screen fail.
"""

import os
from contextlib import suppress
from datetime import datetime
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter

from ralph_tui.adapters.records.files import write_text
from ralph_tui.adapters.records.run_status import RunStatus
from ralph_tui.base.plain_files import read_bytes
from ralph_tui.state.last_seen import LastSeen

MAX_BYTES = 10_000


@cache
def _form() -> TypeAdapter[LastSeen]:
    return TypeAdapter(LastSeen)


def read_seen(records: Path, run: str) -> LastSeen | None:
    """Return what this user last saw of a run, or None."""
    with suppress(OSError, ValueError):
        content = read_bytes(_place(records, run), most=MAX_BYTES)
        return _form().validate_json(content)
    return None


def write_seen(records: Path, run: str, seen: LastSeen) -> None:
    """Record what the user saw; a failed write is ignored."""
    with suppress(OSError):
        write_text(_place(records, run), _form().dump_json(seen).decode() + "\n", durable=False)


def seen_in(status: RunStatus, now: datetime) -> LastSeen:
    """Return what a user sees now, like `seen_of`, but from the run's status."""
    over = status["outcome"] is not None
    return LastSeen(
        run=str(status["run_id"] or ""),
        seq=int(status["seq"] or 0),
        at=now,
        iterations=len(status["completions"] or []),
        completion=status["completion"],
        passed=status["passed"],
        cost_usd=float(status["cost_usd"] or 0.0),
        denied=int(status["denied"] or 0),
        over=over,
        lost=not over and not status["alive"],
    )


def _place(records: Path, run: str) -> Path:
    return records / "seen" / str(os.getuid()) / f"{run.replace('/', '-')}.json"
