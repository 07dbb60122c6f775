"""The state of an external run: ``session-state.json`` and its ``.bak``, and what stands for both.

Its iterations come in the order of the file: a number that comes twice is one iteration, and
numbers that go back are those of two loops. Standard library only: lists of runs are quick.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import PurePath
from typing import NamedTuple

from ralph_tui.importers.records import Json, RunFiles, as_ordinal, as_points, as_when
from ralph_tui.text.foreign_json import parse_json, parse_json_at
from ralph_tui.text.json_fields import as_list, as_map, as_text

STATE = "session-state.json"
MOST_ANALYTICS = 500
"""Runs of which analytics are looked at."""
LONGEST_ANSWER = 1 << 20
"""Characters of an answer that are looked through for the JSON inside it."""
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL)


class Loop(NamedTuple):
    """The iterations of one loop, in the order in which they were recorded."""

    session: str
    """Its id; empty for the loop that the file itself is about."""
    entries: tuple[Json, ...]


@dataclass(frozen=True)
class ExternalState:
    """Both files as one."""

    fields: Json
    """Of the main file, or of the other one where that is of no use."""
    entries: tuple[Json, ...]
    loop_id: str = ""
    """A uuid; a slug where nothing but a list of loops was kept."""
    objective: str = ""
    status: str = ""
    session: str = ""
    """Of the loop that the file is about."""
    pid: int = 0
    max_iterations: int | None = None
    current: int = 0
    """The iteration it was in when it was written last; 0 for none."""
    started: datetime | None = None
    updated: datetime | None = None

    @property
    def loops(self) -> list[Loop]:
        """The one that the file is about first, then others whose iterations stand mixed in."""
        numbers = [number for entry in self.entries if (number := number_of(entry)) is not None]
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
    """Of the same loop the longer list of iterations counts, and all else of the main file.

    `folder`: where they lie, relative to the run's. None where neither can be read.
    """
    name = f"{folder}/{STATE}" if folder else STATE
    main, kept = files.json(name), files.json(f"{name}.bak")
    if not main:
        return None if kept is None else _state(kept, _entries(kept))
    entries = _entries(main)
    if kept is not None and kept.get("loopId") == main.get("loopId"):
        entries = max(entries, _entries(kept), key=len)
    return _state(main, entries)


def salvaged(files: RunFiles) -> ExternalState | None:
    """What stands for a state that can be read no more: the files beside it.

    None where there never was a state, or nothing lies beside it. Its iterations are those that
    were analysed; what else has a prompt has crashed.
    """
    if not files.first(STATE, f"{STATE}.bak"):
        return None
    numbers = files.numbers("analysis", "-analysis.json")
    left = [*numbers, *files.numbers("prompts", "-prompt.md")]
    newest = max(
        analytics_of(files), key=lambda one: as_text(one[1].get("start_time")), default=None
    )
    fields: dict[str, object] = {"currentIteration": max(left, default=0)}
    if newest is not None:
        fields["loopId"], about = newest
        fields["objective"] = about.get("task_description")
        fields["startTime"] = about.get("start_time")
    return _state(fields, tuple({"number": number} for number in numbers if number))


def analytics_of(files: RunFiles) -> list[tuple[str, Json]]:
    """The id of each run that has analytics, and these; empty ones where they cannot be read."""
    found = []
    for name in files.names("analytics")[:MOST_ANALYTICS]:
        if name.endswith(".json"):
            about = files.json(f"analytics/{name}") or {}
            found.append((as_text(about.get("loop_id")) or PurePath(name).stem, about))
    return found


def _state(fields: Json, entries: tuple[Json, ...]) -> ExternalState:
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
        started=as_when(fields.get("startTime")),
        updated=as_when(fields.get("lastUpdate")),
    )


def _entries(fields: Json) -> tuple[Json, ...]:
    return tuple(entry for item in as_list(fields.get("iterations")) if (entry := as_map(item)))


def number_of(entry: Json) -> int | None:
    """The number of a recorded iteration, from 1."""
    return as_ordinal(entry.get("number")) or None


@dataclass
class Numbered:
    """An iteration, and what was recorded of it."""

    number: int
    """By which its files are found."""
    shown: int
    """By which it is told: it never goes back."""
    entry: Json | None = None
    """None for one that crashed."""
    again: list[Json] = field(default_factory=list)
    """What was recorded of it another time."""


def recorded(entries: Sequence[Json]) -> list[Numbered]:
    """In the order of the file; one without a number follows the one before it.

    What was recorded of one first counts, unless only what was recorded later has a reading.
    """
    found: dict[int, Numbered] = {}
    last = 0
    for entry in entries:
        number = number_of(entry) or last + 1
        known = found.get(number)
        if known is None:
            found[number] = Numbered(number, number, entry)
            last = number
        elif known.entry is not None and _reads(entry) and not _reads(known.entry):
            known.again.append(known.entry)
            known.entry = entry
        else:
            known.again.append(entry)
    return list(found.values())


def _reads(entry: Json) -> bool:
    return as_points(as_map(entry.get("analysis")).get("completionPercentage")) is not None


class Analysed(NamedTuple):
    """An analysis of an iteration, and what it reads."""

    fields: Json
    completion: float | None = None
    """Points; None: the reading before it stands."""
    note: str = ""
    """What is to be said of the reading."""
    error: str = ""
    """Why the tool itself could not analyse."""


def analysed(entry: Json, number: int, files: RunFiles | None) -> Analysed:
    """Of an iteration as the state tells it, else of the file beside it, where there are any."""
    fields = as_map(entry.get("analysis"))
    if not fields and files is not None:
        fields = files.json(f"analysis/{number:03}-analysis.json") or {}
    note = ""
    if fields.get("type") == "result" and "completionPercentage" not in fields:
        inside = _inside(as_text(fields.get("result"))[:LONGEST_ANSWER])
        if inside is None:
            return Analysed(fields, note="the analysis is an answer without a reading in it")
        fields, note = inside, "read from the JSON inside the analysis's answer"
    error = fields.get("error")
    value = fields.get("completionPercentage")
    points = as_points(value)
    if points is None and value is not None:
        note = "completionPercentage is no number from 0 to 100"
    if error and points is None:
        said = as_text(error) or as_text(as_map(error).get("message"))
        return Analysed(fields, None, note, said or "no reason was recorded")
    return Analysed(fields, points, note if value is not None else "")


def _inside(answer: str) -> Json | None:
    """The last fenced object that has a reading, else the one that stands in the text."""
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
