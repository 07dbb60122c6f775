"""Learnings as entries in the file, and as `Learning` in a run.

An entry is never changed in place: a new one replaces it and keeps the fields that are not ours.
"""

from collections.abc import Mapping
from typing import Any, get_args

from ralph_tui.adapters.knowledge.schema import Entry
from ralph_tui.events.memory import Learning, LearningType, Standing
from ralph_tui.layers.memory.content import text_of, with_text
from ralph_tui.layers.memory.knowledge import START
from ralph_tui.layers.memory.task_types import GENERAL
from ralph_tui.text.sanitize import one_line

KINDS = frozenset(get_args(LearningType))
_DIGITS = 6
"""Decimal places of fractions in the file, limited to keep it readable."""


def is_known(entry: Entry) -> bool:
    """True if the entry's type is one of ours. Others are kept but never looked up."""
    return entry["type"] in KINDS


def learning_of(entry: Entry, standing: Standing = "proven", name: str | None = None) -> Learning:
    """Return a sanitised learning; the entry must fit the schema and satisfy `is_known`."""
    uses = int(entry.get("uses", 0))
    return Learning(
        learning_id=name if name is not None else entry.get("id", ""),
        type=entry["type"],
        task_type=entry.get("taskType") or GENERAL,
        text=text_of(entry["type"], entry["content"]),
        content=entry["content"],
        confidence=entry["confidence"],
        success_rate=entry.get("successRate", START),
        uses=uses,
        successes=min(uses, int(entry.get("successes", 0))),
        runs=len(runs_of(entry)),
        standing=standing,
        pinned=entry.get("pinned", False),
        muted=entry.get("muted", False),
        rested=len(entry.get("restedRuns", ())),
    )


def staged_learning(staged: Entry) -> Learning:
    """Return an entry from the staging file as a learning."""
    learning = learning_of(staged["learning"], "staged", staged["id"])
    return learning.model_copy(update={"runs": 1})


def entry_of(learning: Learning, runs: list[str], at: str) -> Entry:
    """Build a new entry; `at` is the current time in the file's format."""
    content: Mapping[str, Any] = learning.content
    if not text_of(learning.type, content):
        content = with_text(learning.type, content, learning.text)
    entry: Entry = {
        "id": learning.learning_id,
        "type": learning.type,
        "taskType": learning.task_type,
        "content": dict(content),
        "confidence": 0,
        "sourceLoops": runs,
        "useCount": 0,
        "successRate": 0,
        "uses": 0,
        "successes": 0,
        "createdAt": at,
        "updatedAt": at,
    }
    return _numbers(entry, learning) | _user_marks(pinned=learning.pinned, muted=learning.muted)


def update_entry(entry: Entry, learning: Learning, at: str) -> Entry:
    """Return the entry, updated from the `learning` that was made from it; pins and mutes stay."""
    changed = _numbers(entry, learning) | {"updatedAt": at}
    if not learning.rested:
        changed.pop("restedRuns", None)
    before = learning_of(entry).content
    fields = {key: value for key, value in learning.content.items() if before.get(key) != value}
    return {**changed, "content": {**entry["content"], **fields}} if fields else changed


def with_change(entry: Entry, change: str, text: str, at: str) -> Entry:
    """Return the entry after a change by the user; ``delete`` is handled elsewhere."""
    if change == "edit":
        content = with_text(entry["type"], entry["content"], text)
        return {**entry, "content": content, "updatedAt": at}
    pinned, muted = entry.get("pinned", False), entry.get("muted", False)
    pinned = change == "pin" or (pinned and change not in ("unpin", "mute"))
    muted = change == "mute" or (muted and change not in ("unmute", "pin"))
    kept = {key: value for key, value in entry.items() if key not in ("pinned", "muted")}
    return {**kept, "updatedAt": at, **_user_marks(pinned=pinned, muted=muted)}


def usefulness(entry: Entry) -> float:
    """Return how useful a learning is, judging by its entry's numbers alone."""
    return float(entry["confidence"] * (0.5 + entry.get("successRate", START) / 2))


def runs_of(entry: Entry) -> frozenset[str]:
    """Return the runs that reported the learning."""
    return frozenset(entry.get("sourceLoops", ()))


def has_id(entry: Entry, learning_id: str) -> bool:
    """True if the entry has this id, or if this is the sanitised form of its id."""
    return entry["id"] == learning_id or one_line(entry["id"]) == learning_id


def _numbers(entry: Entry, learning: Learning) -> Entry:
    return {
        **entry,
        "confidence": round(learning.confidence, _DIGITS),
        "successRate": round(learning.success_rate, _DIGITS),
        "uses": learning.uses,
        "successes": learning.successes,
    }


def _user_marks(*, pinned: bool, muted: bool) -> Entry:
    return {**({"pinned": True} if pinned else {}), **({"muted": True} if muted else {})}
