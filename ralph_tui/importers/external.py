"""Find and list external runs by their ``session-state.json`` (forms A-D).

A state file has a ``.bak``; if both are unusable, other files can replace them. Its iterations are
in the file's order: a repeated number is the same iteration, and decreasing numbers belong to two
loops. A run whose state a newer run has overwritten leaves only its analytics (form F). The state
of a long run takes a second to read, so its listing is cached.

Standard library only, to keep lists of runs fast.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, NamedTuple

from ralph_tui.adapters.records.listing import COMPLETIONS, RunRow
from ralph_tui.importers.records import (
    OUTCOMES,
    ImportedRun,
    Json,
    RunFiles,
    as_ordinal,
    as_points,
    as_time,
    run_name,
)
from ralph_tui.text.foreign_json import parse_json, parse_json_at
from ralph_tui.text.json_fields import as_list, as_map, as_text

if TYPE_CHECKING:
    from ralph_tui.events.run import Outcome

FOLDER = "ralph-external"
LISTS = ("loops", "archive")
MAX_LISTED = 2_000
"""Maximum number of loops read from one list."""
ACTING = ("redirect", "pause", "abort")
CACHE_SIZE = 512
"""Maximum number of states in the cache."""
Stamp = tuple[tuple[int, int, int], ...]
STATE = "session-state.json"
MAX_ANALYTICS = 500
"""Maximum number of runs whose analytics are read."""
LONGEST_ANSWER = 1 << 20
"""Maximum number of characters searched for JSON in an answer."""
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL)


class Loop(NamedTuple):
    """The iterations of one loop, in the order in which they were recorded."""

    session: str
    """Session id; empty for the loop that the file itself describes."""
    entries: tuple[Json, ...]


@dataclass(frozen=True)
class ExternalState:
    """The state file and its ``.bak``, combined."""

    fields: Json
    """Fields of the main file, or of the ``.bak`` if the main file is unusable."""
    entries: tuple[Json, ...]
    loop_id: str = ""
    """A UUID, or a slug if only a list of loops was saved."""
    objective: str = ""
    status: str = ""
    session: str = ""
    """Session id of the loop that the file describes."""
    pid: int = 0
    max_iterations: int | None = None
    current: int = 0
    """The current iteration when the file was last written; 0 if there was none."""
    started: datetime | None = None
    updated: datetime | None = None

    @property
    def loops(self) -> list[Loop]:
        """The loop that the file describes, then other loops whose iterations it contains."""
        numbers = [
            number for entry in self.entries if (number := iteration_number(entry)) is not None
        ]
        sessions = list(dict.fromkeys(as_text(entry.get("sessionId")) for entry in self.entries))
        if len(sessions) < 2 or all(a <= b for a, b in pairwise(numbers)):
            return [Loop("", self.entries)]
        own = self.session if self.session in sessions else sessions[-1]
        loops = []
        for one in sorted(sessions, key=lambda one: one != own):
            entries = tuple(e for e in self.entries if e.get("sessionId", "") == one)
            loops += [Loop("" if one == own else one, entries)] if entries else []
        return loops


def read_state(files: RunFiles, folder: str = "") -> ExternalState | None:
    """Read the state: the longer list of iterations, and all other fields of the main file.

    The files must be of the same loop. `folder` is relative to the run's folder. Return None if
    neither file can be read.
    """
    name = f"{folder}/{STATE}" if folder else STATE
    main, kept = files.json(name), files.json(f"{name}.bak")
    if not main:
        return None if kept is None else _build_state(kept, _read_entries(kept))
    entries = _read_entries(main)
    if kept is not None and kept.get("loopId") == main.get("loopId"):
        entries = max(entries, _read_entries(kept), key=len)
    return _build_state(main, entries)


def rebuild_state(files: RunFiles) -> ExternalState | None:
    """Rebuild a state that is no longer readable from the files beside it.

    Return None if there never was a state. The iterations are those that were analysed; any other
    that has a prompt has crashed.
    """
    if not files.first(STATE, f"{STATE}.bak"):
        return None
    numbers = files.numbers("analysis", "-analysis.json")
    left = [*numbers, *files.numbers("prompts", "-prompt.md")]
    newest = max(
        find_analytics(files), key=lambda one: as_text(one[1].get("start_time")), default=None
    )
    fields: dict[str, object] = {"currentIteration": max(left, default=0)}
    if newest is not None:
        fields["loopId"], about = newest
        fields["objective"] = about.get("task_description")
        fields["startTime"] = about.get("start_time")
    return _build_state(fields, tuple({"number": number} for number in numbers if number))


def find_analytics(files: RunFiles) -> list[tuple[str, Json]]:
    """Return the id and analytics of each run that has them; analytics are empty if unreadable."""
    found = []
    for name in files.names("analytics")[:MAX_ANALYTICS]:
        if name.endswith(".json"):
            about = files.json(f"analytics/{name}") or {}
            found.append((as_text(about.get("loop_id")) or PurePath(name).stem, about))
    return found


def _build_state(fields: Json, entries: tuple[Json, ...]) -> ExternalState:
    return ExternalState(
        fields,
        entries,
        loop_id=as_text(fields.get("loopId")),
        objective=as_text(fields.get("objective")),
        status=as_text(fields.get("status")),
        session=as_text(fields.get("sessionId")),
        pid=as_ordinal(fields.get("currentPid")) or 0,
        max_iterations=as_ordinal(fields.get("maxIterations")),
        current=as_ordinal(fields.get("currentIteration")) or 0,
        started=as_time(fields.get("startTime")),
        updated=as_time(fields.get("lastUpdate")),
    )


def _read_entries(fields: Json) -> tuple[Json, ...]:
    return tuple(entry for item in as_list(fields.get("iterations")) if (entry := as_map(item)))


def iteration_number(entry: Json) -> int | None:
    """Return the number of a recorded iteration, from 1; None if it has none."""
    return as_ordinal(entry.get("number")) or None


@dataclass
class Numbered:
    """An iteration and its records."""

    number: int
    """Number in the names of its files."""
    shown: int
    """Displayed number, which never decreases."""
    entry: Json | None = None
    """None for an iteration that crashed."""
    again: list[Json] = field(default_factory=list)
    """Further records of the same iteration."""


def number_entries(entries: Sequence[Json]) -> list[Numbered]:
    """Return iterations in the file's order; one without a number follows the previous one.

    The first record of an iteration counts, unless only a later one has a measurement.
    """
    found: dict[int, Numbered] = {}
    last = 0
    for entry in entries:
        number = iteration_number(entry) or last + 1
        known = found.get(number)
        if known is None:
            found[number] = Numbered(number, number, entry)
            last = number
        elif known.entry is not None and _has_reading(entry) and not _has_reading(known.entry):
            known.again.append(known.entry)
            known.entry = entry
        else:
            known.again.append(entry)
    return list(found.values())


def _has_reading(entry: Json) -> bool:
    return as_points(as_map(entry.get("analysis")).get("completionPercentage")) is not None


class Analysis(NamedTuple):
    """The analysis of an iteration, and its measurement."""

    fields: Json
    completion: float | None = None
    """In percent; None if the previous measurement still applies."""
    note: str = ""
    """A remark on the measurement."""
    error: str = ""
    """Why the tool itself failed to analyse the iteration."""


def read_analysis(entry: Json, number: int, files: RunFiles | None) -> Analysis:
    """Return the analysis of an iteration from the state, or else from the file beside it."""
    fields = as_map(entry.get("analysis"))
    if not fields and files is not None:
        fields = files.json(f"analysis/{number:03}-analysis.json") or {}
    note = ""
    if fields.get("type") == "result" and "completionPercentage" not in fields:
        inside = _find_answer(as_text(fields.get("result"))[:LONGEST_ANSWER])
        if inside is None:
            return Analysis(fields, note="the analysis has no percentage")
        fields, note = inside, "read from the JSON in the analysis"
    error = fields.get("error")
    value = fields.get("completionPercentage")
    points = as_points(value)
    if points is None and value is not None:
        note = "completionPercentage is not a number from 0 to 100"
    if error and points is None:
        message = as_text(error) or as_text(as_map(error).get("message"))
        return Analysis(fields, None, note, message or "no reason was recorded")
    return Analysis(fields, points, note if value is not None else "")


def _find_answer(answer: str) -> Json | None:
    """Return the last fenced object with a measurement, or the object in a text without fences."""
    texts = [match[1] for match in _FENCED.finditer(answer)]
    for text in reversed(texts):
        try:
            found = as_map(parse_json(text))
        except ValueError:
            continue
        if "completionPercentage" in found:
            return found
    start = answer.find("{")
    if start < 0 or texts:
        return None
    try:
        found = as_map(parse_json_at(answer, start)[0])
    except ValueError:
        return None
    return found if "completionPercentage" in found else None


class LoopGlance(NamedTuple):
    """A summary of one of a state's loops."""

    session: str
    """Session id; empty for the loop that the state describes."""
    iterations: int
    """Highest iteration number."""
    readings: tuple[float | None, ...]
    """The latest measurements in percent; None if the previous one still applies."""
    interventions: int


