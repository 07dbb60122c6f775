"""A run's status, from its file and the lock: a dead run is not reported as running."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from ralph_tui.adapters.records.folders import as_argument, from_here, worktree_around
from ralph_tui.adapters.records.lock import worker
from ralph_tui.adapters.records.run_status import RunStatus
from ralph_tui.adapters.records.runs import SILENCE_S, STATUS_VERSION, RecordedRun
from ralph_tui.analysis.resume_words import explain_damage
from ralph_tui.base.errors import JournalError, why
from ralph_tui.base.plain_files import read_bytes, reading
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.format import duration
from ralph_tui.text.sanitize import one_line
from ralph_tui.text.terms import DISK_FULL, NO_END, PROCESS_GONE, WAITS

if TYPE_CHECKING:
    from ralph_tui.events import Event
    from ralph_tui.state import RunState

COPIED = f"{NO_END} in this copy; check the original{{}} to see whether the run continues"
EMPTY = "its process is gone and its journal is empty; it cannot be resumed"
FLEET_GONE = f"{NO_END}; only its fleet can continue it; see ralph-tui fleet status"
"""For a loop's clone, which may be on a different machine from its fleet."""
NEEDED = 1 << 16
"""Bytes that a status file may need."""
EVERY_VERSION = 1
"""The newest journal schema that every version knows."""
MAX_FIRST = 1_000_000
"""Maximum size in bytes of a journal's first line, which names the version that wrote it."""
COMPARED_BYTES = 4096
"""Bytes at the end of a journal that identify a copy of it."""
PARSED_BYTES = 4_000_000
"""Up to this size, every line of a journal is parsed; above it, only lines that look wrong."""


T = TypeVar("T")


class Damage(NamedTuple):
    """The point from which a journal cannot be read."""

    words: str
    """The problem, in one sentence."""
    kept: int
    """Number of events before it."""


class _Known(dict[str, Any]):
    """Fields of a status; missing ones read as None."""

    def __missing__(self, name: str) -> None:
        return None


def describe_status(run: RecordedRun, words: Callable[[RunStatus], T]) -> T:
    """Return the result of `words` for the run's status; if its file is invalid, fold the journal.

    The agent can write the file, so it may contain anything.
    """
    try:
        return words(read_status(run))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return words(read_status(run, from_journal=True))


def read_status(run: RecordedRun, *, from_journal: bool = False) -> RunStatus:
    """Return the fields of `summarize`, and `alive`: True if a process is working on the run.

    The status file is used if it is complete; otherwise the journal is folded.
    """
    status = (None if from_journal else _projection(run.status)) or _fold(run)
    if run.hooked:
        return _complete_hooked(run, status)
    alive = status["outcome"] is None and has_process(run, status["run_id"])
    status["alive"] = alive
    # In its clone, a fleet's loop is an attempt like any other.
    status["run"] = run.name if run.loop else status["run"] or run.name
    status["journal"] = str(run.journal)
    if status["outcome"] is None and not alive:
        status["phase"], status["reason"] = phase_without_end(run)
    elif alive and _is_full(run.folder):  # the disk is full, so the file could not be updated
        status["phase"] = "limited"
        status["verdict_glyph"], status["verdict"] = WAITS["disk_full"].glyph, DISK_FULL
        status["waiting"] = {
            "cause": "disk_full",
            "until": None,
            "since": None,
            "reason": DISK_FULL,
        }
    if status["phase"] == "died" and status["updated"]:
        with suppress(OverflowError, TypeError, ValueError):  # the agent can write the file
            sign = datetime.fromisoformat(status["updated"]) + timedelta(seconds=_silent_s(status))
            status["updated"] = sign.isoformat().replace("+00:00", "Z")
    return status


def _is_full(folder: Path) -> bool:
    """True if there is no room for a status file."""
    try:
        facts = os.statvfs(folder)
    except OSError:
        return False
    return facts.f_bavail * facts.f_frsize < NEEDED


