"""Describes an invalid setting in a sentence: its place, what it must be, and a suggestion."""

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Any

from ralph_tui.config.settings import NAMES
from ralph_tui.text.sanitize import clip

_WORDING = (
    (r"^(Value error, |Assertion failed, )", ""),
    (r"^(Input|String) should ", "must "),
    (r"must be a valid integer.*", "must be a whole number"),
    (r"must be a valid number.*", "must be a number"),
    (r"must be a valid string.*", "must be text"),
    (r"must be a valid boolean.*", "must be true or false"),
    (r"must be a valid tuple.*", "must be a list of strings"),
    (r"must be a valid dictionary.*", "must be a table"),
    (r"must be greater than or equal to", "must be at least"),
    (r"must be less than or equal to", "must be at most"),
    (r"must be greater than", "must be above"),
)
_UNSHOWN = {
    "outreach.repository": "must be owner/name",
    "outreach.token_variable": "must be the name of an environment variable in capitals that ends "
    "in TOKEN, KEY or SECRET, not the token itself",
}
"""Replaces sentences that would quote a regular expression."""


_LINE = re.compile(r"(?:^|\()(/[^\n]*?):(\d+)(?=[ :)])")
"""Matches the path and line number in a sentence."""


def in_order(sentences: Sequence[str]) -> list[str]:
    """Sort sentences by file, in the order of first mention, and by line.

    Sentences without a line come last.
    """
    places = [_LINE.search(each) for each in sentences]
    files = list(dict.fromkeys(place[1] for place in places if place))

    def place(index: int) -> tuple[int, int]:
        found = places[index]
        return (files.index(found[1]), int(found[2])) if found else (len(files), 0)

    return [sentences[index] for index in sorted(range(len(sentences)), key=place)]


def name_of(problem: Any) -> str:
    """Return the dotted name that pydantic rejects; for an item of a list, the list's name."""
    return ".".join(str(part) for part in problem["loc"] if not isinstance(part, int))


def sentence(problem: Any, place: str) -> str:
    """Describe one of pydantic's ``errors()``."""
    name = name_of(problem)
    if problem["type"] == "extra_forbidden":
        return unknown(name, place)
    what = problem["msg"]
    for pattern, words in _WORDING:
        what = re.sub(pattern, words, what)
    if name.startswith(
        "outreach."
    ):  # it may be a web address or a token in the wrong place, so do not show it
        return f"{name} ({place}) {_UNSHOWN.get(name, what)}"
    choice = _choice(problem)
    meant = f": did you mean {choice!r}?" if choice else ""
    return f"{name} ({place}) {what}, not {clip(repr(problem['input']), 80)}{meant}"


def unknown(name: str, place: str) -> str:
    """Describe a name that is not a setting."""
    section = name.partition(".")[0]
    inside = [known for known in NAMES if known.startswith(f"{section}.")]
    sections = dict.fromkeys(known.partition(".")[0] for known in NAMES)
    if name == section and inside:
        guess = None
    else:
        guess = _nearest(name, section, inside, (*sections, *_bare(name)))
    hint = f"did you mean {guess}?" if guess else f"choose from {', '.join(inside or sections)}"
    return f"{clip(name, 80)!r} ({place}) is not a setting: {hint}"


def _nearest(name: str, section: str, inside: Sequence[str], bare: Sequence[str]) -> str | None:
    """Return the setting that was probably meant; in a known section only keys are compared."""
    if not inside:
        return closest(name, NAMES if "." in name else bare)
    word = closest(name.partition(".")[2], [known.partition(".")[2] for known in inside])
    return None if word is None else f"{section}.{word}"


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word closest to a mistyped one; None if nothing is close."""
    return next(iter(difflib.get_close_matches(clip(word, 80), known, n=1)), None)


def _bare(key: str) -> list[str]:
    """Return the settings with this key, in case it was written outside its section."""
    return [name for name in NAMES if name.rpartition(".")[2] == key]


def _choice(problem: Any) -> str | None:
    if problem["type"] != "literal_error" or not isinstance(problem["input"], str):
        return None
    return closest(problem["input"], re.findall(r"'([^']*)'", problem["ctx"]["expected"]))