class Glance(NamedTuple):
    """The summary of a state, as shown in a list."""

    state: ExternalState
    """Without its iterations."""
    loops: tuple[LoopGlance, ...]
    empty: bool
    """True if no iteration was recorded."""
    whole: bool
    """True if the state was read; False if it was rebuilt from the files beside it."""


def find(base: Path, name: str = FOLDER) -> list[ImportedRun]:
    """Find the runs below an ``.aiwg``, in the folder with this name."""
    files = RunFiles(base / name, base)
    seen = glance(files)
    found = _list_runs(files, seen) if seen is not None else []
    for folder, each in _list_loops(files):
        if not each.empty:
            found += _list_runs(RunFiles(files.folder / folder, base), each)
    known = {run.run_id for run in found}
    for run_id, about in find_analytics(files):
        if run_id not in known:
            known.add(run_id)
            path = files.folder / "analytics" / f"{run_id}.json"
            slug = _entry_slug(analytics_entry(files, about))
            found.append(
                ImportedRun(run_name(run_id, path), "F", path, files.folder, base, run_id, slug)
            )
    return found


def _list_runs(files: RunFiles, seen: Glance) -> list[ImportedRun]:
    form, path = _find_form(files, seen), files.folder / STATE
    slug = _entry_slug(list_entry(files, seen.state.objective, seen.state.started))
    return [
        ImportedRun(
            run_name(own, path), form, path, files.folder, files.base, own, slug, loop.session
        )
        for loop in seen.loops
        for own in [loop.session or seen.state.loop_id]
    ]