def worked_s(status: RunStatus) -> float:
    """Return the seconds that a run has worked until its end, its last activity, or now."""
    until = status["ended"] or (None if status["alive"] else status["updated"])
    if status["started"] is None:
        return 0.0
    now = datetime.now(UTC) if until is None else datetime.fromisoformat(until)
    whole = (now - datetime.fromisoformat(status["started"])).total_seconds()
    return max(0.0, whole - status["away_s"])


def worked_until(path: Path, run_id: str, events: "Sequence[Event]") -> datetime:
    """Return when a run without an end last worked, from its events and its status file.

    If the session was silent when its run died, the last event may be old.
    """
    from ralph_tui.layers.memory.user_reflection import is_afterthought  # noqa: PLC0415  status is quick

    last = next((event for event in reversed(events) if not is_afterthought(event)), events[-1])
    return last.at + timedelta(seconds=worked_after_s(path, run_id, last.seq))


def worked_after_s(path: Path, run_id: str, seq: int) -> float:
    """Return how many seconds a run kept working after event `seq`, or 0 if unknown."""
    status = _projection(path)
    if status is None or (status["run_id"], status["seq"]) != (run_id, seq):
        return 0.0
    return _silent_s(status)


def worked_after(run: RecordedRun, state: "RunState") -> timedelta:
    """Return how long a run kept working after the last event of its state."""
    started = state.run.started
    run_id = started.run_id if started is not None else ""
    return timedelta(seconds=worked_after_s(run.status, run_id, state.seq))


def _silent_s(status: RunStatus) -> float:
    """Return the seconds between the last event and the status, which is written every second."""
    silent_s = status["silent_s"]
    return max(0.0, silent_s) if isinstance(silent_s, float) and isfinite(silent_s) else 0.0


def has_process(run: RecordedRun, run_id: str | None) -> bool:
    """True if a process is working on the run, or on the fleet that it is a loop of."""
    owner, fleet = worker(run.lock), run.fleet
    if owner is None:
        return False
    return owner.run_id == run_id or (fleet is not None and owner.run == fleet.name)


def phase_without_end(run: RecordedRun, *, kept: int | None = None) -> tuple[str, str]:
    """Return the phase and the reason for a run that has neither a process nor an end.

    `kept` is the number of events before the damage, if its journal is damaged.
    """
    if run.of_fleet:
        return "unheard", without_fleet(run)
    if kept is not None:
        return "unheard", explain_damage(run.name, kept)
    around = worktree_around(run.folder)
    if around is None:
        return "unheard", COPIED.format("")
    if original := _original_of(run, around):
        return "unheard", COPIED.format(f" in {one_line(original)}")
    empty = run.journal.exists() and not run.journal.stat().st_size
    return "died", EMPTY if empty else PROCESS_GONE


def _original_of(run: RecordedRun, around: Path) -> str:
    """Return the worktree from which the record in the worktree `around` was copied, or ""."""
    try:
        with reading(run.journal) as file:
            first = parse_json(file.readline(MAX_FIRST))
            start = max(0, os.fstat(file.fileno()).st_size - COMPARED_BYTES)
            file.seek(start)
            end = file.read()
        root = Path(first["root"])
        with reading(root / run.journal.relative_to(around)) as original:
            original.seek(start)
            # A copy that was resumed has events of its own, and died itself.
            same = original.read(len(end)) == end
        return "" if not same or root.samefile(around) else str(root)
    except (OSError, ValueError, LookupError, TypeError):
        return ""


def without_fleet(run: RecordedRun) -> str:
    """Explain that a fleet's loop has no end and its fleet no process.

    The command comes first, because a status bar cuts the end off.
    """
    if run.fleet is None or not (run.fleet / "events.jsonl").exists():
        return FLEET_GONE
    return f"ralph-tui fleet resume {one_line(run.fleet.name)} may continue it; {NO_END}"


def status_of_past(events: "Sequence[Event]", name: str, path: Path) -> RunStatus:
    """Return the status of a run, from its events, when no process of ours is working on it."""
    from ralph_tui.adapters.records.summary import summarize  # noqa: PLC0415  folding is the rare case
    from ralph_tui.state import RunState  # noqa: PLC0415

    status = summarize(RunState().apply_all(events))
    status["alive"], status["run"], status["journal"] = False, name, str(path)
    if status["outcome"] is None:
        status["phase"], status["reason"] = "died", NO_END
    return status


