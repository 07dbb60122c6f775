"""Earlier external runs (form F): of what a newer run has written over, their analytics are left.

Standard library only: lists of runs are quick.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from ralph_tui.adapters.agents.json_fields import as_list, as_map, as_text
from ralph_tui.adapters.records.listing import COMPLETIONS, OBJECTIVE, RunRow
from ralph_tui.importers import external
from ralph_tui.importers.fields import Json, as_ordinal, as_points, as_when
from ralph_tui.importers.folder import RunFiles
from ralph_tui.importers.imported_run import ImportedRun, named
from ralph_tui.importers.salvage import analytics_of
from ralph_tui.importers.stubs import Stub, stub_of
from ralph_tui.text.sanitize import clip, one_line


def find(base: Path, name: str = external.FOLDER) -> Iterator[ImportedRun]:
    """Runs with analytics that no state is about."""
    files = RunFiles(base / name, base)
    known = {run.run_id for run in external.find(base, name)}
    for run_id, about in analytics_of(files):
        if run_id not in known:
            known.add(run_id)
            path = files.folder / "analytics" / f"{run_id}.json"
            stub = stub_of(files, as_text(about.get("task_description")), began(about))
            slug = stub.slug if stub else ""
            yield ImportedRun(named(run_id, path), "F", path, files.folder, base, run_id, slug)


def row_of(run: ImportedRun) -> RunRow:
    """What its analytics say."""
    files = RunFiles(run.folder, run.base)
    about, stub = analytics(run, files)
    iterations, started = rows_of(about), began(about)
    updated = ended(about, stub)
    readings: list[float] = []
    for row in iterations[-COMPLETIONS:]:
        points = as_points(row.get("quality_score"))
        readings.append(points / 100 if points is not None else readings[-1] if readings else 0.0)
    numbers = [as_ordinal(row.get("iteration_number")) or 0 for row in iterations]
    return RunRow(
        name=run.name,
        objective=clip(one_line(as_text(about.get("task_description"))), OBJECTIVE),
        status=external.outcome_of("", stub) or "died",
        agent="claude",
        iterations=max([len(iterations), *numbers]),
        max_iterations=(stub.max_iterations or None) if stub else None,
        completions=tuple(readings),
        started=started,
        updated=updated,
        seconds=max(0.0, (updated - started).total_seconds()) if started and updated else 0.0,
        imported=run.imported,
        problem="" if about else files.why_not(f"analytics/{run.path.name}"),
    )


def analytics(run: ImportedRun, files: RunFiles) -> tuple[Json, Stub | None]:
    """Of a run, and the entry of a list that belongs to it."""
    about = files.json(f"analytics/{run.path.name}") or {}
    return about, stub_of(files, as_text(about.get("task_description")), began(about))


def rows_of(about: Json) -> Sequence[Json]:
    """Its iterations."""
    return [row for row in map(as_map, as_list(about.get("iterations"))) if row]


def began(about: Json) -> datetime | None:
    """When the run did."""
    return as_when(about.get("start_time"))


def ended(about: Json, stub: Stub | None) -> datetime | None:
    """When something was recorded last: its end_time is that of some iteration."""
    times = [as_when(row.get("timestamp")) for row in rows_of(about)]
    last = [as_when(about.get("end_time")), *times, stub.updated if stub else None]
    return max((at for at in last if at is not None), default=None)
