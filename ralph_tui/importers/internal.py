"""Loops within a session (form G) and loops recorded by a hook (form H): find and list them.

Both forms have one JSON file with the reports of each iteration. Standard library only, to keep
lists fast.
"""

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui.adapters.records.listing import COMPLETIONS, RunRow
from ralph_tui.importers.records import (
    OUTCOMES,
    ImportedRun,
    Json,
    RunFiles,
    as_ordinal,
    as_time,
    run_name,
)
from ralph_tui.text.json_fields import as_list, as_map, as_text

if TYPE_CHECKING:
    from ralph_tui.events.run import Outcome

FOLDER = "ralph"
LOOPS = ("loops", "archive")
STATE, HOOK, REGISTRY = "state.json", "current-loop.json", "registry.json"
LISTS = ("active_loops", "completed_loops", "archived_loops")
"""Lists in a registry."""
LISTED = {
    "task": "task_summary",
    "completion": "completion_criteria",
    "maxIterations": "max_iterations",
    "startTime": "started_at",
    "status": "status",
    "pid": "pid",
}
"""Fields of a registry entry, by their names in the loop's own file."""
ACTIVE = ("running", "recovering", "active", "")


@dataclass(frozen=True)
class LoopState:
    """The content of a loop's file, completed from the registry."""

    fields: Json
    readable: bool = True
    """True if the loop's own file could be read."""

    @property
    def entries(self) -> list[Json]:
        """Its iterations in the recorded order."""
        return [entry for item in as_list(self.fields.get("iterations")) if (entry := as_map(item))]

    @property
    def current(self) -> int | None:
        """The iteration at the last write; None if unknown."""
        return as_ordinal(self.fields.get("currentIteration")) if self.readable else None

    @property
    def outcome(self) -> "Outcome | None":
        """The outcome in our terms; None if no end was recorded."""
        status = as_text(self.fields.get("status"))
        if status in OUTCOMES:
            return OUTCOMES[status]
        if self.fields.get("completed") is True:
            return "completed"
        if self.fields.get("active") is not False:
            return None
        return "aborted" if status in ACTIVE else "failed"

    @property
    def started(self) -> datetime | None:
        return as_time(self.fields.get("startTime")) or _parse_epoch(self.fields, "start")

    @property
    def updated(self) -> datetime | None:
        """When it ended or, if that is unknown, the time of its latest iteration."""
        ended = as_time(self.fields.get("endTime")) or _parse_epoch(self.fields, "end")
        times = (as_time(entry.get("timestamp")) for entry in self.entries)
        return ended or max(filter(None, times), default=None)


def find(base: Path, name: str = FOLDER) -> list[ImportedRun]:
    """Find the loops below an ``.aiwg``, in the folder with this name."""
    files = RunFiles(base / name, base)
    found = []
    if files.has(HOOK):
        path = files.folder / HOOK
        own = _make_id(files.json(HOOK))
        found.append(ImportedRun(run_name(own, path), "H", path, files.folder, base, own))
    loops = [(above, slug) for above in LOOPS for slug in files.names(above, folders=True)]
    listed = _read_registry(files) if loops else {}
    for above, slug in loops:
        if files.has(f"{above}/{slug}/{STATE}") or slug in listed:
            folder = files.folder / above / slug
            path = folder / STATE
            found.append(ImportedRun(run_name(slug, path), "G", path, folder, base, slug, slug))
    return found


def read_loop(run: ImportedRun, files: RunFiles) -> LoopState:
    """Read a loop's state; add notes to `files` about unreadable files."""
    found = files.json(run.path.name)
    if run.form == "H":
        return LoopState(found or {}, found is not None)
    above = RunFiles(run.folder.parent.parent, run.base)
    listed = _read_registry(above).get(run.slug, {})
    files.notes += [note for note in above.notes if note not in files.notes]
    known = {ours: listed.get(theirs) for ours, theirs in LISTED.items()}
    return LoopState({**known, **(found or {})}, found is not None)


def row_of(run: ImportedRun) -> RunRow:
    """Return the run's row in a list, from its file.

    A verified iteration counts as 100 %, and any other repeats the previous measurement.
    """
    files = run.files
    state = read_loop(run, files)
    return run.row(
        objective=find_objective(run, state),
        outcome=state.outcome,
        agent="",
        iterations=max(state.current or 0, len(state.entries)),
        max_iterations=as_ordinal(state.fields.get("maxIterations")),
        readings=[
            100.0 if entry.get("verified") is True else None
            for entry in state.entries[-COMPLETIONS:]
        ],
        started=state.started,
        updated=state.updated or state.started,
        problem="" if state.readable else files.explain_missing(run.path.name),
    )


def find_objective(run: ImportedRun, state: LoopState) -> str:
    """Return the objective, or the folder's name if that is unknown."""
    return as_text(state.fields.get("task")) or run.slug


def _read_registry(files: RunFiles) -> dict[str, Json]:
    """Return the loops in the registry, by id."""
    held = files.json(REGISTRY) or {}
    entries = [as_map(entry) for name in LISTS for entry in as_list(held.get(name))]
    return {as_text(entry.get("loop_id")): entry for entry in entries if entry}


def _make_id(fields: Json | None) -> str:
    """Make an id from start time and task, because a loop recorded by a hook has none."""
    if not fields:
        return ""
    about = f"{fields.get('startTime')} {fields.get('task')}"
    return sha256(about.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _parse_epoch(fields: Json, which: str) -> datetime | None:
    """Return a time that was recorded in milliseconds."""
    return as_time(fields.get(f"{which}TimeMs")) or as_time(fields.get(f"{which}Timestamp"))
