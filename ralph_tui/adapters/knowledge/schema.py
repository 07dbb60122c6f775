"""The schema of a knowledge file: the types of its fields, and messages about errors.

Unknown fields and unknown types of learnings are accepted and stay as they are.
"""

from collections.abc import Callable, Mapping
from typing import Any

from ralph_tui.adapters.knowledge.javascript import stringify
from ralph_tui.text.sanitize import shorten

Entry = dict[str, Any]
"""A learning as stored in the file."""
Check = tuple[Callable[[Any], bool], str]

VERSION = "1.0.0"
MAX_COUNT = 10**9
"""The largest count of uses, runs or iterations; JSON itself allows numbers beyond any float."""


def _is_count(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= MAX_COUNT and value == int(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_credits(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(given, list) and all(_is_count(one) for one in given) for given in value.values()
    )


def _is_promotions(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, dict)
        and all(isinstance(one.get(key), str) for key in ("id", "run", "by", "because"))
        and isinstance(one.get("merged"), bool)
        for one in value
    )


_TEXT: Check = (lambda value: isinstance(value, str), "a string")
_NAME: Check = (lambda value: isinstance(value, str) and value != "", "a non-empty string")
_OBJECT: Check = (lambda value: isinstance(value, dict), "an object")
_TRUTH: Check = (lambda value: isinstance(value, bool), "true or false")
_COUNT: Check = (_is_count, "a whole number from 0")
_SHARE: Check = (lambda value: _is_number(value) and 0 <= value <= 1, "a number from 0 to 1")

_REQUIRED: Mapping[str, Check] = {"type": _NAME, "content": _OBJECT, "confidence": _SHARE}
_OPTIONAL: Mapping[str, Check] = {
    "id": _NAME,
    "taskType": _TEXT,
    "sourceLoops": (_is_texts, "a list of strings"),
    "useCount": _COUNT,
    "successRate": _SHARE,
    "uses": _COUNT,
    "successes": _COUNT,
    "createdAt": _TEXT,
    "updatedAt": _TEXT,
    "restedRuns": (_is_texts, "a list of strings"),
    "pinned": _TRUTH,
    "muted": _TRUTH,
    "credits": (_is_credits, "an object of lists of iterations"),
    "promotedFrom": (_is_promotions, "a list of promotions"),
}
_STAGED: Mapping[str, Check] = {"learning": _OBJECT, "status": _NAME}
_STAGED_OPTIONAL: Mapping[str, Check] = {"stagedAt": _TEXT, "run": _TEXT}


def check(document: Any, held: str) -> None:
    """Check a whole file with a list of ``learnings`` or ``staged``.

    Raises a ``ValueError`` that names the first invalid place.
    """
    if not isinstance(document, dict):
        raise ValueError("it is not an object")
    _fields("it", document, {}, {"version": _TEXT, "stats": _OBJECT, "lastUpdated": _TEXT})
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
    _fields(where, entry, {"id": _NAME}, {})
    if held == "staged":
        _fields(where, entry, _STAGED, _STAGED_OPTIONAL)
        where, entry = f"{where}.learning", entry["learning"]
    _fields(where, entry, _REQUIRED, _OPTIONAL)
    if entry.get("successes", 0) > entry.get("uses", 0):
        raise ValueError(f"{where} has more successes than uses")


def _fields(
    where: str, entry: Entry, required: Mapping[str, Check], optional: Mapping[str, Check]
) -> None:
    for name, (fits, what) in required.items():
        if name not in entry:
            raise ValueError(f"{where} has no {name}")
        if not fits(entry[name]):
            raise ValueError(f"{where}.{name} is {_shown(entry[name])}, not {what}")
    for name, (fits, what) in optional.items():
        if name in entry and not fits(entry[name]):
            raise ValueError(f"{where}.{name} is {_shown(entry[name])}, not {what}")


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
