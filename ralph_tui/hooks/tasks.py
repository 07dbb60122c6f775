"""Loops that hooks recorded, as attempts of tasks in the records.

A hook has no time for it, so a ralph-tui process does it when it looks at the records: once a loop
has ended, or has been silent for long, its journal is folded like that of a run. The attempt has
files as any other, but no journal: that stays with the hooks, so that the run is listed once.

``hooks/tasks.json`` says how much of each journal is in its attempt. If the file is lost, the
attempt is found by the loop's name, so that a second look adds nothing.
"""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ralph_tui.adapters.records.aiwg.write import put
from ralph_tui.adapters.records.folders import number_of, numbered, ralph_folder
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
    """Write the attempts of loops that are over; with `again`, also of those that have one.

    Nothing is written while a run owns the worktree, or if the records cannot be written: a later
    look does it. Returns the names of the loops that have an attempt.
    """
    with suppress(RalphError, OSError):
        _write(root, again=again)
    known = attempts_of_hooked(root)
    return frozenset(name for name, fields in known.items() if _has_attempt(root, fields))


def _has_attempt(root: Path, fields: object) -> bool:
    task, _, number = str(as_map(fields).get("attempt") or "").partition("/")
    named = bool(number_of(task) and number_of(number))
    return named and (ralph_folder(root) / "tasks" / task / "attempts" / number).is_dir()


def _write(root: Path, *, again: bool) -> None:
    known = attempts_of_hooked(root)
    runs = [run for run in find_hooked(root) if again or _is_new(run, known)]
    if not runs or holder(ralph_folder(root) / "lock") is not None:
        return
    from ralph_tui.runtime.claiming import claim  # noqa: PLC0415 - a look without news is quick

    lock = claim(ralph_folder(root) / "lock", HOOKED)
    try:
        there = {run.folder.name for run in find_hooked(root)}
        known = {name: fields for name, fields in known.items() if name in there}
        for run in runs:
            # A journal that cannot be read keeps no other loop from its attempt.
            with suppress(RalphError, OSError, ValueError):
                if (fields := _track(root, run, known)) is not None:
                    known[run.folder.name] = fields
        put(ralph_folder(root) / HOOKED / TASKS, {"loops": known})
    finally:
        lock.release()


def _is_new(run: RecordedRun, known: Mapping[str, Any]) -> bool:
    """True if the loop is over, and its attempt lacks a part of its journal or is missing."""
    size = os.lstat(run.journal).st_size
    return as_map(known.get(run.folder.name)).get("bytes") != size and not row_of(run, None).live


def _is_recent(run: RecordedRun) -> bool:
    return time.time() - os.lstat(run.journal).st_mtime < SILENCE_S


def _track(root: Path, run: RecordedRun, known: Mapping[str, Any]) -> dict[str, object] | None:
    """Write the attempt of a loop; return what the file says about it, None if it is not over.

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
    """Yield a loop's events, without an end after which the user let it continue."""
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
    """Return the attempt that has this loop, or else the next one of its task."""
    from ralph_tui.adapters.records.aiwg.tasks import read_attempt  # noqa: PLC0415
    from ralph_tui.adapters.records.attempts import AttemptFolder  # noqa: PLC0415
    from ralph_tui.ports.runs import NO_OBJECTIVE  # noqa: PLC0415

    described: object = getattr(events[0], "objective", "")
    description = str(described).strip() or NO_OBJECTIVE
    found = AttemptFolder.following(root, description)
    folders = [*numbered(found.task_folder / "attempts")]
    named = None
    if _has_attempt(root, {"attempt": before}):
        task, _, number = before.partition("/")
        named = ralph_folder(root) / "tasks" / task / "attempts" / number
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
    """Add the reflections on a loop that has ended; they follow from its journal."""
    from ralph_tui.layers.memory.reflection import reflect  # noqa: PLC0415

    if state.run.finished is None:
        return
    ended: datetime = state.at
    for reflection in reflect(state, state.run.finished.outcome, reflect_on):
        stamped = {"seq": state.seq + 1, "at": ended}
        state.apply(reflection.model_copy(update=stamped))
