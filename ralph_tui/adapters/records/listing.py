"""The runs of a worktree as rows of a list, newest first.

Rule: a row needs only one small file, the run's status, so that ten thousand rows load in a moment.
No journal is read completely. The agent can write to that file, so each value is checked, and
invalid ones are left out.
"""

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from ralph_tui.adapters.records.files import read_json
from ralph_tui.adapters.records.folders import from_here, number_of, ralph_folder
from ralph_tui.adapters.records.lock import Owner, worker
from ralph_tui.adapters.records.runs import HOOKED, SILENCE_S, RecordedRun
from ralph_tui.adapters.records.status import phase_without_end
from ralph_tui.base.errors import WorkspaceError, why
from ralph_tui.base.plain_files import reading
from ralph_tui.ports.runs import RunRow
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.sanitize import clip, one_line

__all__ = [
    "ListedRun",
    "RunRow",
    "active_owner",
    "list_rows",
    "list_runs",
    "newest_first",
    "row_of",
]

OBJECTIVE = 300
"""Maximum length of an objective in a row, in characters."""
COMPLETIONS = 200
"""Maximum number of measurements in a row; the latest are kept."""
ROW_BYTES = 4 << 20
"""Maximum size in bytes of a row's file; ours are small, and ten thousand are read at once."""
_EDGE = 1 << 16
"""Bytes to read at each end of a journal if there is no smaller file to read."""
_ENDINGS = ("run_finished", "run_crashed", "run_resumed")
"""Events that end a run or undo its end."""
_SESSION_EDGES = ("session_started", "session_finished")
_EARLIEST = datetime.fromtimestamp(0, UTC)


class ListedRun(NamedTuple):
    """A run that has been found but not read."""

    written: float
    """When the run was last recorded, in seconds since the epoch."""
    name: str
    """Like `RecordedRun.name`."""
    journal: str

    @property
    def run(self) -> RecordedRun:
        return RecordedRun(Path(self.journal))


def newest_first(rows: Iterable[RunRow]) -> list[RunRow]:
    """Return live runs first, then the others, most recently recorded first."""
    return sorted(rows, key=lambda row: (row.live, row.updated or _EARLIEST), reverse=True)


def list_rows(root: Path) -> list[RunRow]:
    """Return our runs and the loops recorded by hooks, newest first. Raises ``WorkspaceError``."""
    owner = active_owner(root)
    return newest_first(row_of(listed.run, owner) for listed in list_runs(root))


def list_runs(root: Path, tasks: int | None = None) -> list[ListedRun]:
    """Return our runs and the loops recorded by hooks, most recently written first.

    `tasks` limits the result to the newest tasks. If a folder cannot be listed, its runs are left
    out; if that leaves out all of them, raises ``WorkspaceError``. Paths stay strings until they
    are needed, because there may be ten thousand.
    """
    folder = ralph_folder(root)
    hooked, ours = str(folder / HOOKED), str(folder / "tasks")
    found = [(HOOKED, hooked, name) for name in _folders(hooked)]
    for task in sorted(_folders(ours, needed=True), key=number_of, reverse=True)[:tasks]:
        attempts = f"{ours}/{task}/attempts"
        if number_of(task):
            found += [(task, attempts, name) for name in _folders(attempts) if number_of(name)]
    listed = []
    for task, parent, name in found:
        path = f"{parent}/{name}/events.jsonl"
        with suppress(OSError):
            listed.append(ListedRun(os.lstat(path).st_mtime, f"{task}/{name}", path))
    return sorted(listed, reverse=True)


def active_owner(root: Path) -> Owner | None:
    """Return the owner of the run that is active in this worktree, or None."""
    try:
        return worker(ralph_folder(root) / "lock")
    except WorkspaceError:  # anything other than a lock file names no owner
        return None


def row_of(run: RecordedRun, owner: Owner | None) -> RunRow:
    """Build a run's row from its files; `owner` is the owner of its worktree's active run."""
    known = _Known(_status(run))
    outcome, phase = known.text("outcome"), known.text("phase")
    if run.hooked:  # no process of ours runs it
        alive, phase = _is_active(run), phase or "agent"
    else:
        alive = owner is not None and owner.run == run.name
    live = alive and not outcome
    started, ended = known.moment("started"), known.moment("ended")
    updated = (ended if outcome else None) or known.moment("updated") or _written(run.journal)
    if known.text("phase") and not (outcome or live):
        # A live run's status is written every second, so its time is that of the last activity.
        updated = max(filter(None, (updated, _written(run.status))), default=None)
    lasted = (updated - started).total_seconds() if updated and started else 0.0
    return RunRow(
        name=one_line(run.name),
        objective=clip(known.text("objective"), OBJECTIVE),
        status=outcome or (phase if live else "") or _without_end(run),
        agent=known.text("agent"),
        iterations=known.count("iteration") or 0,
        max_iterations=known.count("max_iterations"),
        completions=known.fractions("completions") or known.fractions("baseline"),
        stale=known.fields.get("stale") is True,
        interventions=known.count("interventions"),
        cost_usd=known.number("cost_usd"),
        cost_estimated=known.fields.get("cost_estimated") is True,
        started=started,
        updated=updated,
        seconds=max(0.0, lasted - (known.number("away_s") or 0.0)),
        live=live,
        question=live and isinstance(known.fields.get("question"), dict),
    )


def _without_end(run: RecordedRun) -> str:
    return "unheard" if run.hooked else phase_without_end(run)[0]


