"""The schema of a knowledge file: the types of its fields, and messages about errors.

Unknown fields and unknown types of learnings are accepted and stay as they are.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ralph_tui.adapters.knowledge.javascript import stringify
from ralph_tui.text.sanitize import shorten

Entry = dict[str, Any]
"""A learning as stored in the file."""
VERSION = "1.0.0"
MAX_COUNT = 10**9
"""The largest count of uses, runs or iterations; JSON itself allows numbers beyond any float."""


class _Check(NamedTuple):
    """What a field's value must be."""

    types: tuple[type, ...]
    what: str
    test: Callable[[Any], bool] | None = None


def _is_whole(value: float) -> bool:
    return 0 <= value <= MAX_COUNT and value == int(value)


_TEXT = _Check((str,), "a string")
_NAME = _Check((str,), "a non-empty string", bool)
_OBJECT = _Check((dict,), "an object")
_TRUTH = _Check((bool,), "true or false")
_COUNT = _Check((int, float), "a whole number from 0", _is_whole)
_SHARE = _Check((int, float), "a number from 0 to 1", lambda value: 0 <= value <= 1)
_TEXTS = _Check((list,), "a list of strings", lambda value: all(type(one) is str for one in value))
_CREDITS = _Check(
    (dict,), "an object of lists of iterations", lambda value: all(map(_is_counts, value.values()))
)
_PROMOTIONS = _Check((list,), "a list of promotions", lambda value: all(map(_is_promotion, value)))


def _is_counts(value: Any) -> bool:
    return type(value) is list and all(
        type(one) in (int, float) and _is_whole(one) for one in value
    )


def _is_promotion(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and all(isinstance(value.get(key), str) for key in ("id", "run", "by", "because"))
        and isinstance(value.get("merged"), bool)
    )


_REQUIRED = ("type", "content", "confidence")
_LEARNING: Mapping[str, _Check] = {
    "id": _NAME,
    "type": _NAME,
    "content": _OBJECT,
    "confidence": _SHARE,
    "taskType": _TEXT,
    "sourceLoops": _TEXTS,
    "useCount": _COUNT,
    "successRate": _SHARE,
    "uses": _COUNT,
    "successes": _COUNT,
    "createdAt": _TEXT,
    "updatedAt": _TEXT,
    "restedRuns": _TEXTS,
    "pinned": _TRUTH,
    "muted": _TRUTH,
    "credits": _CREDITS,
    "promotedFrom": _PROMOTIONS,
}
_STAGED: Mapping[str, _Check] = {
    "id": _NAME,
    "learning": _OBJECT,
    "status": _NAME,
    "stagedAt": _TEXT,
    "run": _TEXT,
}
_DOCUMENT: Mapping[str, _Check] = {"version": _TEXT, "stats": _OBJECT, "lastUpdated": _TEXT}


def check(document: Any, held: str) -> None:
    """Check a whole file with a list of ``learnings`` or ``staged``.

    Raises a ``ValueError`` that names the first invalid place.
    """
    if not isinstance(document, dict):
        raise ValueError("it is not an object")
    _check_fields("it", document, (), _DOCUMENT)
    found = document.get(held)
    if not isinstance(found, list):
        raise ValueError(f"it has no list of {held}")
    for number, entry in enumerate(found, start=1):
        if not isinstance(entry, dict):
            raise ValueError(f"{held}[{number}] is {_shown(entry)}, not an object")
        check_entry(f"{held}[{number}]", entry, held)
    stringify({key: value for key, value in document.items() if key != held})


def check_entry(where: str, entry: Entry, held: str = "learnings") -> None:
    """Check one entry; raise a ``ValueError`` whose text begins with `where`."""
    if held == "staged":
        _check_fields(where, entry, ("id", "learning", "status"), _STAGED)
        where, entry = f"{where}.learning", entry["learning"]
        _check_fields(where, entry, _REQUIRED, _LEARNING)
    else:
        _check_fields(where, entry, ("id", *_REQUIRED), _LEARNING)
    if entry.get("successes", 0) > entry.get("uses", 0):
        raise ValueError(f"{where} has more successes than uses")


def _check_fields(
    where: str, entry: Entry, required: Sequence[str], checks: Mapping[str, _Check]
) -> None:
    for name in required:
        if name not in entry:
            raise ValueError(f"{where} has no {name}")
    for name, value in entry.items():
        if name in checks:
            types, what, test = checks[name]
            if type(value) not in types or (test is not None and not test(value)):
                raise ValueError(f"{where}.{name} is {_shown(value)}, not {what}")


def _shown(value: Any) -> str:
    match value:
        case dict():
            return "an object"
        case list():
            return "a list"
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f"'{shorten(value, 40)}'"
        case _:
            return shorten(str(value), 40)
