"""External runs (forms A-D): found by their ``session-state.json``, listed by what it says.

Standard library only: lists of runs are quick.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui.adapters.agents.json_fields import as_list, as_map, as_text
from ralph_tui.adapters.importers.fields import Json, as_ordinal, as_points, as_when
from ralph_tui.adapters.importers.folder import RunFiles
from ralph_tui.adapters.importers.imported_run import ImportedRun, named
from ralph_tui.adapters.importers.state_file import (
    STATE,
    ExternalState,
    Loop,
    number_of,
    read_state,
)
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
    """The run of the state that lies below an ``.aiwg``, in the folder of this name."""
    files = RunFiles(base / name, base)
    state = read_state(files)
    if state is None:
        return
    form = form_of(files, state)
    for loop in state.loops:
        own = state.loop_id if not loop.session else loop.session
        path = files.folder / STATE
        yield ImportedRun(
            named(own, path), form, path, files.folder, base, own, session=loop.session
        )


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


def loop_of(state: ExternalState, run: ImportedRun) -> Loop:
    """The loop in a state that a run is; an empty one where it is there no more."""
    found = (loop for loop in state.loops if loop.session == run.session)
    return next(found, Loop(run.session, ()))


def row_of(run: ImportedRun) -> RunRow:
    """What its state says."""
    state = read_state(RunFiles(run.folder, run.base)) or ExternalState({}, ())
    fields, entries = state.fields, loop_of(state, run).entries
    started, updated = as_when(fields.get("startTime")), as_when(fields.get("lastUpdate"))
    numbers = [number for entry in entries if (number := number_of(entry)) is not None]
    status = as_text(fields.get("status"))
    return RunRow(
        name=run.name,
        objective=clip(one_line(as_text(fields.get("objective"))), OBJECTIVE),
        status=ENDS.get(status, "died"),
        agent="claude",
        iterations=max([0 if run.session else state.current, *numbers]),
        max_iterations=as_ordinal(fields.get("maxIterations")),
        completions=_completions(entries),
        interventions=sum(map(_acted, entries)),
        started=started,
        updated=updated,
        seconds=_seconds(started, updated),
        imported=run.imported,
    )


def completion_of(entry: Json) -> float | None:
    """Points that an iteration's analysis says; None: it says none."""
    return as_points(as_map(entry.get("analysis")).get("completionPercentage"))


def _completions(entries: Sequence[Json]) -> tuple[float, ...]:
    """A held reading repeats the one before it."""
    readings: list[float] = []
    for entry in entries[-COMPLETIONS:]:
        found = completion_of(entry)
        readings.append(found / 100 if found is not None else readings[-1] if readings else 0.0)
    return tuple(readings)


def _acted(entry: Json) -> int:
    made = as_list(as_map(entry.get("healthReport")).get("interventions"))
    return sum(as_text(as_map(one).get("level")).lower() in ACTING for one in made)


def _seconds(started: datetime | None, updated: datetime | None) -> float:
    return max(0.0, (updated - started).total_seconds()) if started and updated else 0.0
