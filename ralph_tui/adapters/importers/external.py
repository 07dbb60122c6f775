"""External runs (forms A-D): found by their ``session-state.json``, listed by what it says.

Standard library only: lists of runs are quick.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui.adapters.agents.json_fields import as_list, as_map, as_text
from ralph_tui.adapters.importers.analysis import analysed
from ralph_tui.adapters.importers.fields import Json, as_ordinal, as_when
from ralph_tui.adapters.importers.folder import RunFiles
from ralph_tui.adapters.importers.imported_run import ImportedRun, named
from ralph_tui.adapters.importers.numbering import recorded
from ralph_tui.adapters.importers.salvage import salvaged
from ralph_tui.adapters.importers.state_file import (
    STATE,
    ExternalState,
    Loop,
    number_of,
    read_state,
)
from ralph_tui.adapters.importers.stubs import Stub, listed, stub_of
from ralph_tui.adapters.records.listing import COMPLETIONS, OBJECTIVE, RunRow
from ralph_tui.text.sanitize import clip, one_line

if TYPE_CHECKING:
    from ralph_tui.events.run import Outcome

FOLDER = "ralph-external"
ENDS: "Mapping[str, Outcome]" = {
    "completed": "completed",
    "limit_reached": "limit_reached",
    "aborted": "aborted",
    "failed": "failed",
    "interrupted": "interrupted",
    "paused": "interrupted",
}
"""A status of theirs as an outcome of ours; any other is no end."""
ACTING = ("redirect", "pause", "abort")


def find(base: Path, name: str = FOLDER) -> Iterator[ImportedRun]:
    """The runs of the states that lie below an ``.aiwg``, in the folder of this name."""
    files = RunFiles(base / name, base)
    state = read_state(files) or salvaged(files)
    if state is not None:
        yield from _runs(files, state)
    for folder, each in listed(files):
        if each.entries:
            yield from _runs(RunFiles(files.folder / folder, base), each)


def _runs(files: RunFiles, state: ExternalState) -> Iterator[ImportedRun]:
    form, path = form_of(files, state), files.folder / STATE
    objective, started = (
        as_text(state.fields.get("objective")),
        as_when(state.fields.get("startTime")),
    )
    stub = stub_of(files, objective, started)
    slug = stub.slug if stub else ""
    for loop in state.loops:
        own = loop.session or state.loop_id
        name = named(own, path)
        yield ImportedRun(name, form, path, files.folder, files.base, own, slug, loop.session)


def outcome_of(fields: Json, stub: Stub | None) -> "Outcome | None":
    """How it ended by its state, else by its entry in the archive; None: no end was recorded."""
    return ENDS.get(as_text(fields.get("status"))) or (ENDS.get(stub.status) if stub else None)


def form_of(files: RunFiles, state: ExternalState) -> str:
    """Which files there are beside the state."""
    if files.names("iterations", folders=True):
        return "B"
    if not state.entries and not files.numbers("prompts", ".md"):
        return "D"
    later = ("outputs/parsed-events.json", "outputs/session-transcript.jsonl")
    if files.first(*later) or files.names("outputs/checkpoints") or files.names("analytics"):
        return "A"
    return "C"


def state_of(files: RunFiles) -> ExternalState:
    """The state of a run that was found, or what stands for it."""
    return read_state(files) or salvaged(files) or ExternalState({}, ())


def loop_of(state: ExternalState, run: ImportedRun) -> Loop:
    """The loop in a state that a run is; an empty one where it is there no more."""
    found = (loop for loop in state.loops if loop.session == run.session)
    return next(found, Loop(run.session, ()))


def row_of(run: ImportedRun) -> RunRow:
    """What its state says."""
    files = RunFiles(run.folder, run.base)
    state = state_of(files)
    fields, found = state.fields, recorded(loop_of(state, run).entries)
    started, updated = as_when(fields.get("startTime")), as_when(fields.get("lastUpdate"))
    stub = stub_of(files, as_text(fields.get("objective")), started)
    entries = [one.entry for one in found if one.entry is not None]
    return RunRow(
        name=run.name,
        objective=clip(one_line(as_text(fields.get("objective"))), OBJECTIVE),
        status=("" if run.session else outcome_of(fields, stub)) or "died",
        agent="claude",
        iterations=max([0 if run.session else state.current, *(one.number for one in found)]),
        max_iterations=as_ordinal(fields.get("maxIterations")),
        completions=_completions(entries, files),
        interventions=sum(map(_acted, entries)),
        started=started,
        updated=updated,
        seconds=_seconds(started, updated),
        imported=run.imported,
    )


def _completions(entries: Sequence[Json], files: RunFiles) -> tuple[float, ...]:
    """A held reading repeats the one before it."""
    readings: list[float] = []
    for entry in entries[-COMPLETIONS:]:
        found = analysed(entry, number_of(entry) or 0, files).completion
        readings.append(found / 100 if found is not None else readings[-1] if readings else 0.0)
    return tuple(readings)


def _acted(entry: Json) -> int:
    made = as_list(as_map(entry.get("healthReport")).get("interventions"))
    return sum(as_text(as_map(one).get("level")).lower() in ACTING for one in made)


def _seconds(started: datetime | None, updated: datetime | None) -> float:
    return max(0.0, (updated - started).total_seconds()) if started and updated else 0.0
