"""External runs (forms A-D): found by their ``session-state.json``, listed by what it says.

Standard library only: lists of runs are quick.
"""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui.adapters.records.listing import OBJECTIVE, RunRow
from ralph_tui.importers.folder import RunFiles
from ralph_tui.importers.glance import Glance, glance
from ralph_tui.importers.imported_run import ImportedRun, named
from ralph_tui.importers.salvage import salvaged
from ralph_tui.importers.state_file import STATE, ExternalState, Loop, read_state
from ralph_tui.importers.stubs import Stub, listed, stub_of
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


def find(base: Path, name: str = FOLDER) -> Iterator[ImportedRun]:
    """The runs of the states that lie below an ``.aiwg``, in the folder of this name."""
    files = RunFiles(base / name, base)
    state = glance(files)
    if state is not None:
        yield from _runs(files, state)
    for folder, each in listed(files):
        if not each.empty:
            yield from _runs(RunFiles(files.folder / folder, base), each)


def _runs(files: RunFiles, state: Glance) -> Iterator[ImportedRun]:
    form, path = _form_of(files, state), files.folder / STATE
    stub = stub_of(files, state.objective, state.started)
    slug = stub.slug if stub else ""
    for loop in state.loops:
        own = loop.session or state.loop_id
        name = named(own, path)
        yield ImportedRun(name, form, path, files.folder, files.base, own, slug, loop.session)


def outcome_of(status: str, stub: Stub | None) -> "Outcome | None":
    """How it ended by its state, else by its entry in the archive; None: no end was recorded."""
    return ENDS.get(status) or (ENDS.get(stub.status) if stub else None)


def _form_of(files: RunFiles, state: Glance) -> str:
    """Which files there are beside the state."""
    if files.names("iterations", folders=True):
        return "B"
    if state.empty and not files.numbers("prompts", ".md"):
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
    state = glance(files)
    loop = next((one for one in state.loops if one.session == run.session), None) if state else None
    if state is None or loop is None:
        return RunRow(name=run.name, imported=run.imported, problem=files.why_not(STATE))
    stub = stub_of(files, state.objective, state.started)
    started, updated = state.started, state.updated
    if run.session:  # the state tells of a later loop: this one was over when that began
        started, updated = None, started
    lasted = updated - started if updated and started else timedelta(0)
    return RunRow(
        name=run.name,
        objective=clip(one_line(state.objective), OBJECTIVE),
        status=("" if run.session else outcome_of(state.status, stub)) or "died",
        agent="claude",
        iterations=max(0 if run.session else state.current, loop.iterations),
        max_iterations=state.max_iterations,
        completions=loop.completions,
        interventions=loop.interventions,
        started=started,
        updated=updated,
        seconds=max(0.0, lasted.total_seconds()),
        imported=run.imported,
        problem="" if state.whole else files.why_not(STATE),
    )
