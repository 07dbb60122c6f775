"""External runs: found by their ``session-state.json`` (forms A-D), listed by what it says.

Of one that a newer run has written over its analytics are left (form F). A night's state takes a
second to read, so what a list shows of it is kept. Standard library only: lists of runs are quick.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ralph_tui.adapters.records.listing import COMPLETIONS, RunRow
from ralph_tui.importers.external_state import (
    STATE,
    ExternalState,
    analysed,
    analytics_of,
    number_of,
    read_state,
    recorded,
    salvaged,
)
from ralph_tui.importers.records import (
    ENDS,
    ImportedRun,
    Json,
    RunFiles,
    as_ordinal,
    as_points,
    as_when,
    named,
)
from ralph_tui.text.json_fields import as_list, as_map, as_text

if TYPE_CHECKING:
    from ralph_tui.events.run import Outcome

FOLDER = "ralph-external"
LISTS = ("loops", "archive")
MOST_LISTED = 2_000
"""Loops of one list that are looked at."""
ACTING = ("redirect", "pause", "abort")
KEPT = 512
"""States that are remembered."""
Stamp = tuple[tuple[int, int, int], ...]


class GlancedLoop(NamedTuple):
    """One of the loops of a state."""

    session: str
    """Empty for the loop that the state is about."""
    iterations: int
    """The highest number."""
    readings: tuple[float | None, ...]
    """Points, the last ones; None: the one before it stands."""
    interventions: int


class Glance(NamedTuple):
    """What a list shows of a state."""

    state: ExternalState
    """Without its iterations."""
    loops: tuple[GlancedLoop, ...]
    empty: bool
    """No iteration was recorded."""
    whole: bool
    """It was read; else it is made up of the files beside it."""


def find(base: Path, name: str = FOLDER) -> list[ImportedRun]:
    """The runs that lie below an ``.aiwg``, in the folder of this name."""
    files = RunFiles(base / name, base)
    seen = glance(files)
    found = _runs(files, seen) if seen is not None else []
    for folder, each in _listed(files):
        if not each.empty:
            found += _runs(RunFiles(files.folder / folder, base), each)
    known = {run.run_id for run in found}
    for run_id, about in analytics_of(files):
        if run_id not in known:
            known.add(run_id)
            path = files.folder / "analytics" / f"{run_id}.json"
            slug = _slug_of(analytics_entry(files, about))
            found.append(
                ImportedRun(named(run_id, path), "F", path, files.folder, base, run_id, slug)
            )
    return found


def _runs(files: RunFiles, seen: Glance) -> list[ImportedRun]:
    form, path = _form_of(files, seen), files.folder / STATE
    slug = _slug_of(list_entry(files, seen.state.objective, seen.state.started))
    return [
        ImportedRun(named(own, path), form, path, files.folder, files.base, own, slug, loop.session)
        for loop in seen.loops
        for own in [loop.session or seen.state.loop_id]
    ]


def _slug_of(entry: ExternalState | None) -> str:
    return entry.loop_id if entry is not None else ""


def _form_of(files: RunFiles, seen: Glance) -> str:
    """Which files there are beside the state."""
    if files.names("iterations", folders=True):
        return "B"
    if seen.empty and not files.numbers("prompts", ".md"):
        return "D"
    later = ("outputs/parsed-events.json", "outputs/session-transcript.jsonl")
    if files.first(*later) or files.names("outputs/checkpoints") or files.names("analytics"):
        return "A"
    return "C"


def _listed(files: RunFiles) -> Iterator[tuple[str, Glance]]:
    """The tool's lists of loops: the folder of each, relative to the run's, and its state."""
    for place in LISTS:
        for name in files.names(place, folders=True)[:MOST_LISTED]:
            folder = f"{place}/{name}"
            if (seen := glance(files, folder)) is not None:
                yield folder, seen


def list_entry(files: RunFiles, objective: str, started: datetime | None) -> ExternalState | None:
    """What a list has of a run, an archived one first; its id is a longer name for the run.

    It has no iteration, the same objective, and began within a second of the run. Unless it was
    archived its end is left out: until then it says what was when it was made.
    """
    found: ExternalState | None = None
    for folder, (state, _, empty, _) in _listed(files):
        if not empty or state.objective != objective or state.started is None or started is None:
            continue
        if abs((state.started - started).total_seconds()) <= 1:
            place, _, name = folder.partition("/")
            entry = replace(state, loop_id=state.loop_id or name)
            if place != "archive":
                entry = replace(entry, updated=None, status="")
            if found is None or (entry.status and not found.status):
                found = entry
    return found


def outcome_of(status: str, entry: ExternalState | None) -> "Outcome | None":
    """How it ended by its state, else by its entry in the archive; None: no end was recorded."""
    return ENDS.get(status) or (ENDS.get(entry.status) if entry else None)


def row_of(run: ImportedRun) -> RunRow:
    """What its state says."""
    files = run.files
    seen = glance(files)
    loop = next((one for one in seen.loops if one.session == run.session), None) if seen else None
    if seen is None or loop is None:
        return RunRow(name=run.name, imported=run.imported, problem=files.why_not(STATE))
    state = seen.state
    started, updated = state.started, state.updated
    outcome = outcome_of(state.status, list_entry(files, state.objective, started))
    if run.session:  # the state tells of a later loop: this one was over when that began
        started, updated, outcome = None, started, None
    return run.row(
        objective=state.objective,
        outcome=outcome,
        agent="claude",
        iterations=max(0 if run.session else state.current, loop.iterations),
        max_iterations=state.max_iterations,
        readings=loop.readings,
        interventions=loop.interventions,
        started=started,
        updated=updated,
        problem="" if seen.whole else files.why_not(STATE),
    )


def glance(files: RunFiles, folder: str = "") -> Glance | None:
    """Of the state in a folder, relative to the run's; None where none can be read."""
    found, notes = _glance(files.folder, files.base, folder, _stamp(files.folder / folder))
    files.notes += [note for note in notes if note not in files.notes]
    return found


