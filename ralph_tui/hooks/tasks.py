"""Add loops recorded by hooks to the records, as attempts at tasks.

A hook has no time for this, so a ralph-tui process does it when it reads the records. Once a loop
has ended, or has been silent for a long time, its journal is folded like a run's. The attempt has
the usual files except a journal, which stays with the hooks so that the run is listed only once.

``hooks/tasks.json`` stores how much of each journal its attempt covers. If that file is lost, the
attempt is found by the loop's name, so no loop is added twice.
"""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ralph_tui.adapters.records.aiwg.write import put
from ralph_tui.adapters.records.folders import attempt_folder, number_of, numbered, ralph_folder
from ralph_tui.adapters.records.listing import row_of
from ralph_tui.adapters.records.lock import holder
from ralph_tui.adapters.records.runs import (
    HOOKED,
    SILENCE_S,
    TASKS,
    RecordedRun,
    attempts_of_hooked,
    find_hooked,
)
from ralph_tui.base.errors import RalphError
from ralph_tui.text.json_fields import as_map

if TYPE_CHECKING:
    from ralph_tui.adapters.records.attempts import AttemptFolder
    from ralph_tui.events import Event
    from ralph_tui.state import RunState


def track(root: Path, *, again: bool = False) -> frozenset[str]:
    """Write the attempts of ended loops; with `again`, rewrite existing attempts, too.

    Nothing is written while a run owns the worktree or if the records are not writable; a later
    call catches up. Returns the names of the loops that have an attempt.
    """
    with suppress(RalphError, OSError):
        _write(root, again=again)
    known = attempts_of_hooked(root)
    return frozenset(name for name, fields in known.items() if _has_attempt(root, fields))


def _has_attempt(root: Path, fields: object) -> bool:
    name = str(as_map(fields).get("attempt") or "")
    task, _, number = name.partition("/")
    return bool(number_of(task) and number_of(number)) and attempt_folder(root, name).is_dir()


def _write(root: Path, *, again: bool) -> None:
    known = attempts_of_hooked(root)
    runs = [run for run in find_hooked(root) if again or _is_new(run, known)]
    if not runs or holder(ralph_folder(root) / "lock") is not None:
        return
    from ralph_tui.runtime.worktree_lock import acquire_worktree_lock  # noqa: PLC0415 - fast if nothing is new

    lock = acquire_worktree_lock(ralph_folder(root) / "lock", HOOKED)
    try:
        there = {run.folder.name for run in find_hooked(root)}
        known = {name: fields for name, fields in known.items() if name in there}
        for run in runs:
            # An unreadable journal must not affect the other loops.
            with suppress(RalphError, OSError, ValueError):
                if (fields := _track(root, run, known)) is not None:
                    known[run.folder.name] = fields
        put(ralph_folder(root) / HOOKED / TASKS, {"loops": known})
    finally:
        lock.release()


def _is_new(run: RecordedRun, known: Mapping[str, Any]) -> bool:
    """True if the loop has ended and its attempt is missing or lacks part of its journal."""
    size = os.lstat(run.journal).st_size
    return as_map(known.get(run.folder.name)).get("bytes") != size and not row_of(run, None).live


def _is_recent(run: RecordedRun) -> bool:
    return time.time() - os.lstat(run.journal).st_mtime < SILENCE_S


def _track(root: Path, run: RecordedRun, known: Mapping[str, Any]) -> dict[str, object] | None:
    """Write a loop's attempt; return its entry in the file, or None if the loop has not ended.

    Raises ``RalphError`` and ``OSError``.
    """
    from ralph_tui.adapters.records.journal import read_journal  # noqa: PLC0415
    from ralph_tui.config.sources import load  # noqa: PLC0415

    size = os.lstat(run.journal).st_size
    before = as_map(known.get(run.folder.name)).get("attempt")
    events = [*_events(read_journal(run.journal).events)]
    if not events:
        return {"bytes": size}
    if events[-1].kind != "run_finished" and _is_recent(run):
        return None
    attempt = _attempt_of(root, run, events, before if isinstance(before, str) else "")
    state = _fold(events, attempt)
    memory = load(root, {}, os.environ).settings.memory
    if memory.enabled:
        _reflect(state, memory.reflect_on)
    attempt.write_projections(attempt.project(state))
    return {"attempt": attempt.name, "bytes": size}


def _events(events: "list[Event]") -> "Iterator[Event]":
    """Yield a loop's events, except for an end after which the user continued the loop."""
    from ralph_tui.events import IterationStarted, RunFinished, RunStarted  # noqa: PLC0415

    if not (events and isinstance(events[0], RunStarted)):
        return
    begun = [each.seq for each in events if isinstance(each, IterationStarted)]
    last = max(begun, default=0)
    for event in events:
        if not isinstance(event, RunFinished) or event.seq > last:
            yield event


def _attempt_of(
    root: Path, run: RecordedRun, events: "list[Event]", before: str
) -> "AttemptFolder":
    """Return the attempt for this loop, or a new attempt at its task."""
    from ralph_tui.adapters.records.aiwg.tasks import read_attempt  # noqa: PLC0415
    from ralph_tui.adapters.records.attempts import AttemptFolder  # noqa: PLC0415
    from ralph_tui.ports.runs import NO_OBJECTIVE  # noqa: PLC0415

    described: object = getattr(events[0], "objective", "")
    description = str(described).strip() or NO_OBJECTIVE
    found = AttemptFolder.following(root, description)
    folders = [*numbered(found.task_folder / "attempts")]
    named = None
    if _has_attempt(root, {"attempt": before}):
        named = attempt_folder(root, before)
        folders.append(named)
    for folder in folders:
        if (folder / "events.jsonl").exists() or not folder.is_dir() or folder.is_symlink():
            continue
        record = read_attempt(folder)  # None if it was lost
        if folder == named if record is None else record.run_id == run.folder.name:
            found = AttemptFolder(root, folder.parents[1].name, folder.name, description)
    found.read_from(run.journal)
    return found


def _fold(events: "list[Event]", attempt: "AttemptFolder") -> "RunState":
    from ralph_tui.state import RunState  # noqa: PLC0415

    first, *others = events
    names = {"task": attempt.task, "attempt": attempt.attempt, "objective": attempt.description}
    return RunState().apply_all([first.model_copy(update=names), *others])


def _reflect(state: "RunState", reflect_on: Any) -> None:
    """Add the reflections on an ended loop, derived from its journal."""
    from ralph_tui.layers.memory.reflection import reflect  # noqa: PLC0415

    if state.run.finished is None:
        return
    ended: datetime = state.at
    for reflection in reflect(state, state.run.finished.outcome, reflect_on):
        stamped = {"seq": state.seq + 1, "at": ended}
        state.apply(reflection.model_copy(update=stamped))
