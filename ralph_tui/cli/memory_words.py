"""Format learnings as list rows or as a card; all text in them is sanitized."""

import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ralph_tui.adapters.knowledge.entries import is_known, learning_of, staged_learning
from ralph_tui.adapters.knowledge.ledger import WAITING, Ledger
from ralph_tui.adapters.knowledge.schema import Entry
from ralph_tui.events.memory import Learning
from ralph_tui.events.text import cleaned
from ralph_tui.layers.memory.knowledge import contradict, merged, reporting_runs
from ralph_tui.layers.memory.retrieval import is_withheld
from ralph_tui.text.format import count, day_and_clock, percent
from ralph_tui.text.sanitize import one_line
from ralph_tui.text.terms import MUTED, PINNED, UNPROVEN

WIDEST = 100
NARROWEST = 40
INDENT = " " * 4
_OWN_ROWS = (
    "approach", "pattern", "description", "convention", "consequence", "alternative", "examples",
    "estimatedIterations", "estimatedMinutes", "basedOnSamples", "confidence",
)  # fmt: skip
"""Content fields that the text or another row already shows."""
_LABELS = {"toolSequence": "steps", "source": "found in"}
_WITHHELD = (
    "never: it reads like an instruction, not a learning; reword it, or pin it to send it unchanged"
)


def width() -> int:
    """Return the width of a line: the terminal's, within a readable range."""
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else 80
    return max(NARROWEST, min(WIDEST, columns))


def all_learnings(ledger: Ledger) -> list[Learning]:
    """List all learnings: pinned first, proven before staged, best first; muted ones last."""
    found: dict[str, Learning] = {}
    for entry in ledger.learnings:
        if is_known(entry):
            learning = learning_of(entry)
            found.setdefault(learning.learning_id, learning)
    for entry in ledger.staged:
        if entry["status"] == WAITING and is_known(entry["learning"]):
            learning = staged_learning(entry)
            known = found.get(learning.learning_id)
            if known is None or known.standing == "staged":
                joined = learning if known is None else merged(known, learning)
                found[learning.learning_id] = joined
    return sorted(found.values(), key=_sort_key)


def format_rows(learning: Learning) -> list[str]:
    """Format a learning for a list."""
    columns = width()
    head = f"{learning.learning_id}  "
    text = textwrap.shorten(learning.saying, max(20, columns - len(head)), placeholder=" …")
    facts = _wrap(" · ".join(_facts(learning)), INDENT)
    sentence = "reads like an instruction; never used unless you pin it"
    warning = _wrap(sentence, INDENT) if is_withheld(learning) else []
    return [f"{head}{text}", *facts, *warning]


def contradictions(ledger: Ledger, learning: Learning) -> list[Learning]:
    """List the learnings that contradict this one."""
    return [other for other in all_learnings(ledger) if contradict(learning, other)]


def format_card(
    learning: Learning, entries: list[Entry], others: Iterable[Learning], names: Mapping[str, str]
) -> Iterator[str]:
    """Format all facts about a learning; `others` contradict it, `names` has runs by id."""
    yield learning.learning_id
    yield from _wrap(learning.text, INDENT)
    yield ""
    entry = entries[0]
    shown_rows = {
        "type": f"{learning.type_word}, for {learning.task_type} tasks",
        "standing": f"{learning.proof}{_pin_text(learning)}",
        "confidence": percent(100 * learning.confidence),
        "use": learning.helped,
        "in prompts": _WITHHELD if is_withheld(learning) else "",
        "contradicts": "; ".join(f"{one.learning_id}: {one_line(one.text)}" for one in others),
        "because": _reason(entry),
        "reported by": ", ".join(
            names.get(run, f"a run that is not recorded here ({run})") for run in sources(entries)
        ),
        "created": _format_time(entry.get("createdAt")),
        "changed": _format_time(_last_update(entries)),
    }
    shown_rows |= {
        _plain_name(key): _format_value(value) for key, value in _other_content(learning).items()
    }
    for name, value in shown_rows.items():
        if value:
            yield from _wrap(f"{one_line(name)}: {one_line(value)}", "", INDENT)


def _plain_name(key: str) -> str:
    """Split a camel-case key into words: ``totalIterations`` becomes ``total iterations``."""
    return _LABELS.get(key) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key).lower()