def _entry_slug(entry: ExternalState | None) -> str:
    return entry.loop_id if entry is not None else ""


def _find_form(files: RunFiles, seen: Glance) -> str:
    """Determine the form from the files beside the state."""
    if files.names("iterations", folders=True):
        return "B"
    if seen.empty and not files.numbers("prompts", ".md"):
        return "D"
    later = ("outputs/parsed-events.json", "outputs/session-transcript.jsonl")
    if files.first(*later) or files.names("outputs/checkpoints") or files.names("analytics"):
        return "A"
    return "C"


def _list_loops(files: RunFiles) -> Iterator[tuple[str, Glance]]:
    """Yield each loop in the tool's lists: its folder, relative to the run's, and its state."""
    for place in LISTS:
        for name in files.names(place, folders=True)[:MAX_LISTED]:
            folder = f"{place}/{name}"
            if (seen := glance(files, folder)) is not None:
                yield folder, seen


def list_entry(files: RunFiles, objective: str, started: datetime | None) -> ExternalState | None:
    """Return the entry for a run in the tool's lists, preferably in the archive; None if absent.

    An entry belongs to the run if it has no iterations, the same objective, and a start within a
    second of the run's. Its id is a longer name of the run. Only archived entries have a valid end;
    the others have the values from when they were written.
    """
    found: ExternalState | None = None
    for folder, (state, _, empty, _) in _list_loops(files):
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


def find_outcome(status: str, entry: ExternalState | None) -> "Outcome | None":
    """Return the outcome from the run's state, else from its archive entry; None if unrecorded."""
    return OUTCOMES.get(status) or (OUTCOMES.get(entry.status) if entry else None)


