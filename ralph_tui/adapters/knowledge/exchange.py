"""Export and import of knowledge, as a plain file in the same format.

An export has the proven learnings, sanitised, without fields that only this repository needs. An
import adds entries that fit the schema. Known ones change nothing, so the same file may be imported
again; similar ones are merged. The user's pins and mutes are not exchanged.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ralph_tui.adapters.knowledge.entries import is_known, learning_of, runs_of, update_entry
from ralph_tui.adapters.knowledge.files import document_of, load_json, refuse_other_version
from ralph_tui.adapters.knowledge.javascript import stringify
from ralph_tui.adapters.knowledge.ledger import Ledger
from ralph_tui.adapters.knowledge.schema import Entry, check_entry
from ralph_tui.base.errors import KnowledgeError
from ralph_tui.events.memory import Learning
from ralph_tui.events.text import cleaned
from ralph_tui.layers.memory.knowledge import is_same, merged
from ralph_tui.layers.memory.task_types import GENERAL
from ralph_tui.text.sanitize import one_line

PRIVATE_FIELDS = ("pinned", "muted", "credits", "promotedFrom")
"""Fields that have a meaning only in this repository."""


def export_text(learnings: Sequence[Entry], at: datetime | None = None) -> str:
    """Return a file with the proven learnings, in printable characters only."""
    entries = [cleaned(_without_private(entry)) for entry in learnings]
    at = at if at is not None else datetime.now(UTC)
    return stringify(document_of({}, "learnings", entries, at), 2) + "\n"


@dataclass
class ImportResult:
    """The result of an import."""

    fresh: int = 0
    joined: int = 0
    known: int = 0
    """Number of entries that were already known and changed nothing."""
    refused: list[str] = field(default_factory=list)
    """One reason for each entry that does not fit the schema."""


def entries_of(content: bytes, name: str) -> list[Any]:
    """Return the learnings in a foreign file; raise ``KnowledgeError`` if it is not valid."""
    try:
        document = load_json(content)
    except ValueError as error:
        raise KnowledgeError(f"{name} is not a knowledge file: {one_line(str(error))}") from None
    refuse_other_version(document, name)
    found = document.get("learnings") if isinstance(document, dict) else None
    if not isinstance(found, list):
        raise KnowledgeError(f"{name} is not a knowledge file: it has no list of learnings")
    return found


def take(ledger: Ledger, entries: Sequence[Any]) -> ImportResult:
    """Add entries that the ledger does not have yet."""
    taken = ImportResult()
    learnings = list(ledger.learnings)
    places = {entry["id"]: number for number, entry in enumerate(learnings)}
    alike: dict[tuple[str, str], list[tuple[int, Learning]]] = defaultdict(list)
    for number, entry in enumerate(learnings):
        if is_known(entry):
            alike[_kind(entry)].append((number, learning_of(entry)))
    for number, raw in enumerate(entries, start=1):
        try:
            entry = _check_entry(f"learnings[{number}]", raw)
        except ValueError as error:
            taken.refused.append(one_line(str(error)))
            continue
        place = places.get(entry["id"])
        if place is None and is_known(entry):
            place = _find_same(learning_of(entry), alike[_kind(entry)])
        if place is None:
            taken.fresh += 1
            places[entry["id"]] = len(learnings)
            if is_known(entry):
                alike[_kind(entry)].append((len(learnings), learning_of(entry)))
            learnings.append(entry)
        elif runs_of(entry) <= runs_of(learnings[place]) or not is_known(entry):
            taken.known += 1
        else:
            taken.joined += 1
            learnings[place] = _merge(learnings[place], entry, ledger.at)
    if taken.fresh or taken.joined:
        ledger.learnings = learnings
    return taken


def _check_entry(where: str, raw: Any) -> Entry:
    if not isinstance(raw, dict):
        raise ValueError(f"{where} is not an object")
    check_entry(where, raw)
    stringify(raw)
    entry: Entry = cleaned(_without_private(raw))
    if is_known(entry) and not learning_of(entry).text:
        raise ValueError(f"{where} has no text")
    return entry


def _without_private(entry: Entry) -> Entry:
    return {key: value for key, value in entry.items() if key not in PRIVATE_FIELDS}


def _kind(entry: Entry) -> tuple[str, str]:
    return entry["type"], entry.get("taskType") or GENERAL


def _find_same(learning: Learning, known: Sequence[tuple[int, Learning]]) -> int | None:
    return next((number for number, other in known if is_same(other, learning)), None)


def _merge(known: Entry, new: Entry, at: str) -> Entry:
    """Merge two entries; if they have a run in common, only the larger counts are kept."""
    ours, theirs = learning_of(known), learning_of(new)
    if runs_of(known) & runs_of(new):
        more = max(ours, theirs, key=lambda one: one.uses)
        counts = {"uses": more.uses, "successes": more.successes, "success_rate": more.success_rate}
        learning = merged(ours, theirs).model_copy(update=counts)
    else:
        learning = merged(ours, theirs)
    loops = known.get("sourceLoops", [])
    return {
        **update_entry(known, learning, at),
        "sourceLoops": [*loops, *sorted(runs_of(new) - set(loops))],
        "useCount": known.get("useCount", 0) + 1,
    }