def _format_time(written: Any) -> str:
    """Format a time from a file as local time; return an unreadable one unchanged."""
    try:
        return day_and_clock(datetime.fromisoformat(str(written)), datetime.now(UTC))
    except ValueError:
        return str(written or "")


def as_json(learning: Learning) -> dict[str, Any]:
    """Return a learning as an object for a JSON list."""
    return learning.model_dump(mode="json") | {"withheld": is_withheld(learning)}


def details(learning: Learning, entries: list[Entry], others: Iterable[Learning]) -> dict[str, Any]:
    """Return all facts about a learning as an object for JSON output."""
    entry = entries[0]
    more: dict[str, Any] = cleaned(
        {
            "sources": sources(entries),
            "created": entry.get("createdAt"),
            "updated": _last_update(entries),
            "because": _reason(entry) or None,
        }
    )
    more["contradicts"] = [one.learning_id for one in others]
    return as_json(learning) | {key: value for key, value in more.items() if value is not None}


def _last_update(entries: list[Entry]) -> str | None:
    """Return the last change; each run that reported the learning has its own entry."""
    return max((str(entry["updatedAt"]) for entry in entries if "updatedAt" in entry), default=None)


def sources(entries: list[Entry]) -> list[str]:
    """List the runs that reported the learning."""
    found = dict.fromkeys(run for entry in entries for run in entry.get("sourceLoops", ()))
    return [run for run in found if run]


def unused_learnings(ledger: Ledger) -> Iterator[str]:
    """Report learnings that are never used in prompts: unknown types and duplicate ids."""
    known = [one_line(entry["id"]) for entry in ledger.learnings if is_known(entry)]
    if number := len(ledger.learnings) - len(known):
        verb = "is" if number == 1 else "are"
        yield f"{count(number, 'learning')} of unknown types {verb} kept but never used"
    if number := len(known) - len(set(known)):
        have, verb = ("has", "is") if number == 1 else ("have", "are")
        yield (
            f"{count(number, 'learning')} {have} a duplicate id and {verb} kept but never used; "
            "change it in the file"
        )


def explain_unknown_type(ledger: Ledger, name: str) -> str:
    """Explain why this learning is never used if its type is unknown; otherwise empty."""
    for entry in ledger.learnings:
        if one_line(entry["id"]) == name and not is_known(entry):
            return (
                f"{one_line(name)[:80]!r} has the unknown type {one_line(entry['type'])[:40]!r}, "
                "so it is kept but never used; read or change it in "
                ".aiwg/knowledge/ralph-learnings.json"
            )
    return ""


def wrap_text(text: str) -> list[str]:
    """Wrap a sentence at the width of the terminal."""
    return _wrap(text, "")


def _sort_key(learning: Learning) -> tuple[bool, bool, bool, float, str]:
    quality = learning.confidence * (0.5 + learning.success_rate / 2)
    proven = learning.standing == "proven"
    return learning.muted, not learning.pinned, not proven, -quality, learning.learning_id


def _facts(learning: Learning) -> Iterable[str]:
    if learning.pinned or learning.muted:
        yield (PINNED if learning.pinned else MUTED).word
    yield f"{learning.type_word}, {learning.task_type}"
    if learning.standing == "staged":
        yield UNPROVEN.word
    yield count(reporting_runs(learning), "run")
    yield f"{percent(100 * learning.confidence)} sure"
    yield learning.helped


def _pin_text(learning: Learning) -> str:
    if not (learning.pinned or learning.muted):
        return ""
    return f", {(PINNED if learning.pinned else MUTED).word} by you"


def _reason(entry: Entry) -> str:
    origins = entry.get("promotedFrom", ())
    return str(origins[-1]["because"]).rstrip(".") if origins else ""


def _other_content(learning: Learning) -> dict[str, Any]:
    return {key: value for key, value in learning.content.items() if key not in _OWN_ROWS}


def _format_value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def _wrap(text: str, indent: str, rest: str | None = None) -> list[str]:
    rest = indent if rest is None else rest
    return [
        line
        for part in text.splitlines()
        for line in textwrap.wrap(part, width(), initial_indent=indent, subsequent_indent=rest)
    ]
