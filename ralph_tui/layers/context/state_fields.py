"""What the fields of a loop's state file may be, and what stands for a value that is none of that.

Standard library only: the hook program runs it too. Pure.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from ralph_tui.layers.context.levels import LEVELS

PROMISE = "COMPLETE"
MAX_ITERATIONS = 50
LARGEST = 10**9
"""A greater count is no count."""


class Rule(NamedTuple):
    """What a field is."""

    what: str
    take: Callable[[Any], Any]
    """The value as it is used; None for one of no use."""
    default: Callable[[], Any]
    instead: str
    """The default, in words."""


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _truth(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _count(least: int) -> Callable[[object], int | None]:
    def take(value: object) -> int | None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        # Neither an infinity nor what is no number is between the two.
        return int(value) if least <= value <= LARGEST else None

    return take


def _texts(value: object) -> list[str] | None:
    return [e for e in value if isinstance(e, str)] if isinstance(value, list) else None


def _items(value: object) -> list[Any] | None:
    """Other programs have items with fields of their own: they are kept as they are."""
    return value if isinstance(value, list) else None


def _percent(value: object) -> int | None:
    taken = _count(0)(value)
    return None if taken is None else min(100, taken)


def _entry(entry: object) -> bool:
    """Whether it is one of `context_history`."""
    if not isinstance(entry, dict):
        return False
    numbers = (_count(0)(entry.get("iteration")), _percent(entry.get("peak_percent")))
    return None not in numbers


def _history(value: object) -> list[dict[str, Any]] | None:
    if not isinstance(value, list):
        return None
    return [
        entry
        | {
            "iteration": _count(0)(entry["iteration"]),
            "peak_percent": _percent(entry["peak_percent"]),
            "checkpoint": entry.get("checkpoint") is True,
        }
        for entry in value
        if _entry(entry)
    ]


def _files(value: object) -> list[dict[str, Any]] | None:
    if not isinstance(value, list):
        return None
    return [e for e in value if isinstance(e, dict) and isinstance(e.get("path"), str)]


def _level(value: object) -> str | None:
    return value if isinstance(value, str) and value in LEVELS else None


CHECKPOINT: dict[str, tuple[Callable[[Any], Any], Callable[[], Any]]] = {
    "active": (_truth, bool),
    "level": (_level, lambda: "L2"),
    "percent_at_checkpoint": (_percent, int),
    "timestamp": (_text, str),
    "handoff_file": (_text, str),
    "resume_summary": (_text, str),
    "files_in_progress": (_files, list),
    "current_todo_item": (_text, str),
    "progress_on_item": (_text, lambda: "unknown"),
}


def _checkpoint(value: object) -> dict[str, Any] | None:
    """Its fields, those of no use replaced: what it says of the rest is worth keeping."""
    if not isinstance(value, dict):
        return None
    if not value:
        return {}
    taken = {name: take(value.get(name)) for name, (take, _) in CHECKPOINT.items()}
    whole_one = {
        name: CHECKPOINT[name][1]() if found is None else found for name, found in taken.items()
    }
    return whole_one | {k: v for k, v in value.items() if k not in whole_one}


FIELDS: dict[str, Rule] = {
    # In the order in which they are written.
    "task_name": Rule("a text", _text, str, "an empty one"),
    "objective": Rule("a text", _text, str, "an empty one"),
    "iteration": Rule("a number from 0 on", _count(0), lambda: 1, "1"),
    "started_at": Rule("a text", _text, str, "an empty one"),
    "status": Rule("a text", _text, lambda: "running", "`running`"),
    "no_change_count": Rule("a number from 0 on", _count(0), int, "0"),
    "last_diff_hash": Rule("a text", _text, str, "an empty one"),
    "error_hashes": Rule("a list", _texts, list, "an empty one"),
    "max_iterations": Rule(
        "a number from 1 on", _count(1), lambda: MAX_ITERATIONS, str(MAX_ITERATIONS)
    ),
    "completion_promise": Rule("a text", _text, lambda: PROMISE, f"`{PROMISE}`"),
    "todo_items": Rule("a list", _items, list, "an empty one"),
    "completed_items": Rule("a list", _items, list, "an empty one"),
    "context_checkpoint": Rule("an object", _checkpoint, dict, "none"),
    "context_history": Rule("a list", _history, list, "an empty one"),
}
