"""What the analysis of an external iteration says: its reading, and whether that can be used.

Standard library only: lists of runs are quick.
"""

import re
from typing import NamedTuple

from ralph_tui.adapters.agents.json_fields import as_map, as_text
from ralph_tui.importers.fields import Json, as_points
from ralph_tui.importers.folder import RunFiles
from ralph_tui.text.foreign_json import parse_json, parse_json_at

LONGEST_ANSWER = 1 << 20
"""Characters of an answer that are looked through for the JSON inside it."""
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL)


class Analysed(NamedTuple):
    """An analysis, and what it reads."""

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
    return Analysed(fields, points, note if points is not None or value is not None else "")


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