@lru_cache(maxsize=KEPT)
def _glance(
    root: Path, base: Path, folder: str, _written: Stamp
) -> tuple[Glance | None, tuple[str, ...]]:
    files = RunFiles(root, base)
    read = read_state(files, folder)
    state = salvaged(files) if read is None and not folder else read
    if state is None:
        return None, tuple(files.notes)
    beside = RunFiles(root / folder, base)
    loops = tuple(_loop(session, entries, beside) for session, entries in state.loops)
    about = replace(state, fields={}, entries=())
    return Glance(about, loops, not state.entries, read is not None), tuple(files.notes)


def _stamp(folder: Path) -> Stamp:
    """Of both files: one that was written again has another."""
    found = []
    for name in (STATE, f"{STATE}.bak"):
        try:
            about = os.lstat(folder / name)
            found.append((about.st_ino, about.st_mtime_ns, about.st_size))
        except (OSError, ValueError):
            found.append((0, 0, -1))
    return tuple(found)


def _loop(session: str, entries: Sequence[Json], files: RunFiles) -> GlancedLoop:
    found = recorded(entries)
    kept = [one.entry for one in found if one.entry is not None]
    made = [
        as_text(as_map(one).get("level")).lower()
        for entry in kept
        for one in as_list(as_map(entry.get("healthReport")).get("interventions"))
    ]
    return GlancedLoop(
        session,
        max((one.number for one in found), default=0),
        tuple(analysed(e, number_of(e) or 0, files).completion for e in kept[-COMPLETIONS:]),
        sum(level in ACTING for level in made),
    )


def analytics_entry(files: RunFiles, about: Json) -> ExternalState | None:
    """The entry of a list that belongs to an earlier run with these analytics."""
    return list_entry(
        files, as_text(about.get("task_description")), as_when(about.get("start_time"))
    )


def analytics_rows(about: Json) -> Sequence[Json]:
    """Its iterations."""
    return [row for row in map(as_map, as_list(about.get("iterations"))) if row]


def analytics_ended(about: Json, entry: ExternalState | None) -> datetime | None:
    """When something was recorded last: its end_time is that of some iteration."""
    times = [as_when(row.get("timestamp")) for row in analytics_rows(about)]
    last = [as_when(about.get("end_time")), *times, entry.updated if entry else None]
    return max((at for at in last if at is not None), default=None)


def earlier_row_of(run: ImportedRun) -> RunRow:
    """What its analytics say."""
    files = run.files
    about = files.json(f"analytics/{run.path.name}") or {}
    entry, rows = analytics_entry(files, about), analytics_rows(about)
    return run.row(
        objective=as_text(about.get("task_description")),
        outcome=outcome_of("", entry),
        agent="claude",
        iterations=max(
            [len(rows), *(as_ordinal(row.get("iteration_number")) or 0 for row in rows)]
        ),
        max_iterations=(entry.max_iterations or None) if entry else None,
        readings=[as_points(row.get("quality_score")) for row in rows[-COMPLETIONS:]],
        started=as_when(about.get("start_time")),
        updated=analytics_ended(about, entry),
        problem="" if about else files.why_not(f"analytics/{run.path.name}"),
    )
