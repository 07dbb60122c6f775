"""The status of a run, as its file says, checked against the lock: a dead run is not 'running'."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ralph_tui.errors import JournalError
from ralph_tui.records.lock import holder
from ralph_tui.records.runs import RecordedRun

STATUS_VERSION = 2


def read_status(run: RecordedRun) -> dict[str, Any]:
    """The fields of `state.summary`, with `alive`: whether a process still works on the run.

    The projection is enough while it is whole; without it the journal is folded.
    """
    status = _projection(run.status) or _folded(run)
    owner = holder(run.lock) if status["outcome"] is None else None
    alive = owner is not None and owner.run_id == status["run_id"]
    status["alive"] = alive
    status["run"] = status["run"] or run.name
    status["journal"] = str(run.journal)
    if status["outcome"] is None and not alive:
        status["phase"] = "died"
        # Written once a second while it lived: better than its last event, which may be hours old.
        with suppress(OSError):
            written = datetime.fromtimestamp(run.status.stat().st_mtime, UTC)
            status["updated"] = written.isoformat(timespec="seconds")
        status["reason"] = "its process is gone; ralph-tui resume goes on with it"
    return status


def _projection(path: Path) -> dict[str, Any] | None:
    try:
        status = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    ours = isinstance(status, dict) and status.get("version") == STATUS_VERSION
    return status if ours and status.get("run_id") and "outcome" in status else None


def _folded(run: RecordedRun) -> dict[str, Any]:
    from ralph_tui.records.journal import read_journal  # noqa: PLC0415  folding is the rare case
    from ralph_tui.state import RunState  # noqa: PLC0415
    from ralph_tui.state.summary import summarize  # noqa: PLC0415

    recording = read_journal(run.journal)
    if not recording.events:
        raise JournalError(f"the journal {run.journal} is empty; the run never began")
    return summarize(RunState().apply_all(recording.events))