def row_of(run: ImportedRun) -> RunRow:
    """Return the run's row for the list of runs, from its state file."""
    files = run.files
    seen = glance(files)
    loop = next((one for one in seen.loops if one.session == run.session), None) if seen else None
    if seen is None or loop is None:
        return RunRow(name=run.name, imported=run.imported, problem=files.explain_missing(STATE))
    state = seen.state
    started, updated = state.started, state.updated
    outcome = find_outcome(state.status, list_entry(files, state.objective, started))
    if run.session:  # the state belongs to a later loop, so this one ended before that began
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
        problem="" if seen.whole else files.explain_missing(STATE),
    )


def glance(files: RunFiles, folder: str = "") -> Glance | None:
    """Return the summary of a state in a folder, relative to the run's; None if unreadable."""
    found, notes = _glance(files.folder, files.base, folder, _file_stamp(files.folder / folder))
    files.notes += [note for note in notes if note not in files.notes]
    return found


@lru_cache(maxsize=CACHE_SIZE)
def _glance(
    root: Path, base: Path, folder: str, _written: Stamp
) -> tuple[Glance | None, tuple[str, ...]]:
    files = RunFiles(root, base)
    read = read_state(files, folder)
    state = rebuild_state(files) if read is None and not folder else read
    if state is None:
        return None, tuple(files.notes)
    beside = RunFiles(root / folder, base)
    loops = tuple(_glance_loop(session, entries, beside) for session, entries in state.loops)
    about = replace(state, fields={}, entries=())
    return Glance(about, loops, not state.entries, read is not None), tuple(files.notes)


def _file_stamp(folder: Path) -> Stamp:
    """Return a stamp of both files that changes when one is written."""
    found = []
    for name in (STATE, f"{STATE}.bak"):
        try:
            about = os.lstat(folder / name)
            found.append((about.st_ino, about.st_mtime_ns, about.st_size))
        except (OSError, ValueError):
            found.append((0, 0, -1))
    return tuple(found)


def _glance_loop(session: str, entries: Sequence[Json], files: RunFiles) -> LoopGlance:
    found = number_entries(entries)
    kept = [one.entry for one in found if one.entry is not None]
    made = [
        as_text(as_map(one).get("level")).lower()
        for entry in kept
        for one in as_list(as_map(entry.get("healthReport")).get("interventions"))
    ]
    return LoopGlance(
        session,
        max((one.number for one in found), default=0),
        tuple(
            read_analysis(e, iteration_number(e) or 0, files).completion
            for e in kept[-COMPLETIONS:]
        ),
        sum(level in ACTING for level in made),
    )


def analytics_entry(files: RunFiles, about: Json) -> ExternalState | None:
    """Return the list entry of an earlier run with these analytics."""
    return list_entry(
        files, as_text(about.get("task_description")), as_time(about.get("start_time"))
    )


def analytics_rows(about: Json) -> Sequence[Json]:
    """Return the iterations in these analytics."""
    return [row for row in map(as_map, as_list(about.get("iterations"))) if row]


def analytics_end(about: Json, entry: ExternalState | None) -> datetime | None:
    """Return the latest recorded time, because ``end_time`` can be that of any iteration."""
    times = [as_time(row.get("timestamp")) for row in analytics_rows(about)]
    last = [as_time(about.get("end_time")), *times, entry.updated if entry else None]
    return max((at for at in last if at is not None), default=None)


def earlier_row_of(run: ImportedRun) -> RunRow:
    """Return the run's row for the list of runs, from its analytics file."""
    files = run.files
    about = files.json(f"analytics/{run.path.name}") or {}
    entry, rows = analytics_entry(files, about), analytics_rows(about)
    return run.row(
        objective=as_text(about.get("task_description")),
        outcome=find_outcome("", entry),
        agent="claude",
        iterations=max(
            [len(rows), *(as_ordinal(row.get("iteration_number")) or 0 for row in rows)]
        ),
        max_iterations=(entry.max_iterations or None) if entry else None,
        readings=[as_points(row.get("quality_score")) for row in rows[-COMPLETIONS:]],
        started=as_time(about.get("start_time")),
        updated=analytics_end(about, entry),
        problem="" if about else files.explain_missing(f"analytics/{run.path.name}"),
    )