def _status(run: RecordedRun) -> dict[str, Any]:
    """Return the run's status, even if its file is missing (hooks, older versions, accidents)."""
    if not run.hooked:
        status = read_json(run.status, most=ROW_BYTES)
        if status is not None and "phase" in status:
            return status
        if record := read_json(run.folder / "attempt.json", most=ROW_BYTES):
            fields = _from_record(record)
            # Only the journal knows how many iterations were granted.
            return _from_ends(run.journal) | {k: v for k, v in fields.items() if v is not None}
    return _from_ends(run.journal)


def _from_record(record: dict[str, Any]) -> dict[str, Any]:
    """Return the status fields that an attempt's record contains."""
    did = _mapping(record.get("execution"))
    history = did.get("quality_history")
    qualities = [_mapping(each) for each in history] if isinstance(history, list) else []
    first = next((each for each in qualities if each.get("iteration") == 0), {})
    return {
        "objective": record.get("description"),
        "outcome": _mapping(record.get("outcome")).get("outcome"),
        "agent": did.get("agent"),
        "iteration": did.get("iterations"),
        "baseline": first.get("quality"),
        "completions": [each.get("quality") for each in qualities if each is not first],
        "cost_usd": did.get("cost_usd"),
        "started": record.get("started"),
        "updated": record.get("updated"),
        "ended": record.get("ended"),
    }


def _from_ends(journal: Path) -> dict[str, Any]:
    """Return the status fields that the first and last lines of a journal contain."""
    seen = list(_ends(journal))
    if not seen:
        return {}
    begun, last = seen[0], seen[-1]
    ends = [event for event in seen if event.get("kind") in _ENDINGS]
    ended = ends[-1] if ends and ends[-1].get("kind") != "run_resumed" else {}
    finished = [event for event in seen if event.get("kind") == "iteration_finished"]
    # The hooks measure only the items of a plan.
    measured = [event.get("iteration") for event in seen if event.get("kind") == "reading_taken"]
    sessions = [event["kind"] for event in seen if event.get("kind") in _SESSION_EDGES]
    granted = [event["max_iterations"] for event in seen if event.get("max_iterations")]
    return {
        "objective": begun.get("objective"),
        "outcome": "failed" if ended.get("kind") == "run_crashed" else ended.get("outcome"),
        "agent": begun.get("agent"),
        "phase": "thinking" if sessions[-1:] == ["session_finished"] else "agent",
        "iteration": max((_Known(event).count("iteration") or 0 for event in seen), default=0),
        "max_iterations": granted[-1] if granted else None,
        "completions": [
            event.get("completion")
            for event in finished
            if event.get("status") == "completed" or event.get("iteration") in measured
        ],
        "started": begun.get("at"),
        "updated": last.get("at"),
        "ended": ended.get("at"),
    }


def _ends(journal: Path) -> Iterator[dict[str, Any]]:
    """Yield the events at both ends of a journal."""
    try:
        with reading(journal) as file:
            size = os.fstat(file.fileno()).st_size
            head = file.read(_EDGE)
            file.seek(max(len(head), size - _EDGE))
            tail = file.read(_EDGE)
    except OSError:
        return
    between = b"" if size <= 2 * _EDGE else b"\n"  # separates two partial lines
    yield from _events(head + between + tail)


def _events(text: bytes) -> Iterator[dict[str, Any]]:
    """Yield the events in whole lines; partial lines are skipped."""
    for line in text.split(b"\n"):
        with suppress(ValueError):
            event = parse_json(line)
            if isinstance(event, dict):
                yield event


@dataclass(frozen=True, slots=True)
class _Known:
    """Fields of a file that anyone may have written."""

    fields: Mapping[str, Any]

    def text(self, name: str) -> str:
        value = self.fields.get(name)
        return one_line(value) if isinstance(value, str) else ""

    def number(self, name: str) -> float | None:
        return _number(self.fields.get(name))

    def count(self, name: str) -> int | None:
        value = self.fields.get(name)
        return value if type(value) is int and 0 <= value < 1 << 31 else None

    def moment(self, name: str) -> datetime | None:
        value = self.fields.get(name)
        try:
            moment = datetime.fromisoformat(value) if isinstance(value, str) else None
            return moment.astimezone(UTC) if moment and moment.tzinfo else None
        except (ValueError, OverflowError):
            return None

    def fractions(self, name: str) -> tuple[float, ...]:
        """Return a list of points, or a single number of points, as fractions."""
        values = self.fields.get(name)
        if not isinstance(values, list):
            values = [values]
        numbers = (_number(value) for value in values[-COMPLETIONS:])
        return tuple(_fraction(number) for number in numbers if number is not None)


def _number(value: object) -> float | None:
    with suppress(OverflowError):
        if type(value) in (int, float) and math.isfinite(number := float(value)):  # type: ignore[arg-type]
            return max(0.0, number)
    return None


def _fraction(points: float) -> float:
    return min(1.0, points / 100)


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _folders(parent: str, *, needed: bool = False) -> list[str]:
    """Return the names of subfolders that are not links; with `needed`, raise if that fails."""
    try:
        with os.scandir(parent) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []
    except OSError as error:
        if needed:
            raise WorkspaceError(
                f"the runs in {from_here(Path(parent))} cannot be listed: "
                f"{why(error, 'make the folder readable')}"
            ) from error
        return []


def _is_active(run: RecordedRun) -> bool:
    """True if the sessions of a loop recorded by hooks were active recently."""
    written = _written(run.journal)
    return written is not None and (datetime.now(UTC) - written).total_seconds() < SILENCE_S


def _written(file: Path) -> datetime | None:
    with suppress(OSError, ValueError, OverflowError):
        return datetime.fromtimestamp(file.lstat().st_mtime, UTC)
    return None