def _complete_hooked(run: RecordedRun, status: RunStatus) -> RunStatus:
    """Complete the status of a loop recorded by hooks, using the age of its journal."""
    heard = datetime.fromtimestamp(run.journal.stat().st_mtime, UTC)
    silent = (datetime.now(UTC) - heard).total_seconds()
    status["alive"] = status["outcome"] is None and silent < SILENCE_S
    status["run"] = run.name
    status["journal"] = str(run.journal)
    if status["outcome"] is None and not status["alive"]:
        status["phase"], status["reason"] = "unheard", describe_silence(silent)
    return status


def describe_silence(seconds: float) -> str:
    """Explain that a loop recorded by hooks is silent without having ended."""
    return (
        f"no events from its sessions for {duration(seconds)} and no recorded end; the next "
        "session continues it"
    )


def problem_of(run: RecordedRun) -> str:
    """Return a sentence about the journal's first bad line, or ""."""
    damage = find_damage(run)
    return damage.words if damage else ""


def find_damage(run: RecordedRun) -> Damage | None:
    """Find the journal's first bad line; None if there is none.

    Quick, because no event is parsed: a JSON line of an unknown kind passes.
    """
    expected = 1
    try:
        with reading(run.journal) as file:
            thorough = os.fstat(file.fileno()).st_size <= PARSED_BYTES
            for number, line in enumerate(file, 1):
                if not line.strip() or not line.endswith(b"\n"):  # a crash tears the last line
                    continue
                looks_well = line.startswith(b'{"seq":%d,' % expected) and line.endswith(b"}\n")
                if (thorough or not looks_well) and _number(line) != expected:
                    where = f"{from_here(run.journal)}:{number} cannot be read"
                    replay = f"ralph-tui replay {as_argument(run.folder)}"
                    return Damage(f"{where}; {replay} shows the earlier events", expected - 1)
                expected += 1
    except OSError as error:
        words = f"{from_here(run.journal)} cannot be read: {why(error, 'make it readable')}"
        return Damage(words, 0)
    return None


def newer_version_note(run: RecordedRun) -> str:
    """Return a sentence if a newer version wrote the journal, or "". Only reads the first line."""
    try:
        with reading(run.journal) as file:
            first = parse_json(file.readline(MAX_FIRST))
    except (OSError, ValueError):
        return ""
    schema = first.get("schema_version") if isinstance(first, dict) else None
    if not isinstance(schema, int) or schema <= EVERY_VERSION:
        return ""
    from ralph_tui.adapters.records.newer import newer_than_this  # noqa: PLC0415  the rare case

    return newer_than_this(schema, one_line(str(first.get("program_version") or "")))


def _number(line: bytes) -> int | None:
    try:
        event = parse_json(line)
    except ValueError:
        return None
    number = event.get("seq") if isinstance(event, dict) else None
    return number if isinstance(number, int) else None


def _projection(path: Path) -> RunStatus | None:
    try:
        status = parse_json(read_bytes(path))
    except (OSError, ValueError):
        return None
    ours = isinstance(status, dict) and status.get("version") == STATUS_VERSION
    whole = ours and status.get("run_id") and "phase" in status
    return cast("RunStatus", _known(status)) if whole else None


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    parts = {name: _known(v) if isinstance(v, dict) else v for name, v in fields.items()}
    return _Known(parts)


def _fold(run: RecordedRun) -> RunStatus:
    from ralph_tui.adapters.records.journal import read_journal  # noqa: PLC0415  folding is the rare case
    from ralph_tui.adapters.records.summary import summarize  # noqa: PLC0415
    from ralph_tui.state import RunState  # noqa: PLC0415

    recording = read_journal(run.journal)
    if not recording.events:
        raise JournalError(f"the journal {run.journal} is empty; the run never started")
    return summarize(RunState().apply_all(recording.events))
